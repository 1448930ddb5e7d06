"""Array formulas of ours, fitted to the size of their results: Calc's own are as large as they were entered."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple

from .areas import Area, grown, is_ours
from .scratch import CONSTANT, FORMULA, worked_out

__all__ = ["Fitted", "fit_tables"]


class Fitted(NamedTuple):
    """What fitting did: how many tables got another size, and which found their place in use."""

    changed: int
    blocked: list[str]


def fit_tables(document: Any, namespace: str) -> Fitted:
    """Give every array formula of ours the size of its result; cells in use are never overwritten.

    All values must be there already. What changed is one step for Undo.
    """
    changed, blocked = 0, []
    undo = document.getUndoManager()
    for sheet in document.Sheets:
        if sheet.isProtected():
            continue
        for area in list(_arrays(sheet, namespace)):
            wanted = _wanted(document, sheet, area)
            if wanted is None or wanted == area:
                continue
            if not all(_is_empty(sheet, part) for part in grown(area, wanted)):
                blocked.append(_cells(sheet, area).AbsoluteName.replace("$", ""))
                continue
            if not changed:
                undo.enterUndoContext("Fit tables")
            changed += 1
            _resize(sheet, area, wanted)
    if changed:
        undo.leaveUndoContext()
    return Fitted(changed, blocked)


def _arrays(sheet: Any, namespace: str) -> Iterator[Area]:
    """The areas of the array formulas that call our functions."""
    seen = set()
    for found in sheet.queryContentCells(FORMULA):
        for y, row in enumerate(found.getFormulaArray()):
            for x, formula in enumerate(row):
                if not (formula.startswith("{=") and is_ours(formula, namespace)):
                    continue
                cursor = sheet.createCursorByRange(found.getCellByPosition(x, y))
                cursor.collapseToCurrentArray()
                area = _area(cursor)
                if area not in seen:
                    seen.add(area)
                    yield area


def _wanted(document: Any, sheet: Any, area: Area) -> Area | None:
    """The area its result needs; None where that cannot be worked out."""
    formula = _formula(sheet, area)
    sizes = worked_out(document, sheet, [f"=COLUMNS({formula[1:]})", f"=ROWS({formula[1:]})"])
    if sizes is None or min(sizes) < 1:
        return None
    wanted = area.resized(int(sizes[0]), int(sizes[1]))
    return wanted if wanted.fits(sheet.Columns.Count, sheet.Rows.Count) else None


def _is_empty(sheet: Any, area: Area) -> bool:
    return not _cells(sheet, area).queryContentCells(FORMULA | CONSTANT).Count


def _resize(sheet: Any, now: Area, wanted: Area) -> None:
    formula = _formula(sheet, now)
    _cells(sheet, now).clearContents(FORMULA)
    _cells(sheet, wanted).setArrayFormula(formula)


def _cells(sheet: Any, area: Area) -> Any:
    return sheet.getCellRangeByPosition(area.column, area.row, area.column + area.columns - 1, area.row + area.rows - 1)


def _formula(sheet: Any, area: Area) -> str:
    """The array formula without its braces, in the notation in which it can be entered again."""
    text: str = sheet.getCellByPosition(area.column, area.row).getFormula()
    return text[1:-1]


def _area(cells: Any) -> Area:
    place = cells.getRangeAddress()
    columns, rows = place.EndColumn - place.StartColumn + 1, place.EndRow - place.StartRow + 1
    return Area(place.StartColumn, place.StartRow, columns, rows)
