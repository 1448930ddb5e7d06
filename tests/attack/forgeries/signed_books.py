"""Signed books to forge: a live one, and a frozen copy of it, with the lines that were signed about both."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from xlsxwriter import Workbook

from addin.workbook.audit.frozen import sign_copy
from addin.workbook.audit.signing import BookSigner
from addin.workbook.freeze import freeze_book
from addin.workbook.refresh.refresh import refresh_book
from dataservice.client import AsyncClient
from dataservice.server import Store, import_directory, running, write_sample
from udfs import Session

SLUGS = ("us-cpi", "us-10y", "us-unemployment", "brent-usd")


@dataclass(frozen=True, slots=True)
class SignedBooks:
    """The files of one signing."""

    live: Path
    frozen: Path
    audit: Path


def make_book(path: Path, rows: int = 12) -> Path:
    """A book with formulas of ours, totals, inputs, texts, a name and two sheets."""
    with Workbook(path) as book:
        plain, money, day = (book.add_format({"num_format": code}) for code in ("General", "0.00", "yyyy-mm-dd"))
        sheet, inputs = book.add_worksheet("Report"), book.add_worksheet("Inputs")
        sheet.write_row(0, 0, ["Signal", "Value", "Double", "Entered", "Note"], plain)
        for row in range(1, rows + 1):
            sheet.write_string(row, 0, SLUGS[row % len(SLUGS)])
            sheet.write_formula(row, 1, f"=_xldudf_DS_SIGNAL(A{row + 1})", None, "")
            sheet.write_formula(row, 2, f"=B{row + 1}*2", None, "")
            sheet.write_number(row, 3, row * 1.25 + 0.1, money)
            sheet.write_string(row, 4, f"note {row}")
        sheet.write_formula(rows + 1, 1, f"=SUM(B2:B{rows + 1})", None, "")
        sheet.write_formula(rows + 1, 3, f"=SUM(D2:D{rows + 1})*Rate", None, "")
        inputs.write_row(0, 0, [1.5, "a rate"])
        inputs.write_datetime(1, 0, datetime(2026, 8, 31), day)  # noqa: DTZ001 - workbooks know no time zones
        inputs.write_number(1, 1, 42)
        book.define_name("Rate", "=Inputs!$A$1")
    return path


@contextmanager
def signed_books(folder: Path) -> Iterator[SignedBooks]:
    """The books, signed against an embedded service."""
    with Store(folder / "service.db") as store:
        write_sample(folder / "data", as_of=date(2026, 8, 31))
        import_directory(store, folder / "data")
        with running(store) as service:
            yield asyncio.run(_signed(service.url, store.create_key("pro"), folder))


async def _signed(url: str, key: str, folder: Path) -> SignedBooks:
    live, audit = make_book(folder / "live.xlsx"), folder / "numbers.jsonl"
    async with AsyncClient(url, key) as client:
        session = Session(client, traced=True)
        await refresh_book(session, live, live, signing=BookSigner(audit, service=url))
    freeze_book(live, folder / "values.xlsx", allow_stale=True)
    sign_copy(live, folder / "values.xlsx", folder / "frozen.xlsx", BookSigner(audit, service=url))
    return SignedBooks(live, folder / "frozen.xlsx", audit)
