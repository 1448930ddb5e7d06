"""Workbooks as Excel stores them, and what Calc made of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import xlsxwriter
from openpyxl.utils.datetime import to_excel

from addin.calc.extension import Extension
from addin.calc.soffice import convert


def write_book(path: Path, sheets: Mapping[str, Mapping[str, Any]]) -> Path:
    """Write a book; a formula is stored as Excel stores it, as an array over its area (`"A1"` or `"A1:B9"`)."""
    with xlsxwriter.Workbook(path) as book:
        for name, cells in sheets.items():
            sheet = book.add_worksheet(name)
            for place, value in cells.items():
                if isinstance(value, str) and value.startswith("="):
                    sheet.write_dynamic_array_formula(place, re.sub(r"\bDS\.", "_xldudf_DS_", value), None, 0)
                else:
                    sheet.write(place, value)
    return path


def calculated(
    folder: Path, sheets: Mapping[str, Mapping[str, Any]], url: str, *, fit_tables: bool = False
) -> dict[str, list[list[Any]]]:
    """What Calc shows in each sheet: rows of values, dates as serials."""
    book = write_book(folder / "book.xlsx", sheets)
    made = convert(book, to="xlsx", into=folder / "made", extension=Extension(url=url), fit_tables=fit_tables)
    with made.open("rb") as stream:
        shown = openpyxl.load_workbook(stream, data_only=True)
        return {sheet.title: [[_plain(v) for v in row] for row in sheet.iter_rows(values_only=True)] for sheet in shown}


def column(folder: Path, formulas: Sequence[str], url: str) -> list[str]:
    """What Calc shows for formulas one below the other, as a csv has it."""
    book = write_book(folder / "column.xlsx", {"S": {f"A{i}": formula for i, formula in enumerate(formulas, 1)}})
    made = convert(book, to="csv", into=folder / "made", extension=Extension(url=url))
    with made.open(encoding="utf-8", newline="") as stream:
        return [row[0] if row else "" for row in csv.reader(stream)][: len(formulas)]


def _plain(value: Any) -> Any:
    return to_excel(value) if isinstance(value, datetime) else value
