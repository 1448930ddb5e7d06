"""Formulas worked out by Calc in a sheet's last cells, leaving no trace: no undo step, no changed document."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, Sequence

FORMULA, CONSTANT = 16, 1 | 2 | 4
"""Calc's flags for kinds of contents: formulas; numbers, dates and texts."""


def worked_out(document: Any, sheet: Any, formulas: Sequence[str]) -> list[float] | None:
    """The numbers that `formulas` give, 0 for an error; None where the sheet is protected or its last cells in use."""
    columns, rows = sheet.Columns.Count, sheet.Rows.Count
    cells = sheet.getCellRangeByPosition(columns - len(formulas), rows - 1, columns - 1, rows - 1)
    if sheet.isProtected() or any(cells.getFormulaArray()[0]):
        return None
    was_modified, undo = document.isModified(), document.getUndoManager()
    try:
        numbers = []
        for position, formula in enumerate(formulas):
            cell = cells.getCellByPosition(position, 0)
            with _unrecorded(undo):
                cell.setFormula(formula)
            numbers.append(0.0 if cell.getError() else cell.getValue())
        return numbers
    finally:
        with _unrecorded(undo):
            cells.clearContents(FORMULA | CONSTANT)
        document.setModified(was_modified)


@contextmanager
def _unrecorded(undo: Any) -> Iterator[None]:
    """One change that Undo does not know of; Calc lifts the lock by itself after it."""
    undo.lock()
    try:
        yield
    finally:
        undo.unlock()
