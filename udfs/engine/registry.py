"""The one description of every function, and how a call of it is bound to its raw arguments.

Excel's metadata, Calc's configuration, the desktop wrappers, the reference in the docs, the task pane's wizard and
`addin functions` are all made from `REGISTRY`. An id is frozen once released: workbooks store it.

A range in place of a single value is broadcast: each of its cells is a call, and the results spill in its shape.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, TypeAlias

from udfs.arguments.kinds import is_blank, matrix_of
from udfs.arguments.options import Options
from udfs.arguments.parameters import Parameter
from udfs.arguments.python_values import unreadable
from udfs.cells import Table
from udfs.engine.effects import PAUSE, Asking, FastPath, ask, gather
from udfs.errors import ArgumentError, error_cell

Body: TypeAlias = Callable[..., Coroutine[Any, Any, Any]]
Shape: TypeAlias = Literal["value", "table", "either"]
"""What a call of scalars gives: one value, a table, or which of them depends on the arguments."""


CELLS_A_TURN = 500
"""Results of a range that become cells in one go, which takes a few thousandths of a second."""


@dataclass(frozen=True, slots=True)
class Udf:
    """A function of the library, as hosts and documents describe it and a session runs it."""

    id: str
    summary: str
    details: str
    parameters: tuple[Parameter, ...]
    injected: tuple[str, ...]
    """Keyword-only parameters that the session fills: `now`, `today`, `client` (`udfs.engine.session`)."""
    shape: Shape
    group: str
    examples: tuple[str, ...]
    body: Body
    keep_s: float | None = None
    """How long hosts may keep a result at most; None: as long as what it rests on is fresh."""
    runs_last: bool = False
    """Whether it begins after the other functions of its batch, because it reports what they did."""
    at_once: FastPath | None = None
    """How its results follow from an answer in memory, where that saves time."""
    options_at: int | None = field(init=False)
    """The place of the options among the arguments; None for a function without."""

    def __post_init__(self) -> None:
        places = [place for place, parameter in enumerate(self.parameters) if isinstance(parameter.kind, Options)]
        object.__setattr__(self, "options_at", places[0] if places else None)

    def miscounted(self, count: int) -> str | None:
        """Return what is wrong with so many arguments, in one sentence: too many, or a required one is missing."""
        if count > len(self.parameters):
            return self._too_many(count)
        return next((each.missing for each in self.parameters[count:] if each.required), None)

    def _too_many(self, count: int) -> str:
        return f"{self.id} takes at most {len(self.parameters)} arguments, not {count}"

    def bind(self, args: Sequence[Any], today: date, injected: Mapping[str, Any]) -> Asking[Any]:
        """The call with raw `args`, ready to run; raises `ArgumentError` where the formula is wrong."""
        if len(args) > len(self.parameters):
            raise ArgumentError(self._too_many(len(args)))
        raw = [*args, *[None] * (len(self.parameters) - len(args))]
        extra = {name: injected[name] for name in self.injected}
        for given in args:
            if isinstance(given, list | tuple):
                return self._bind_ranges([single(value) for value in raw], today, extra)
        return self.body(*self._read(raw, today), **extra)

    def _bind_ranges(self, raw: Sequence[Any], today: date, extra: Mapping[str, Any]) -> Asking[Any]:
        ranges = [i for i, p in enumerate(self.parameters) if p.kind.vectorized and matrix_of(raw[i]) is not None]
        if not ranges:
            return self.body(*self._read(raw, today), **extra)
        for place, parameter in enumerate(self.parameters):
            if place not in ranges:
                parameter.read(raw[place], today)  # what all cells share is wrong once, not in every cell
        return self._broadcast(raw, ranges, today, extra)

    def _read(self, raw: Sequence[Any], today: date) -> list[Any]:
        return [parameter.read(value, today) for parameter, value in zip(self.parameters, raw, strict=True)]

    async def _broadcast(
        self, raw: Sequence[Any], ranges: Sequence[int], today: date, extra: Mapping[str, Any]
    ) -> list[list[Any]]:
        """The results of every cell's call; a failed one is a `CellError` in its place. Others have turns meanwhile."""
        given: list[list[bool]] = []

        async def called(args: Sequence[Any]) -> Any:
            return await self.body(*self._read(args, today), **extra)  # a wrong argument fails in its own cell only

        def calls() -> Iterator[Asking[Any]]:
            for row in combinations(raw, ranges):
                given.append([])
                for args in row:
                    given[-1].append(args is not None)
                    if args is not None:
                        yield called(args)

        cells: list[Any] = []
        for result in await gather(calls()):
            cells.append(_one_cell(result, self.id))
            if len(cells) % CELLS_A_TURN == 0:
                await ask(PAUSE)
        shown = iter(cells)
        return [[next(shown) if is_given else None for is_given in row] for row in given]


REGISTRY: dict[str, Udf] = {}
"""Every function of the library by its id, in the order of the reference."""


def register(*functions: Udf) -> None:
    """Add `functions` to `REGISTRY` in this order; raises `ValueError` where an id is taken."""
    for function in functions:
        if REGISTRY.setdefault(function.id, function) is not function:
            raise ValueError(f"two functions have the id {function.id}")


def find(function_id: str) -> Udf:
    """The function with this id, in any case; raises `ArgumentError` naming those that exist."""
    function = REGISTRY.get(function_id) or REGISTRY.get(function_id.upper())
    if function is None:
        raise ArgumentError(f"there is no function '{function_id[:60]}'; there are {', '.join(REGISTRY)}")
    return function


def single(raw: Any) -> Any:
    """A range of one cell is that cell; anything else is itself. Raises `ArgumentError` where rows differ in length."""
    try:
        rows = matrix_of(raw)
        if rows is None:
            return raw
        lengths = {len(row) for row in rows}
    except Exception as error:  # a program's own kind of list
        raise unreadable(raw, error) from error
    if len(lengths) > 1:
        raise ArgumentError("the rows of a range must be of one length")
    return rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else raw


def combinations(raw: Sequence[Any], ranges: Sequence[int]) -> Iterator[Iterator[list[Any] | None]]:
    """The arguments of every cell of the result, row by row; None where a blank cell of a range leaves one blank.

    Each is made when it is asked for: a range may have fifty thousand cells.

    `ranges` are the places of one or two ranges in `raw`: one spills in its own shape; of two, each one row or one
    column, the first goes down and the second across, unless they lie the other way round in the sheet.
    """
    first = matrix_of(raw[ranges[0]]) or []
    if len(ranges) == 1:
        return ((_with(raw, {ranges[0]: item}) for item in row) for row in first)
    second = matrix_of(raw[ranges[1]]) or []
    if len(ranges) > 2 or not (_is_line(first) and _is_line(second)):
        raise ArgumentError("at most two arguments can be ranges here, each one row or one column")
    down, across = (ranges[0], _flat(first)), (ranges[1], _flat(second))
    if len(first) == 1 and len(second) > 1:
        down, across = across, down
    return ((_with(raw, {down[0]: d, across[0]: a}) for a in across[1]) for d in down[1])


def _with(raw: Sequence[Any], items: Mapping[int, Any]) -> list[Any] | None:
    if any(is_blank(item) for item in items.values()):
        return None
    return [items.get(place, value) for place, value in enumerate(raw)]


def _is_line(rows: Sequence[Sequence[Any]]) -> bool:
    return len(rows) == 1 or all(len(row) == 1 for row in rows)


def _flat(rows: Sequence[Sequence[Any]]) -> list[Any]:
    return [item for row in rows for item in row]


def _one_cell(result: Any, function_id: str) -> Any:
    """Return what one cell of a broadcast range shows."""
    if isinstance(result, Table):
        result = ArgumentError("a table does not fit into one cell of a range; ask for one name at a time")
    return error_cell(result, function_id) if isinstance(result, Exception) else result
