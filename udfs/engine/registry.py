"""The one description of every function: `@udf` makes it from a coroutine's signature, docstring and annotations.

Excel's metadata, Calc's configuration, the desktop wrappers, the reference in the docs, the task pane's wizard and
`addin functions` are all made from `REGISTRY`. An id is frozen once released: workbooks store it.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, Protocol, TypeAlias

from udfs.arguments.broadcast import combinations, single
from udfs.arguments.kinds import matrix_of
from udfs.arguments.options import Options
from udfs.arguments.parameters import Parameter, parameter_of
from udfs.engine.effects import Asking, gather
from udfs.errors import ArgumentError, error_cell

Body: TypeAlias = Callable[..., Coroutine[Any, Any, Any]]
Shape: TypeAlias = Literal["value", "table", "either"]
"""What a call of scalars gives: one value, a table, or which of them depends on the arguments."""

REGISTRY: dict[str, Udf] = {}
"""Every function of the library by its id, in the order of the reference."""


class Caller(Protocol):
    """What a call from Python goes through: a session."""

    async def value(self, function_id: str, args: Sequence[Any]) -> Any:
        """The result of one call as plain Python; raises what went wrong."""


_callers: list[Callable[[], Caller]] = []


@dataclass(frozen=True, slots=True)
class Udf:
    """A function of the library. Awaiting a call of it gives plain Python: a value, or a frame for a table."""

    id: str
    summary: str
    details: str
    parameters: tuple[Parameter, ...]
    injected: tuple[str, ...]
    """Keyword-only parameters that the session fills: `now`, `today`, `client` (`udfs.engine.session`)."""
    shape: Shape
    group: str
    examples: tuple[str, ...]
    keep_s: float | None
    """How long hosts may keep a result at most; None: as long as what it rests on is fresh."""
    body: Body
    options_at: int | None = field(init=False)
    """The place of the options among the arguments; None for a function without."""

    def __post_init__(self) -> None:
        places = [place for place, parameter in enumerate(self.parameters) if isinstance(parameter.kind, Options)]
        object.__setattr__(self, "options_at", places[0] if places else None)

    def bind(self, args: Sequence[Any], today: date, injected: Mapping[str, Any]) -> Asking[Any]:
        """The call with raw `args`, ready for a driver; raises `ArgumentError` where the formula is wrong."""
        if len(args) > len(self.parameters):
            raise ArgumentError(f"{self.id} takes at most {len(self.parameters)} arguments, not {len(args)}")
        raw = [*args, *[None] * (len(self.parameters) - len(args))]
        extra = {name: injected[name] for name in self.injected}
        for given in args:
            if isinstance(given, list | tuple):
                return self._bind_ranges(raw, today, extra)
        return self._call(raw, today, extra)

    def _bind_ranges(self, raw: Sequence[Any], today: date, extra: Mapping[str, Any]) -> Asking[Any]:
        raw = [single(value) for value in raw]
        ranges = [i for i, p in enumerate(self.parameters) if p.kind.lifted and matrix_of(raw[i]) is not None]
        if not ranges:
            return self._call(raw, today, extra)
        for place, parameter in enumerate(self.parameters):
            if place not in ranges:
                parameter.read(raw[place], today)  # what all cells share is wrong once, not in every cell
        return self._spilled(combinations(raw, ranges), today, extra)

    def _call(self, raw: Sequence[Any], today: date, extra: Mapping[str, Any]) -> Asking[Any]:
        return self.body(*[p.read(value, today) for p, value in zip(self.parameters, raw, strict=True)], **extra)

    async def _spilled(self, rows: Sequence[Sequence[Any]], today: date, extra: Mapping[str, Any]) -> list[list[Any]]:
        """The results of every cell's call; a failed one is a `CellError` in its place."""
        calls = [args for row in rows for args in row if args is not None]
        results = iter(await gather([self._guarded(args, today, extra) for args in calls]))
        return [[None if args is None else _one_cell(next(results), self.id) for args in row] for row in rows]

    async def _guarded(self, raw: Sequence[Any], today: date, extra: Mapping[str, Any]) -> Any:
        return await self._call(raw, today, extra)

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function from Python, through the session in use (`udfs.use`)."""
        rest = [parameter.name for parameter in self.parameters][len(args) :]
        unknown = kwargs.keys() - set(rest)
        if unknown:
            raise TypeError(f"{self.id} has no further argument {', '.join(sorted(unknown))}")
        return await _callers[-1]().value(self.id, [*args, *(kwargs.get(name) for name in rest)])


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
            parameters=tuple(parameter_of(p, hints) for p in signature.parameters.values() if p.kind != p.KEYWORD_ONLY),
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


def arrange(functions: Sequence[Udf]) -> None:
    """Put `REGISTRY` into the order of the reference; raises `ValueError` where it holds others than `functions`."""
    if {function.id for function in functions} != REGISTRY.keys():
        raise ValueError(f"the reference and the registry differ by {REGISTRY.keys() ^ {f.id for f in functions}}")
    for function in functions:
        REGISTRY[function.id] = REGISTRY.pop(function.id)


def calls_go_through(caller: Callable[[], Caller]) -> None:
    """Let calls from Python (`await udfs.SIGNAL(...)`) go through what `caller()` gives at that time."""
    _callers.append(caller)


def find(function_id: str) -> Udf:
    """The function with this id, in any case; raises `ArgumentError` naming those that exist."""
    function = REGISTRY.get(function_id) or REGISTRY.get(function_id.upper())
    if function is None:
        raise ArgumentError(f"there is no function '{function_id[:60]}'; there are {', '.join(REGISTRY)}")
    return function


def _one_cell(result: Any, function_id: str) -> Any:
    """What one cell of a spilled range shows."""
    if hasattr(result, "columns"):
        result = ArgumentError("a table does not fit into one cell of a range; ask for one name at a time")
    return error_cell(result, function_id) if isinstance(result, Exception) else result
