"""A copy of the workbook that was opened, with the cells that were changed in the browser, and all else as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from addin.sheet.edits import Editing, SheetEdits, edited_cells, spills
from addin.sheet.files import book_file
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.dynamic import dynamic_mark
from addin.workbook.ooxml.errors import any_failure_explained
from addin.workbook.ooxml.newsheet import with_sheet
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.relations import calculation_chain, without_parts
from addin.workbook.ooxml.stored import MAIN
from addin.workbook.ooxml.target import Target

Change: TypeAlias = Callable[[Package], tuple[Mapping[str, bytes], Sequence[str]]]
"""Tells the parts to write into a package, and those to leave out."""

_EMPTY_SHEET = f'<worksheet xmlns="{MAIN}"><sheetData/></worksheet>'.encode()


def saved_book(original: bytes, name: str, sheets: Sequence[SheetEdits], *, namespace: str = "DS") -> bytes:
    """The bytes of the workbook; raises `WorkbookError` where `original` is none, or a change cannot be written.

    Programs are told to work the book out when they open it where a formula has no value that can be relied on.
    """
    with book_file(original, name) as path:
        for sheet in sheets:
            if sheet.is_added:
                _change(path, partial(_with_sheet, name=sheet.name))
        if any(spills(edit, namespace) for edit in edited_cells(sheets)):
            _change(path, lambda package: (dynamic_mark(package)[1], ()))
        _change(path, partial(_edited, sheets=sheets, namespace=namespace))
        return path.read_bytes()


def _change(path: Path, change: Change) -> None:
    """Write what `change` makes of the package; one without any change keeps its bytes."""
    with any_failure_explained(path), Package(path) as package:
        changed, removed = change(package)
        if changed or removed:
            package.write(Target(path), changed, removed)


def _with_sheet(package: Package, *, name: str) -> tuple[Mapping[str, bytes], Sequence[str]]:
    return with_sheet(package, name, _EMPTY_SHEET), ()


def _edited(
    package: Package, *, sheets: Sequence[SheetEdits], namespace: str
) -> tuple[Mapping[str, bytes], Sequence[str]]:
    book = Book(package)
    is_marked = any(spills(edit, namespace) for edit in edited_cells(sheets))
    editing = Editing(book, mark=dynamic_mark(package)[0] if is_marked else "", namespace=namespace)
    for edits in sheets:
        if edits.cells or edits.values:
            editing.write(edits)
    if editing.is_uncertain:
        book.recalculate_on_load()
    chain = calculation_chain(package) if editing.lost_formulas else []
    return {**book.changed_parts(), **(without_parts(package, chain) if chain else {})}, chain
