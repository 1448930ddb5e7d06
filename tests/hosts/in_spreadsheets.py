"""The calls in spreadsheets: Excel's page, Calc, and a book that is refreshed without a program."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from addin.calc.extension import Extension
from addin.calc.soffice import convert
from addin.workbook.refresh.refresh import refresh_book
from dataservice.client import AsyncClient
from tests.addin.excel.parts.chromium import Chromium
from tests.addin.excel.parts.scripted_backend import HOST
from tests.embedded import EmbeddedService
from tests.hosts.books import ERROR_FORMULAS, shown_in, write_book
from tests.hosts.calls import Case, Error
from tests.hosts.shown import Failure, Shown, Time, Value, of_rows
from udfs import Session
from udfs.cells import serial

NEWEST_OFFICE = "globalThis.Office = { context: { requirements: { isSetSupported: () => true } } };"
ERROR_TYPES = {"NotAvailable": "#N/A", "Value": "#VALUE!"}


def in_excel(cases: Sequence[Case], chromium: Chromium, url: str) -> list[Shown]:
    """What Excel is told by the page with our functions, before the backend at `url`."""
    with chromium.page(f"{url}/help") as tab:
        tab.evaluate(f"() => {{ {HOST} {NEWEST_OFFICE} }}")
        tab.add_script(url=f"{url}/functions.js")
        calls = [[case.function, *map(_excel_argument, case.args)] for case in cases]
        answers = tab.evaluate("(calls) => Promise.all(calls.map(([id, ...values]) => call(id, ...values)))", calls)
    return [
        Failure(answer["error"])
        if "error" in answer
        else of_rows([[_excel_value(cell) for cell in row] for row in answer["value"]])
        for answer in answers
    ]


def _excel_argument(argument: Any) -> Any:
    """An argument as Excel passes it: ranges as rows, dates as numbers, errors as data types."""
    if isinstance(argument, tuple):
        return [[_excel_argument(cell) for cell in row] for row in argument]
    if isinstance(argument, date):
        return serial(argument)
    code = argument.code if isinstance(argument, Error) else argument
    return {"type": "Error", "basicType": "Error", "basicValue": code} if code in ERROR_FORMULAS else argument


def _excel_value(cell: Any) -> Value:
    if not isinstance(cell, dict):
        return cell  # type: ignore[no-any-return]
    if cell["type"] == "Error":
        return Failure(ERROR_TYPES[cell["errorType"]])
    assert cell["numberFormat"].startswith("yyyy-mm-dd")
    return Time(cell["basicValue"])


def in_calc(cases: Sequence[Case], folder: Path, url: str) -> list[Shown]:
    """What Calc shows, without a screen, with the extension before the backend at `url`."""
    book = write_book(folder / "calls.xlsx", cases)
    made = convert(book, to="xlsx", into=folder / "by-calc", extension=Extension(url=url), fit_tables=True)
    return shown_in(made, len(cases))


def in_refreshed_book(cases: Sequence[Case], folder: Path, service: EmbeddedService) -> list[Shown]:
    """What a book holds after a refresh without a spreadsheet program."""

    async def refresh(source: Path, target: Path) -> None:
        async with AsyncClient(service.url, service.key) as client:
            report = await refresh_book(Session(client), source, target)
        assert report.skipped == []

    book, refreshed = write_book(folder / "calls.xlsx", cases), folder / "refreshed.xlsx"
    asyncio.run(refresh(book, refreshed))
    return shown_in(refreshed, len(cases))
