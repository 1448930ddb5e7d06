"""Freezing a book: every formula of ours becomes the value it shows, and the book no longer opens the add-in."""

from __future__ import annotations

from pathlib import Path

from addin.formulas import mentions
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.webextension import without_webextension
from addin.workbook.refresh.refresh import refuse_if_open


def freeze_book(path: Path, target: Path, *, namespace: str = "DS") -> int:
    """Write the book as `target` with our formulas replaced by their values, and return how many were replaced.

    A formula that uses ours inside a longer calculation becomes a value too; all others stay formulas.
    Raises `WorkbookError` for a file that cannot be read or written.
    """
    refuse_if_open(target)
    with Package(path) as package:
        book = Book(package)
        frozen = 0
        for sheet in book.sheets_with_calls(namespace):
            ours = [spot for spot, formula in sheet.formulas() if mentions(formula.text, namespace)]
            for spot in ours:
                sheet.freeze(spot)
            frozen += len(ours)
        package.write(target, {**book.changed_parts(), **without_webextension(package)})
        return frozen
