"""Formulon, an engine that gives Excel's own results nearly always: WebAssembly, the same on every system.

Compiling it takes three seconds, so the compiled code is kept in the user's cache. A fault poisons it for the rest of
the process; whoever asks then gets another process.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

import formulon
import wasmtime
from formulon import Workbook

from addin.workbook.calculation.engine.cells_file import as_file
from addin.workbook.calculation.engine.serving import serve

SCRATCH = 15_000
"""A column where nothing stands, counted from 0."""
APART, AT_ONCE = 10, 130
"""Columns from one formula to the next that are worked out there, and how many of them have room."""

NO_ROOM = [[{"error": "#SPILL!"}]]
"""The rows of a formula that has no room for them."""

ERRORS = (
    "#NULL!",
    "#DIV/0!",
    "#VALUE!",
    "#REF!",
    "#NAME?",
    "#NUM!",
    "#N/A",
    "#GETTING_DATA",
    "#SPILL!",
    "#CALC!",
    "#FIELD!",
    "#BLOCKED!",
    "#CONNECT!",
    "#EXTERNAL!",
    "#BUSY!",
    "#PYTHON!",
    "#UNKNOWN!",
)
"""The errors by the engine's number."""


class Calculator:
    """One book in the engine."""

    def __init__(self, *, now: float, offset_s: float, dates_from_1904: bool, time_limit_s: float) -> None:
        del time_limit_s  # who asks watches the time
        self._now = datetime.fromtimestamp(now + offset_s, UTC)
        self._dates_from_1904 = dates_from_1904
        self._sheets: dict[str, int] = {}
        self._texts: dict[tuple[str, int, int], str] = {}
        self._calculated: set[str] = set()
        """The sheets that hold formulas, in lower case."""
        self._begin(Workbook.create_default())

    def _begin(self, book: Workbook) -> None:
        self._book = book
        now = self._now
        book.set_pinned_now(now.year, now.month, now.day, now.hour, now.minute, now.second)
        book.set_date1904(self._dates_from_1904)
        self._sheets = {book.sheet_name(number): number for number in range(book.sheet_count())}

    def close(self) -> None:
        """Give the book's memory back."""
        self._book.close()

    def load(self, sheets: Sequence[str], cells: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Make the sheets, and put the cells in; the formulas that cannot be read, with the reason."""
        content, others = as_file(sheets, cells, dates_from_1904=self._dates_from_1904)
        self._book.close()
        self._begin(Workbook.load(content))
        self._texts = {(sheet, row, column): text for sheet, row, column, kind, text in cells if kind == "plain"}
        self._calculated = {sheet.casefold() for sheet, _, _, kind, _ in cells if kind != "value"}
        return self.set(others)

    def set(self, cells: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Put values and formulas into cells; the formulas that cannot be read."""
        failed: list[list[Any]] = []
        for sheet, row, column, kind, content in cells:
            place = self._sheets[sheet], row - 1, column - 1
            try:
                if kind == "value":
                    self._put(place, content)
                else:
                    self._book.set_formula(*place, content)
            except formulon.FormulonError as error:
                failed.append([sheet, row, column, str(error)[:200]])
        return failed

    def _put(self, place: tuple[int, int, int], value: Any) -> None:
        match value:
            case None:
                self._book.set_blank(*place)
            case bool():
                self._book.set_bool(*place, value)
            case float() | int():
                self._book.set_number(*place, value)
            case str():
                self._book.set_text(*place, value)
            case _:
                code = value["error"]
                self._book.set_error(*place, ERRORS.index(code) if code in ERRORS else ERRORS.index("#VALUE!"))

    def evaluate(self) -> None:
        """Work everything out."""
        self._book.recalc()

    def values(self, cells: Sequence[Sequence[Any]]) -> list[Any]:
        """Return what the cells show."""
        read, sheets = self._book.get_value, self._sheets
        return [_from_engine(read(sheets[sheet], row - 1, column - 1)) for sheet, (row, column) in cells]

    def extents(self, cells: Sequence[Sequence[Any]]) -> list[tuple[int, int] | None]:
        """The rows and columns that each cell's formula fills; None for one value."""
        found = (self._book.spill_info(self._sheets[sheet], row - 1, column - 1) for sheet, (row, column) in cells)
        return [(each.rows, each.cols) if each.engaged else None for each in found]

    def arrays(self, formulas: Sequence[Sequence[Any]]) -> list[list[list[Any]] | None]:
        """The rows that formulas come to, where nothing is written; None for what cannot be read."""
        found: list[list[list[Any]] | None] = []
        for begin in range(0, len(formulas), AT_ONCE):
            batch = formulas[begin : begin + AT_ONCE]
            if all(self._calculated <= {sheet.casefold()} for sheet, *_ in batch):
                found += [self._array(*each) for each in batch]
            else:  # what stands on a sheet may rest on others
                found += self._arrays_in_cells(batch)
        return found

    def _array(self, sheet: str, row: int, column: int, text: str) -> list[list[Any]] | None:
        place = self._sheets[sheet], row - 1
        found = self._array_at(*place, column - 1, text)
        # Nothing is written, and yet the rows need room: below most formulas stands another one.
        return self._array_at(*place, SCRATCH, text) if found == NO_ROOM else found

    def _array_at(self, sheet: int, row: int, column: int, text: str) -> list[list[Any]] | None:
        try:
            found = self._book.evaluate_formula_array(sheet, row, column, text)
        except formulon.FormulonError:
            return None
        return [[_from_engine(value) for value in values] for values in found]

    def _arrays_in_cells(self, formulas: Sequence[Sequence[Any]]) -> list[list[list[Any]] | None]:
        """The rows of formulas that read other sheets' formulas: only in a cell does the engine see their values.

        All are put into cells that lie apart, and worked out at once; those that did not have the room, alone.
        """
        places = [
            (self._sheets[each[0]], each[1] - 1, SCRATCH + APART * number) for number, each in enumerate(formulas)
        ]
        found = self._in_cells(places, [each[3] for each in formulas])
        for number, rows in enumerate(found):
            if len(formulas) > 1 and rows == NO_ROOM:
                found[number] = self._in_cells([(*places[number][:2], SCRATCH)], [formulas[number][3]])[0]
        return found

    def _in_cells(self, places: Sequence[tuple[int, int, int]], texts: Sequence[str]) -> list[list[list[Any]] | None]:
        put = [self._is_put(place, text) for place, text in zip(places, texts, strict=True)]
        self._book.recalc()
        found = [self._rows_at(*place) if is_put else None for place, is_put in zip(places, put, strict=True)]
        for place in places:
            self._book.set_blank(*place)
        self._book.recalc()
        return found

    def _is_put(self, place: tuple[int, int, int], text: str) -> bool:
        try:
            self._book.set_formula(*place, text)
        except formulon.FormulonError:
            return False
        return True

    def _rows_at(self, sheet: int, row: int, column: int) -> list[list[Any]]:
        info = self._book.spill_info(sheet, row, column)
        height, width = (info.rows, info.cols) if info.engaged else (1, 1)
        return [
            [_from_engine(self._book.get_value(sheet, row + down, column + right)) for right in range(width)]
            for down in range(height)
        ]

    def intersecting(self, cells: Sequence[Sequence[Any]]) -> list[bool]:
        """Return whether the formula in each cell shows another value than it would as a dynamic array's."""
        return [self._intersects(sheet, row, column) for sheet, (row, column) in cells]

    def _intersects(self, sheet: str, row: int, column: int) -> bool:
        text = self._texts[sheet, row, column]
        stored = self._book.get_formula(self._sheets[sheet], row - 1, column - 1) or ""
        info = self._book.spill_info(self._sheets[sheet], row - 1, column - 1)
        if stored.count("@") <= text.count("@") and not info.engaged:
            return False
        whole = self.arrays([(sheet, row, column, text)])[0]
        shown = _from_engine(self._book.get_value(self._sheets[sheet], row - 1, column - 1))
        return whole != [[shown]]


def _from_engine(value: formulon.Value) -> Any:
    match value.kind:
        case formulon.ValueKind.NUMBER:
            return (value.number or 0.0) + 0.0  # adding 0 makes 0 of -0
        case formulon.ValueKind.BOOL:
            return value.boolean
        case formulon.ValueKind.TEXT:
            return value.text
        case formulon.ValueKind.ERROR:
            code = value.error_code or 0
            return {"error": ERRORS[code] if code < len(ERRORS) else "#UNKNOWN!"}
        case formulon.ValueKind.BLANK:
            return None
        case _:
            return {"error": "#CALC!"}  # a function without arguments to work on


def _compiled_once() -> None:
    """Let the engine's code be compiled once for this user, which takes seconds; without a cache it works too."""
    with suppress(wasmtime.WasmtimeError):
        cached = wasmtime.Config()
        cached.cache = True
        wasmtime.Engine = partial(wasmtime.Engine, cached)  # type: ignore[misc, assignment] # formulon offers no setting for it


def main() -> None:
    """Serve this process's standard input."""
    _compiled_once()
    serve(Calculator)
