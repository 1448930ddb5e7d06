"""The one description of every function: `@udf` makes it from a coroutine's signature, docstring and annotations.

Excel's metadata, Calc's configuration, the desktop wrappers, the reference in the docs, the task pane's wizard and
`addin functions` are all made from `REGISTRY`. An id is frozen once released: workbooks store it.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, TypeAlias

from udfs.arguments import Kind, is_blank, matrix_of
from udfs.errors import ArgumentError, error_cell
from udfs.needs import Asking, gather

__all__ = ["REGISTRY", "Parameter", "Shape", "Udf", "find", "udf"]

Body: TypeAlias = Callable[..., Coroutine[Any, Any, Any]]
Shape: TypeAlias = Literal["value", "table", "either"]
"""What a call of scalars gives: one value, a table, or which of them depends on the arguments."""

REGISTRY: dict[str, Udf] = {}
"""Every function of the library by its id, in the order of the reference."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a function: its name, its kind, and whether it may be left out."""

    name: str
    kind: Kind
    required: bool
    default: Any = None


@dataclass(frozen=True, slots=True)
class Udf:
    """A function of the library. Awaiting a call of it gives plain Python: a value, or a frame for a table."""

    id: str
    summary: str
    details: str
    parameters: tuple[Parameter, ...]
    injected: tuple[str, ...]
    """Keyword-only parameters that the session fills: `now`, `client` (`udfs.session`)."""
    shape: Shape
    group: str
    examples: tuple[str, ...]
    keep_s: float | None
    """How long hosts may keep a result that rests on no answer of the service; None: as long as any other."""
    body: Body

    def bind(self, args: Sequence[Any], today: date, injected: Mapping[str, Any]) -> Asking[Any]:
        """The call with raw `args`, ready for a driver; raises `ArgumentError` where the formula is wrong."""
        if len(args) > len(self.parameters):
            raise ArgumentError(f"{self.id} takes at most {len(self.parameters)} arguments, not {len(args)}")
        extra = {name: injected[name] for name in self.injected}
        raw = [_single(args[i]) if i < len(args) else None for i in range(len(self.parameters))]
        ranges = [i for i, p in enumerate(self.parameters) if p.kind.lifted and matrix_of(raw[i]) is not None]
        if not ranges:
            return self._call(raw, today, extra)
        return self._spilled(raw, ranges, today, extra)

    def _call(self, raw: Sequence[Any], today: date, extra: Mapping[str, Any]) -> Asking[Any]:
        return self.body(*(self._read(p, value, today) for p, value in zip(self.parameters, raw, strict=True)), **extra)

    def _read(self, parameter: Parameter, raw: Any, today: date) -> Any:
        if not is_blank(raw):
            return parameter.kind.read(raw, parameter.name, today)
        if parameter.required:
            raise ArgumentError(f"{self.id} needs {parameter.name}: {parameter.kind.help}")
        if parameter.default is None:
            return None
        return parameter.kind.read(parameter.default, parameter.name, today)

    async def _spilled(self, raw: Sequence[Any], ranges: list[int], today: date, extra: Mapping[str, Any]) -> list[Any]:
        """The results for ranges: one range spills in its own shape, names × fields as a table."""
        rows = _combinations(raw, ranges)
        calls = [(r, c) for r, row in enumerate(rows) for c, args in enumerate(row) if not _skipped(args, ranges)]
        results = await gather([self._guarded(rows[r][c], today, extra) for r, c in calls])
        table: list[list[Any]] = [[None] * len(row) for row in rows]
        for (r, c), result in zip(calls, results, strict=True):
            table[r][c] = error_cell(result, self.id) if isinstance(result, Exception) else _one_cell(result, self.id)
        return table

    async def _guarded(self, raw: Sequence[Any], today: date, extra: Mapping[str, Any]) -> Any:
        return await self._call(raw, today, extra)

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function from Python, through the session in use (`udfs.use`)."""
        from udfs.session import current_session  # noqa: PLC0415 - the session drives functions, so it knows this file

        names = [parameter.name for parameter in self.parameters]
        unknown = kwargs.keys() - set(names[len(args) :])
        if unknown:
            raise TypeError(f"{self.id} has no further argument {', '.join(sorted(unknown))}")
        return await current_session().value(self.id, [*args, *(kwargs.get(name) for name in names[len(args) :])])


def udf(
    *,
    group: str,
    shape: Shape = "value",
    examples: Sequence[str] = (),
    keep_s: float | None = None,
) -> Callable[[Body], Udf]:
    """Register a coroutine as a function of the library; its name is the id, its docstring the help."""

    def register(body: Body) -> Udf:
        signature = inspect.signature(body)
        hints = typing.get_type_hints(body, include_extras=True)
        summary, _, details = inspect.cleandoc(body.__doc__ or "").partition("\n\n")
        function = Udf(
            id=body.__name__,
            summary=" ".join(summary.split()),
            details=details,
            parameters=tuple(_parameter(p, hints) for p in signature.parameters.values() if p.kind != p.KEYWORD_ONLY),
            injected=tuple(p.name for p in signature.parameters.values() if p.kind == p.KEYWORD_ONLY),
            shape=shape,
            group=group,
            examples=tuple(examples),
            keep_s=keep_s,
            body=body,
        )
        if function.id in REGISTRY:
            raise ValueError(f"two functions have the id {function.id}")
        REGISTRY[function.id] = function
        return function

    return register


def find(function_id: str) -> Udf:
    """The function with this id, in any case; raises `ArgumentError` naming those that exist."""
    function = REGISTRY.get(function_id) or REGISTRY.get(function_id.upper())
    if function is None:
        raise ArgumentError(f"there is no function '{function_id[:60]}'; there are {', '.join(REGISTRY)}")
    return function


def _parameter(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> Parameter:
    kind = next(extra for extra in hints[parameter.name].__metadata__ if isinstance(extra, Kind))
    required = parameter.default is parameter.empty
    return Parameter(parameter.name, kind, required, None if required else parameter.default)


def _single(raw: Any) -> Any:
    """A range of one cell is that cell."""
    rows = matrix_of(raw)
    return rows[0][0] if rows is not None and len(rows) == 1 and len(rows[0]) == 1 else raw


def _combinations(raw: Sequence[Any], ranges: list[int]) -> list[list[list[Any]]]:
    """The arguments of every cell of the result, row by row."""

    def with_items(**items: Any) -> list[Any]:
        return [items.get(str(i), value) for i, value in enumerate(raw)]

    first = matrix_of(raw[ranges[0]]) or []
    if len(ranges) == 1:
        return [[with_items(**{str(ranges[0]): item}) for item in row] for row in first]
    second = matrix_of(raw[ranges[1]]) or []
    if len(ranges) > 2 or not (_is_line(first) and _is_line(second)):
        raise ArgumentError("at most two arguments can be ranges here, each one row or one column")
    down, across = _flat(first), _flat(second)
    down_at, across_at = ranges[0], ranges[1]
    if len(first) == 1 and len(second) > 1:
        down, across, down_at, across_at = across, down, across_at, down_at
    return [[with_items(**{str(down_at): d, str(across_at): a}) for a in across] for d in down]


def _is_line(rows: Sequence[Sequence[Any]]) -> bool:
    return len(rows) == 1 or all(len(row) == 1 for row in rows)


def _flat(rows: Sequence[Sequence[Any]]) -> list[Any]:
    return [item for row in rows for item in row]


def _skipped(args: Sequence[Any], ranges: list[int]) -> bool:
    """A blank cell of a range gives a blank cell."""
    return any(is_blank(args[i]) for i in ranges)


def _one_cell(result: Any, function_id: str) -> Any:
    if hasattr(result, "columns"):
        error = ArgumentError("a table does not fit into one cell of a range; ask for one name at a time")
        return error_cell(error, function_id)
    return result
