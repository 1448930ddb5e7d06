"""Freezing a book: every formula of ours becomes the value it shows, and the book no longer opens the add-in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from addin.formulas import Area, mentions
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import WorkbookError, any_failure_explained
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import Spot
from addin.workbook.ooxml.relations import calculation_chain, without_parts
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.target import Target
from addin.workbook.ooxml.webextension import webextension_parts_in
from udfs.errors import CellError

_NOT_YET = ("#NAME?", "#BUSY!", "#GETTING_DATA")
"""What a cell of ours shows as long as it has not been computed."""

SHOWN_CELLS = 3
"""How many cells an error names."""


def freeze_book(path: Path, target: Path, *, namespace: str = "DS") -> int:
    """Write the book as `target` with our formulas replaced by their values, and return how many were replaced.

    A formula that uses ours inside a longer calculation becomes a value too; all others stay formulas.
    Raises `WorkbookError` for a file that cannot be read or written, for a `target` that is the book itself, and where
    a formula of ours has no value in the file yet.
    """
    place = refuse_itself(path, target)
    with any_failure_explained(path), Package(path) as package:
        book = Book(package)
        ours = [
            (sheet, spot)
            for sheet in book.sheets_with_calls(namespace)
            for spot, formula in sheet.formulas()
            if mentions(formula.text, namespace)
        ]
        _refuse_without_values(ours, path)
        for sheet, spot in ours:
            sheet.freeze(spot)
        removed = webextension_parts_in(package) + (calculation_chain(package) if ours else [])
        package.write(place, {**book.changed_parts(), **without_parts(package, removed)}, removed)
        return len(ours)


def refuse_itself(path: Path, target: Path) -> Target:
    """Where the copy goes; raises `WorkbookError` if that is the book itself, or no place for a copy."""
    place = Target(target, like=path)
    if place.is_same_file(path):
        raise WorkbookError(f"{target} is the book itself, whose formulas would be lost; give the copy another name")
    return place


def _refuse_without_values(ours: Sequence[tuple[Sheet, Spot]], path: Path) -> None:
    missing = [str(Area(*spot, *spot, sheet=sheet.name)) for sheet, spot in ours if not _has_value(sheet, spot)]
    if missing:
        shown = ", ".join(missing[:SHOWN_CELLS]) + (" …" if len(missing) > SHOWN_CELLS else "")
        raise WorkbookError(
            f"{len(missing):,} of {len(ours):,} formulas in {path} have no value yet ({shown}), "
            f"so a copy would show nothing there. Refresh the book first: addin refresh {path}"
        )


def _has_value(sheet: Sheet, spot: Spot) -> bool:
    value = sheet.value(spot)
    return sheet.is_calculated(spot) and not (isinstance(value, CellError) and value.message in _NOT_YET)
