"""Array formulas of ours, fitted to the size of their results: Calc's own are as large as they were entered."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple

from .areas import Area, grown, is_ours
from .engine import Engine
from .scratch import CONSTANT, FORMULA, worked_out
from .values import DateColumn

__all__ = ["Fitted", "fit_tables"]

DATE_FORMATS = {"date": "YYYY-MM-DD", "datetime": "YYYY-MM-DD HH:MM"}


class Fitted(NamedTuple):
    """What fitting did: how many tables got another size, and which found their place in use."""

    changed: int
    blocked: list[str]


class _Table(NamedTuple):
    """One array formula of ours: where it stands, where it should, and which of its columns are dates."""

    area: Area
    wanted: Area
    dates: tuple[DateColumn, ...]


def fit_tables(document: Any, namespace: str, engine: Engine) -> Fitted:
    """Give every array formula of ours the size of its result; cells in use are never overwritten.

    All values must be there already. Columns of dates that have no number format get one. It is one step for Undo.
    """
    changed, blocked = 0, []
    undo = document.getUndoManager()
    for sheet in document.Sheets:
        tables = [] if sheet.isProtected() else [_table(document, sheet, a, engine) for a in _arrays(sheet, namespace)]
        for table in tables:
            undo.enterUndoContext("Fit tables")
            try:
                fits = all(_is_empty(sheet, part) for part in grown(table.area, table.wanted))
                if not fits:
                    blocked.append(_cells(sheet, table.area).AbsoluteName.replace("$", ""))
                elif table.wanted != table.area:
                    _resize(sheet, table.area, table.wanted)
                    changed += 1
                _show_dates(document, sheet, table.wanted if fits else table.area, table.dates)
            finally:
                undo.leaveUndoContext()
    return Fitted(changed, blocked)


def _arrays(sheet: Any, namespace: str) -> list[Area]:
    """The areas of the array formulas that call our functions."""
    return list(dict.fromkeys(_array_at(sheet, cell) for cell in _array_cells(sheet, namespace)))


def _array_cells(sheet: Any, namespace: str) -> Iterator[Any]:
    for found in sheet.queryContentCells(FORMULA):
        for y, row in enumerate(found.getFormulaArray()):
            for x, formula in enumerate(row):
                if formula.startswith("{=") and is_ours(formula, namespace):
                    yield found.getCellByPosition(x, y)


def _array_at(sheet: Any, cell: Any) -> Area:
    cursor = sheet.createCursorByRange(cell)
    cursor.collapseToCurrentArray()
    place = cursor.getRangeAddress()
    columns, rows = place.EndColumn - place.StartColumn + 1, place.EndRow - place.StartRow + 1
    return Area(place.StartColumn, place.StartRow, columns, rows)


def _table(document: Any, sheet: Any, area: Area, engine: Engine) -> _Table:
    """The table with the area that its result needs; the one it has where that cannot be worked out."""
    formula = _formula(sheet, area)[1:]
    with engine.tracing() as calls:
        sizes = worked_out(document, sheet, [f"=COLUMNS({formula})", f"=ROWS({formula})"])
    if sizes is None or min(sizes) < 1:
        return _Table(area, area, ())
    wanted = area.resized(int(sizes[0]), int(sizes[1]))
    known = engine.known(list(calls)[-1]) if calls else None
    return _Table(
        area, wanted if wanted.fits(sheet.Columns.Count, sheet.Rows.Count) else area, known.dates if known else ()
    )


def _is_empty(sheet: Any, area: Area) -> bool:
    return not _cells(sheet, area).queryContentCells(FORMULA | CONSTANT).Count


def _resize(sheet: Any, now: Area, wanted: Area) -> None:
    formula = _formula(sheet, now)
    _cells(sheet, now).clearContents(FORMULA)
    _cells(sheet, wanted).setArrayFormula(formula)


def _show_dates(document: Any, sheet: Any, area: Area, dates: tuple[DateColumn, ...]) -> None:
    formats, locale = document.NumberFormats, document.CharLocale
    for column, kind in dates:
        if column >= area.columns:
            break
        cells = _cells(sheet, Area(area.column + column, area.row, 1, area.rows))
        if all(formats.getByKey(key).FormatString == "General" for key in _format_keys(cells)):
            key = formats.queryKey(DATE_FORMATS[kind], locale, False)  # noqa: FBT003 - UNO takes no names
            cells.NumberFormat = formats.addNew(DATE_FORMATS[kind], locale) if key < 0 else key


def _format_keys(cells: Any) -> set[int]:
    return {part.NumberFormat for part in cells.getUniqueCellFormatRanges()}


def _cells(sheet: Any, area: Area) -> Any:
    return sheet.getCellRangeByPosition(area.column, area.row, area.column + area.columns - 1, area.row + area.rows - 1)


def _formula(sheet: Any, area: Area) -> str:
    """The array formula without its braces, in the notation in which it can be entered again."""
    text: str = sheet.getCellByPosition(area.column, area.row).getFormula()
    return text[1:-1]
