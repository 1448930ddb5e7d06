"""A workbook that arrived as bytes, as a file for whoever reads files; and one to begin with."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from addin.errors import AddinError
from addin.workbook.ooxml.errors import WorkbookError

BLANK_NAME = "sheet.xlsx"

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLSM = "application/vnd.ms-excel.sheet.macroEnabled.12"


def has_macros(name: str) -> bool:
    """Return whether a file of this name may hold macros."""
    return name.lower().endswith(".xlsm")


@contextmanager
def book_file(content: bytes, name: str) -> Iterator[Path]:
    """A file with these bytes, for as long as the block runs; errors that name it say the user's `name` for it."""
    with TemporaryDirectory(prefix="addin-sheet-") as folder:
        path = Path(folder) / f"book{'.xlsm' if has_macros(name) else '.xlsx'}"
        path.write_bytes(content)
        try:
            yield path
        except AddinError as error:
            if str(path) not in str(error):  # such as a calculation that took too long, which its caller knows
                raise
            raise WorkbookError(str(error).replace(str(path), name)) from None


_DEFAULT_WIDTH = 12
"""Digits: a date, as our functions show it, is seen whole."""


@cache
def blank_book() -> bytes:
    """The bytes of a workbook with one empty sheet."""
    import openpyxl  # only an empty sheet needs all of it

    book = openpyxl.Workbook()
    for sheet in book.worksheets:
        sheet.title = "Sheet1"
        sheet.sheet_format.defaultColWidth = _DEFAULT_WIDTH
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()
