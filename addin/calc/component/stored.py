"""Cells that show what their document was stored with, or what was true before: made to call our functions again."""

from __future__ import annotations

import re
from typing import Any, Callable, Iterable, Iterator

from .areas import Area, is_ours
from .tables import FORMULA, array_at, cells_of, unrecorded


def call_again(document: Any, namespace: str, functions: Iterable[str] = (), *, tables: bool = True) -> bool:
    """Let every cell that uses our `functions` be worked out again, and what refers to it; whether there is any.

    Calc takes the stored results of most files for true when it loads them, unless a setting says otherwise. Array
    formulas have no stored results: with `tables` they are worked out again too. The formulas are set as they are, so
    that other formulas, which Calc may not know, keep what they show. Undo and the mark of a changed document stay.
    """
    uses_ours = _reader(document, namespace, tuple(functions))
    was_modified, undo = document.isModified(), document.getUndoManager()
    found = False
    document.lockControllers()
    try:
        for sheet in document.Sheets:
            for cell, formula in _formulas(sheet, uses_ours):
                found = True
                with unrecorded(undo):
                    if not formula.startswith("{"):
                        cell.setTokens(cell.getTokens())
                    elif tables:
                        _set_again(sheet, array_at(sheet, cell), cell)
    finally:
        document.unlockControllers()
        document.setModified(was_modified)
    return found


def _set_again(sheet: Any, area: Area, cell: Any) -> None:
    """Enter an array formula again, once for all its cells."""
    if (area.column, area.row) == (cell.CellAddress.Column, cell.CellAddress.Row):
        cells = cells_of(sheet, area)
        cells.setArrayTokens(cells.getArrayTokens())


def _formulas(sheet: Any, uses_ours: Callable[[str], bool]) -> Iterator[tuple[Any, str]]:
    for found in sheet.queryContentCells(FORMULA):
        for y, row in enumerate(found.getFormulaArray()):
            for x, formula in enumerate(row):
                if uses_ours(formula):
                    yield found.getCellByPosition(x, y), formula


def _reader(document: Any, namespace: str, functions: tuple[str, ...]) -> Callable[[str], bool]:
    """Return whether a formula of the document calls our functions, by itself or by a name that stands for a call."""
    scopes = [document.NamedRanges, *(sheet.NamedRanges for sheet in document.Sheets)]
    named = [
        each.Name
        for scope in scopes
        for each in map(scope.getByName, scope.ElementNames)
        if is_ours(each.Content, namespace, functions)
    ]
    if not named:
        return lambda formula: is_ours(formula, namespace, functions)
    uses_name = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, named))})(?![\w.(])", re.IGNORECASE)
    return lambda formula: is_ours(formula, namespace, functions) or uses_name.search(formula) is not None
