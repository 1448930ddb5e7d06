"""Array formulas of ours, fitted to the size of their results: Calc itself never resizes an array formula."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterable, Iterator, NamedTuple, Sequence

from com.sun.star.lang import Locale
from com.sun.star.sheet.FormulaResult import ERROR

from .areas import Area, grown, is_ours
from .engine import Engine
from .response_cache import CachedAnswer

FORMULA, CONSTANT = 16, 1 | 2 | 4
"""Calc's flags for kinds of contents: formulas; numbers, dates and texts."""

DATE_FORMATS = {"date": "YYYY-MM-DD", "datetime": "YYYY-MM-DD HH:MM"}
PLAIN_FORMAT = "General;-General"

AT_ONCE = 1_000
"""Array formulas whose sizes are worked out together: one by one, two thousand would hold up Calc for a minute."""


class Fitted(NamedTuple):
    """The tables that changed their size, and those that could not because other cells are in the way."""

    changed: int
    blocked: list[str]


def fit_tables(document: Any, namespace: str, engine: Engine) -> Fitted:
    """Resize every array formula of ours to its result; cells in use are never overwritten.

    All values must be there already. Date columns without a number format get one. Undo takes it as one step.
    """
    changed, blocked = 0, []
    undo = document.getUndoManager()
    for sheet in document.Sheets:
        areas = (
            [] if sheet.isProtected() else _to_fit(document, sheet, dict.fromkeys(_arrays(sheet, namespace)), engine)
        )
        for area, wanted, answer in [(area, *_needed(document, sheet, area, engine)) for area in areas]:
            undo.enterUndoContext("Fit tables")
            try:
                fits = all(_is_empty(sheet, part) for part in grown(area, wanted))
                if not fits:
                    blocked.append(cells_of(sheet, area).AbsoluteName.replace("$", ""))
                elif wanted != area:
                    _resize(sheet, area, wanted)
                    changed += 1
                _show_dates(document, sheet, wanted if fits else area, answer)
            finally:
                undo.leaveUndoContext()
    return Fitted(changed, blocked)


def fit_opened(document: Any, namespace: str, engine: Engine) -> None:
    """Fit the tables of a document that was just opened in a window, as if it had been stored with this size.

    Where the user has already changed something, that waits for the next refresh.
    """
    undo, was_modified = document.getUndoManager(), document.isModified()
    if undo.isUndoPossible() or undo.isRedoPossible():
        return
    fit_tables(document, namespace, engine)
    undo.clear()
    document.setModified(was_modified)


def _arrays(sheet: Any, namespace: str) -> Iterator[Area]:
    """The areas of the array formulas that call our functions, once for each of their cells."""
    for found in sheet.queryContentCells(FORMULA):
        for y, row in enumerate(found.getFormulaArray()):
            for x, formula in enumerate(row):
                if formula.startswith("{=") and is_ours(formula, namespace):
                    yield array_at(sheet, found.getCellByPosition(x, y))


def _to_fit(document: Any, sheet: Any, areas: Iterable[Area], engine: Engine) -> list[Area]:
    """Without the single cells whose result is a single value, as Excel stores nearly every formula of ours."""
    single = [area for area in areas if area.columns == area.rows == 1]
    fitting: set[Area] = set()
    for start in range(0, len(single), AT_ONCE):
        part = single[start : start + AT_ONCE]
        formulas = [_formula(sheet, area)[1:] for area in part]
        with engine.tracing():
            sizes = computed(document, sheet, [[f"=COLUMNS({each})", f"=ROWS({each})"] for each in formulas])
        fitting.update(area for area, size in zip(part, sizes or ()) if max(size) <= 1)
    return [area for area in areas if area not in fitting]


def array_at(sheet: Any, cell: Any) -> Area:
    """The area of the array formula that a cell belongs to."""
    cursor = sheet.createCursorByRange(cell)
    cursor.collapseToCurrentArray()
    place = cursor.getRangeAddress()
    columns, rows = place.EndColumn - place.StartColumn + 1, place.EndRow - place.StartRow + 1
    return Area(place.StartColumn, place.StartRow, columns, rows)


def _needed(document: Any, sheet: Any, area: Area, engine: Engine) -> tuple[Area, CachedAnswer | None]:
    """The area that the result of an array formula needs, or the area it has if that is unknown; and the answer."""
    formula = _formula(sheet, area)[1:]
    with engine.tracing() as calls:
        sizes = computed(document, sheet, [[f"=COLUMNS({formula})", f"=ROWS({formula})"]])
    if sizes is None or min(sizes[0]) < 1:
        return area, None
    wanted = area.resized(int(sizes[0][0]), int(sizes[0][1]))
    fits = wanted.fits(sheet.Columns.Count, sheet.Rows.Count)
    return wanted if fits else area, engine.cached(list(calls)[-1]) if calls else None


def _is_empty(sheet: Any, area: Area) -> bool:
    return not cells_of(sheet, area).queryContentCells(FORMULA | CONSTANT).Count


def _resize(sheet: Any, now: Area, wanted: Area) -> None:
    formula = _formula(sheet, now)
    cells_of(sheet, now).clearContents(FORMULA)
    cells_of(sheet, wanted).setArrayFormula(formula)


def _show_dates(document: Any, sheet: Any, area: Area, answer: CachedAnswer | None) -> None:
    """Set a number format for date columns that have none.

    Calc shows cells without a format in the format of an array's first cell. So a header gets none, and in a table
    without a header the other columns get a format that only looks like none.
    """
    if answer is None or not answer.dates or not isinstance(answer.value, tuple):
        return
    kinds = dict(answer.dates)
    first = answer.value[0][answer.dates[0][0]]
    header = isinstance(first, str) and first != ""
    # Dates last: as soon as the first cell is a date, Calc shows its neighbours without a format as dates.
    for column in sorted(range(area.columns), key=lambda column: column in kinds):
        code = DATE_FORMATS[kinds[column]] if column in kinds else "" if header else PLAIN_FORMAT
        if code and area.rows > header:
            below = Area(area.column + column, area.row + header, 1, area.rows - header)
            _format(document, cells_of(sheet, below), code)


def _format(document: Any, cells: Any, code: str) -> None:
    """Set the number format of the first cell for cells without one, or `code` if it has none either."""
    formats, english, scan = document.NumberFormats, Locale("en", "US", ""), False
    key = cells.getCellByPosition(0, 0).NumberFormat
    if formats.getByKey(key).StandardFormat:
        key = formats.queryKey(code, english, scan)
        key = formats.addNew(code, english) if key < 0 else key
    for part in cells.getUniqueCellFormatRanges():
        if formats.getByKey(part.NumberFormat).StandardFormat:
            part.NumberFormat = key


def computed(document: Any, sheet: Any, formulas: Sequence[Sequence[str]]) -> list[list[float]] | None:
    """The numbers that rows of `formulas` return, 0 for anything else; None if the sheet is protected or has no room.

    Calc computes them in the sheet's last cells, without a trace: no undo step, no changed document.
    """
    columns, rows = sheet.Columns.Count, sheet.Rows.Count
    cells = sheet.getCellRangeByPosition(columns - len(formulas[0]), rows - len(formulas), columns - 1, rows - 1)
    if sheet.isProtected() or any(map(any, cells.getFormulaArray())):
        return None
    was_modified, undo = document.isModified(), document.getUndoManager()
    try:
        with unrecorded(undo):
            cells.setFormulaArray(tuple(map(tuple, formulas)))
        return [[each if isinstance(each, float) else 0.0 for each in row] for row in cells.getDataArray()]
    finally:
        with unrecorded(undo):
            cells.clearContents(FORMULA | CONSTANT)
        document.setModified(was_modified)


def cells_in_error(document: Any, namespace: str) -> list[str]:
    """The names of the cells that call our functions and show an error."""
    names = []
    for sheet in document.Sheets:
        for found in sheet.queryFormulaCells(ERROR):
            for y, row in enumerate(found.getFormulaArray()):
                for x, formula in enumerate(row):
                    if is_ours(formula, namespace):
                        names.append(found.getCellByPosition(x, y).AbsoluteName.replace("$", ""))
    return names


def calculate_out_of_sight(document: Any) -> None:
    """Work out all cells and draw the charts again.

    Calc's own `calculate` would also end the typing in a cell. Any query for values works out all cells of a sheet,
    and any change of a cell draws the charts. Calc counts drawn charts as a change of the document, which nobody made.
    """
    was_modified = document.isModified()
    for sheet in document.Sheets:
        sheet.queryFormulaCells(ERROR)
    any(computed(document, sheet, [["=0"]]) for sheet in document.Sheets)
    document.setModified(was_modified)


@contextmanager
def unrecorded(undo: Any) -> Iterator[None]:
    """Let one change not be recorded by Undo; Calc releases the lock by itself after it."""
    undo.lock()
    try:
        yield
    finally:
        undo.unlock()


def cells_of(sheet: Any, area: Area) -> Any:
    """The cells of an area."""
    return sheet.getCellRangeByPosition(area.column, area.row, area.column + area.columns - 1, area.row + area.rows - 1)


def _formula(sheet: Any, area: Area) -> str:
    """The array formula without its braces, in the notation in which it can be entered again."""
    text: str = sheet.getCellByPosition(area.column, area.row).getFormula()
    return text[1:-1]
