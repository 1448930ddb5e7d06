"""Array formulas of ours, fitted to the size of their results: Calc's own are as large as they were entered."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple

from com.sun.star.lang import Locale

from .areas import Area, grown, is_ours
from .engine import Engine
from .memo import Known
from .scratch import CONSTANT, FORMULA, worked_out

DATE_FORMATS = {"date": "YYYY-MM-DD", "datetime": "YYYY-MM-DD HH:MM"}
PLAIN_FORMAT = "General;-General"


class Fitted(NamedTuple):
    """What fitting did: how many tables got another size, and which found their place in use."""

    changed: int
    blocked: list[str]


class _Table(NamedTuple):
    """One array formula of ours: where it stands, where it should, and what is known of its result."""

    area: Area
    wanted: Area
    known: Known | None


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
                _show_dates(document, sheet, table.wanted if fits else table.area, table.known)
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
        return _Table(area, area, None)
    wanted = area.resized(int(sizes[0]), int(sizes[1]))
    fits = wanted.fits(sheet.Columns.Count, sheet.Rows.Count)
    return _Table(area, wanted if fits else area, engine.known(list(calls)[-1]) if calls else None)


def _is_empty(sheet: Any, area: Area) -> bool:
    return not _cells(sheet, area).queryContentCells(FORMULA | CONSTANT).Count


def _resize(sheet: Any, now: Area, wanted: Area) -> None:
    formula = _formula(sheet, now)
    _cells(sheet, now).clearContents(FORMULA)
    _cells(sheet, wanted).setArrayFormula(formula)


def _show_dates(document: Any, sheet: Any, area: Area, known: Known | None) -> None:
    """Give the columns of dates a number format, where they have none.

    Calc shows cells without a format in that of an array's first cell. So a header keeps none, and where there is no
    header the other columns get a format that only looks like none.
    """
    if known is None or not known.dates or not isinstance(known.value, tuple):
        return
    kinds = dict(known.dates)
    header = isinstance(known.value[0][known.dates[0][0]], str)
    # The dates last: as soon as the first cell is one, Calc makes dates of its neighbours without a format.
    for column in sorted(range(area.columns), key=lambda column: column in kinds):
        code = DATE_FORMATS[kinds[column]] if column in kinds else "" if header else PLAIN_FORMAT
        if code and area.rows > header:
            below = Area(area.column + column, area.row + header, 1, area.rows - header)
            _format(document, _cells(sheet, below), code)


def _format(document: Any, cells: Any, code: str) -> None:
    """Give cells without a number format that of the first cell, or `code` where it has none either."""
    formats, english, scan = document.NumberFormats, Locale("en", "US", ""), False
    key = cells.getCellByPosition(0, 0).NumberFormat
    if formats.getByKey(key).FormatString == "General":
        key = formats.queryKey(code, english, scan)
        key = formats.addNew(code, english) if key < 0 else key
    for part in cells.getUniqueCellFormatRanges():
        if formats.getByKey(part.NumberFormat).FormatString == "General":
            part.NumberFormat = key


def _cells(sheet: Any, area: Area) -> Any:
    return sheet.getCellRangeByPosition(area.column, area.row, area.column + area.columns - 1, area.row + area.rows - 1)


def _formula(sheet: Any, area: Area) -> str:
    """The array formula without its braces, in the notation in which it can be entered again."""
    text: str = sheet.getCellByPosition(area.column, area.row).getFormula()
    return text[1:-1]
