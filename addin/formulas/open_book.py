"""The calls that a refresh of an open workbook makes, as far as its formulas and its cells tell.

What a host holds decides: a formula whose cells the refresh itself changes may ask for anything then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from addin.formulas.open_cells import LONG_RANGE_ROWS, MOST_CELLS, SPILLED, OpenCells, Zone, pieces
from addin.formulas.reading import FoundCall, Operand, ReadFormula, Readings, ReferredArea, Value
from addin.protocol.messages import MAX_COLUMNS, ExpectedCalls, OpenBook, Scalar, WantedCells
from udfs.engine import in_turns, yielding

MOST_DEEP = 10
"""How often cells lead to further cells that are followed."""

MOST_VISITS = 3_000_000
"""Cells that are looked at for one book, one in several areas several times: about a second's work."""

MOST_COLUMNS = 500_000
"""Columns of areas that are looked through for cells to ask for, one in several areas several times."""

MOST_VALUES = 1_000_000
"""Values in the arguments of all calls together; of what has more, only the lower bound of its cost is told."""

WIDE = 100
"""Areas with more rows or columns than this are not searched for formulas of ours: there may be some."""

_ERROR = re.compile(r"#(?:N/A|VALUE!|REF!|DIV/0!|NUM!|NAME\?|NULL!|SPILL!|CALC!|GETTING_DATA)")
_HALF = re.compile("[\ud800-\udfff]")


class PlannedCalls(NamedTuple):
    """The calls that a refresh makes, as the JSON in which the host will ask for them, each once."""

    calls: Sequence[bytes]
    sure: Sequence[bytes]
    """Those that are made whatever the cells hold by then."""
    is_open: bool
    """Whether there are calls that nobody can name before."""


class _ArgumentError(ValueError):
    """An argument is an error itself."""


class _Formula(NamedTuple):
    sheet: int
    place: int
    text: str
    is_in_scope: bool


class OpenFormulas:
    """The formulas of a workbook that is open in a host."""

    def __init__(self, book: OpenBook, namespace: str) -> None:
        self._book = book
        self._formulas: list[_Formula] = []
        self._ours: set[tuple[int, int]] = set()
        self._cells = OpenCells(book)
        self._readings = Readings(namespace)
        self._names: dict[str, ReadFormula] = {}
        self._sheets = {sheet.name.upper(): at for at, sheet in enumerate(book.sheets)}
        self._used_names: dict[tuple[tuple[str, ...], int], list[str]] = {}
        self._settled: dict[tuple[int, int], bool] = {}
        self._settled_zones: dict[Zone, bool] = {}
        self._visits, self._values_left = MOST_VISITS, MOST_VALUES

    @property
    def count(self) -> int:
        """The number of formulas that are to be refreshed."""
        return len(self._ours)

    async def read(self) -> None:
        """Read every formula; before anything else, and in turns with other tasks."""
        async for each in yielding(_formulas(self._book)):
            self._formulas.append(each)
            if each.is_in_scope:
                self._ours.add((each.sheet, each.place))
        blocks = ((at, block) for at, sheet in enumerate(self._book.sheets) for block in sheet.cells)
        async for at, piece in yielding((at, piece) for at, block in blocks for piece in pieces(block)):
            self._cells.add(at, piece)
        self._cells.put_in_order()
        async for part in in_turns(list(self._book.names.items()), 1):
            self._names |= {name: self._readings.read(formula) for name, formula in part}
        async for formulas in in_turns([each.text for each in self._formulas], 1):  # a long one takes more than a turn
            for formula in formulas:
                self._readings.read(formula)
        async for found in in_turns(list(self._cells.formulas()), 1):
            for _, formula in found:
                self._readings.read(formula)

    async def wanted(self) -> list[WantedCells]:
        """The cells that formulas refer to, by themselves or by others, and that were not handed over."""
        if self._book.is_part:
            return []
        everywhere = [(each.sheet, each.text) for each in self._formulas]
        everywhere += [(self._sheet_of(name), formula) for name, formula in self._book.names.items()]
        everywhere += self._cells.formulas()
        zones: dict[Zone, None] = {}
        async for part in in_turns(everywhere):
            for sheet, formula in part:
                zones |= dict.fromkeys(filter(None, (self._zone(each, sheet) for each in self._areas(formula))))
        looked_at, room = [], MOST_COLUMNS
        for zone in zones:
            room -= zone.right - zone.left + 1
            if room >= 0 and zone.size <= MOST_CELLS:
                looked_at.append(zone)
        return await self._cells.unread(looked_at)

    def _areas(self, formula: str) -> Sequence[ReferredArea]:
        return self._readings.read(formula).areas

    async def planned(self) -> PlannedCalls:
        """The calls that are made once the formulas are calculated anew."""
        calls: dict[bytes, bool] = {}
        is_open = self._book.is_part
        async for part in in_turns(self._formulas):
            for formula in part:
                found = self._calls(formula.text, formula.sheet)
                if not formula.is_in_scope:  # it is calculated again, too, if what it depends on changes
                    is_open = is_open or self._may_change(found, formula.sheet)
                    continue
                # What cannot be read may hide a call.
                is_open = is_open or not found
                for call, read, is_sure in found:
                    text = self._text(call, read, formula.sheet)
                    is_open = is_open or text is None
                    if text:
                        calls[text] = calls.get(text, False) or is_sure
        return PlannedCalls(list(calls), [text for text, is_sure in calls.items() if is_sure], is_open)

    async def expected(self) -> ExpectedCalls:
        """How many calls Excel makes when the formulas are calculated, and whether others may follow."""
        expected, depend = 0, self._book.is_part
        async for part in in_turns(self._formulas):
            for formula in part:
                read = self._readings.read(formula.text)
                sure = sum(call.is_sure for call in read.calls)
                expected += sure
                depend = (
                    depend
                    or sure < len(read.calls)
                    or len(read.names) > 0
                    or not read.is_closed
                    or any(self._may_hold_ours(each, formula.sheet) for each in read.areas)
                )
        return ExpectedCalls(expected, depend)

    def _may_hold_ours(self, referred: ReferredArea, sheet: int) -> bool:
        area = referred.area
        if referred.is_spill or max(area.last_row - area.first_row, area.last_column - area.first_column) > WIDE:
            return True
        zone = self._cells.zone(area, sheet)
        if zone is None:
            return False
        self._visits -= zone.size
        rows, columns = range(zone.top, zone.bottom + 1), range(zone.left, zone.right + 1)
        return self._visits < 0 or any(
            (zone.sheet, row * MAX_COLUMNS + column) in self._ours for row in rows for column in columns
        )

    # --- names -----------------------------------------------------------------------------------------------------

    def _sheet_of(self, name: str) -> int:
        """The sheet that a name belongs to, the first one for a name of the workbook."""
        return self._sheets.get(name.rpartition("!")[0], 0)

    def _named(self, name: str, sheet: int) -> str:
        """The name that a formula on a sheet means: one of that sheet hides one of the workbook."""
        own = name if "!" in name else f"{self._book.sheets[sheet].name.upper()}!{name}"
        return own if own in self._names else name.rpartition("!")[2]

    def _names_in(self, read: ReadFormula, sheet: int) -> list[str]:
        """The names that a formula uses, by itself or by another name."""
        key = tuple(read.names), sheet
        if key not in self._used_names:
            seen: dict[str, None] = {}
            left = [(each, sheet) for each in read.names]
            while left:
                each, on = left.pop()
                name = self._named(each, on)
                if name in self._names and name not in seen:
                    seen[name] = None
                    left += [(other, self._sheet_of(name)) for other in self._names[name].names]
            self._used_names[key] = list(seen)
        return self._used_names[key]

    # --- calls -----------------------------------------------------------------------------------------------------

    def _calls(self, formula: str, sheet: int) -> list[tuple[FoundCall, ReadFormula, bool]]:
        """The calls of a formula, each with the formula in which it stands, and whether it is made for sure."""
        read = self._readings.read(formula)
        found = [(call, read, call.is_sure) for call in read.calls]
        for name in self._names_in(read, sheet) if read.names else ():
            self._visits -= 1
            found += [(call, self._names[name], False) for call in self._names[name].calls]
        return found if self._visits >= 0 else []

    def _may_change(self, found: Sequence[tuple[FoundCall, ReadFormula, bool]], sheet: int) -> bool:
        """Return whether a refresh may change one of these calls, or there is none to be seen."""
        return not found or any(not self._is_settled(arg, read, sheet) for call, read, _ in found for arg in call.args)

    def _text(self, call: FoundCall, read: ReadFormula, sheet: int) -> bytes | None:
        """The call as the page will make it; None where that is not known, empty where an argument is an error."""
        try:
            return _text(call.id, [self._value(arg, read, sheet) for arg in call.args])
        except _ArgumentError:
            return b""
        except KeyError:
            return None

    def _value(self, operand: Operand, read: ReadFormula, sheet: int) -> Value:
        """The value of an argument; raises `KeyError` where it is not known."""
        match operand.kind:
            case "value":
                return operand.value
            case "area":
                return self._values(read.areas[operand.place], sheet)
            case "join":
                return "".join([_joinable(self._value(part, read, sheet)) for part in operand.parts])
            case "name":
                named = self._names[self._named(operand.name, sheet)]
                is_fixed = all(each.is_fixed and each.area.sheet is not None for each in named.areas)
                if named.is_closed and not named.calls and is_fixed and named.whole.kind != "name":
                    return self._value(named.whole, named, sheet)
        raise KeyError(operand.kind)

    def _values(self, referred: ReferredArea, sheet: int) -> list[list[Scalar]]:
        zone = self._settled_zone(referred, sheet)
        self._values_left -= 0 if zone is None else zone.size
        if zone is None or self._values_left < 0:
            raise KeyError(referred)
        rows = self._cells.rows(zone)
        if referred.area.last_row - referred.area.first_row >= LONG_RANGE_ROWS:
            _drop_blank_end(rows)
        return rows

    def _zone(self, referred: ReferredArea, sheet: int) -> Zone | None:
        return self._cells.zone(referred.area, sheet)

    # --- what a refresh leaves as it is ------------------------------------------------------------------------------

    def _is_settled(self, operand: Operand, read: ReadFormula, sheet: int) -> bool:
        """Return whether a refresh leaves an argument as it is."""
        if operand.kind == "join":
            return all(self._is_settled(part, read, sheet) for part in operand.parts)
        if operand.kind == "area":
            return self._settled_zone(read.areas[operand.place], sheet) is not None
        try:
            self._value(operand, read, sheet)
        except KeyError:
            return False
        return True

    def _settled_zone(self, referred: ReferredArea, sheet: int) -> Zone | None:
        """The cells that are referred to; None where a refresh may change them, or nobody knows them."""
        zone = None if referred.is_spill else self._zone(referred, sheet)
        return zone if zone is not None and self._is_settled_zone(zone, 0) else None

    def _is_settled_zone(self, zone: Zone, depth: int) -> bool:
        known = self._settled_zones.get(zone) if depth == 0 else None
        if known is None:
            self._visits -= zone.right - zone.left + 1
            formulas = self._cells.formulas_in(zone) if zone.size <= MOST_CELLS and self._visits >= 0 else None
            known = formulas is not None and all(
                self._is_settled_cell(zone.sheet, row * MAX_COLUMNS + column, formula, depth)
                for row, column, formula in formulas
            )
            if depth == 0:
                self._settled_zones[zone] = known
        return known

    def _is_settled_cell(self, sheet: int, place: int, formula: str, depth: int) -> bool:
        at = sheet, place
        self._visits -= 1
        if at not in self._settled:
            self._settled[at] = False  # a circle
            is_own = depth < MOST_DEEP and at not in self._ours
            self._settled[at] = is_own and self._rests_on_settled(formula, sheet, depth)
        return self._settled[at]

    def _rests_on_settled(self, formula: str, sheet: int, depth: int) -> bool:
        if formula == SPILLED:
            return False
        read = self._readings.read(formula)
        if not read.is_closed or read.names:
            return False
        zones = [None if each.is_spill else self._zone(each, sheet) for each in read.areas]
        return all(zone is not None and self._is_settled_zone(zone, depth + 1) for zone in zones)


def _formulas(book: OpenBook) -> Iterator[_Formula]:
    for at, sheet in enumerate(book.sheets):
        for formulas, is_in_scope in ((sheet.formulas, True), (sheet.others, False)):
            yield from (_Formula(at, place, text, is_in_scope) for place, text in formulas.items())


def _joinable(value: Value) -> str:
    """A constant as `&` joins it; raises `KeyError` for what only a spreadsheet program writes as text."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool | list) or not float(value).is_integer() or abs(value) >= 1e11:
        raise KeyError(value)
    return str(int(value))


def _text(function_id: str, values: Sequence[Value]) -> bytes:
    """The call as the page will make it; raises `_ArgumentError` where an argument is an error."""
    call = [function_id, *map(_argument, values)]
    while len(call) > 1 and call[-1] is None:
        call.pop()
    return msgspec.json.encode(call)


def _argument(value: Value) -> Value:
    if not isinstance(value, list):
        return _unless_error(_scalar(value))
    rows = [list(map(_scalar, row)) for row in value]
    if len(rows) > LONG_RANGE_ROWS:
        _drop_blank_end(rows)
    return _unless_error(rows[0][0]) if len(rows) == len(rows[0]) == 1 else rows


def _scalar(value: Scalar) -> Scalar:
    """A value as the page sends it: blank is none, and so is 0, which Excel for Windows passes for an empty cell."""
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value) or None
    if isinstance(value, bool) or not value:
        return value if isinstance(value, bool) else None
    number = float(value)
    return int(number) if number.is_integer() else number


def _unless_error(value: Scalar) -> Scalar:
    if isinstance(value, str) and _ERROR.match(value):
        raise _ArgumentError(value)
    return value


def _drop_blank_end(rows: list[list[Scalar]]) -> None:
    while len(rows) > 1 and not any(value or value is False for value in rows[-1]):
        rows.pop()
