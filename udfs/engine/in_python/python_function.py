"""A function of the library as Python sees it: a coroutine function with a signature, help and completion.

    value = await udfs.SIGNAL("us-cpi", at="2024-12-31")
    frame = await udfs.SIGNAL_HISTORY("us-cpi", "-5Y", freq="M")

The options of a formula are keyword arguments as well.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from inspect import Parameter as PythonParameter
from inspect import Signature
from typing import Any, Protocol, TypeVar

from dataservice.errors import DataServiceError
from udfs.arguments.kinds import Kind, matrix_of
from udfs.arguments.options import ERR, Option, Options, pairs
from udfs.arguments.parameters import Parameter
from udfs.arguments.python_values import plain
from udfs.cells import table
from udfs.engine.registry import Udf
from udfs.engine.session import Session
from udfs.engine.shared_session import OpeningError, shared_session
from udfs.errors import UdfError


class Ranges:
    """The arguments of one call that were given as several values, each of which is answered by itself."""

    def __init__(self, function: Udf, raw: Sequence[Any], as_given: Mapping[str, Any]) -> None:
        given = {
            place: matrix_of(value) for place, value in enumerate(raw) if function.parameters[place].kind.vectorized
        }
        self._found = {place: rows for place, rows in given.items() if rows is not None}
        self._names = [function.parameters[place].name for place in self._found]
        self._lines = [[cell for row in rows for cell in row] for rows in self._found.values()]
        self._is_matrix = any(len(rows) > 1 and any(len(row) > 1 for row in rows) for rows in self._found.values())
        self._raw = raw
        self._labels = [_labels(as_given.get(name), line) for name, line in zip(self._names, self._lines, strict=True)]

    def raw(self) -> list[Any]:
        """The arguments as they are called: of two ranges, the first goes down and the second across."""
        raw = list(self._raw)
        if len(self._found) == 2 and not self._is_matrix:
            (down, across), (names, others) = self._found, self._lines
            raw[down], raw[across] = [[each] for each in names], [others]
        return raw

    def labelled(self, result: Any) -> Any:
        """A series by the values of one range, a frame by those of two; whatever else a call gives is as it was."""
        import pandas as pd

        if not self._found or isinstance(result, pd.DataFrame):
            return result
        rows = result if isinstance(result, list) else [[result]]
        if self._is_matrix or len(self._found) > 2:
            return pd.DataFrame(rows)
        cells = [cell for row in rows for cell in row]
        across = self._lines[1] if len(self._lines) > 1 else [None]
        lines = [cells[first : first + len(across)] for first in range(0, len(cells), len(across))]
        frame = table(list(map(str, across)), lines).frame().set_axis(pd.Index(self._labels[0], name=self._names[0]))
        if len(self._lines) == 1:
            return frame.iloc[:, 0].rename(None)
        return frame.set_axis(pd.Index(self._labels[1], name=self._names[1]), axis=1)


def _labels(given: Any, line: Sequence[Any]) -> Any:
    """What an argument was given as, for labels: periods and times of pandas as they are, all else as plain values."""
    is_column = type(given).__module__.partition(".")[0] == "pandas" and getattr(given, "ndim", 0) == 1
    return given if is_column and len(given) == len(line) else line


F = TypeVar("F", bound=Callable[..., Any])

HELP_WIDTH = 100
"""Characters in a line of help: what a notebook and most terminals show."""

_in_use: ContextVar[Session | None] = ContextVar("session", default=None)


class PythonFunction(Protocol):
    """What `@udf` makes: awaiting a call gives plain Python, a value or a frame; `udf` describes the function."""

    __name__: str
    udf: Udf

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result of one call; raises what went wrong."""


def use(session: Session) -> None:
    """Make `session` the one that `await udfs.SIGNAL(...)` goes through in this context, in place of the shared one."""
    _in_use.set(session)


def python_function(function: Udf) -> PythonFunction:
    """The function that Python calls, through the session in use or the one that the process shares."""
    arguments = _Arguments(function)

    async def call(*args: Any, **kwargs: Any) -> Any:
        session = _in_use.get() or shared_session()
        ranges = Ranges(function, *arguments.raw(*args, **kwargs))
        try:
            return ranges.labelled(await session.value(function.id, ranges.raw()))
        except Exception as error:  # noqa: BLE001 - raised again
            raise _in_one_sentence(error) from None

    described = _described(call, function, arguments.signature, "await udfs.")
    described.udf = function  # type: ignore[attr-defined]
    return described  # type: ignore[return-value]


def waiting_function(function: Udf) -> Callable[..., Any]:
    """The same function for programs that do not await: it waits for its result, always in the shared session."""
    arguments = _Arguments(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        ranges = Ranges(function, *arguments.raw(*args, **kwargs))
        try:
            return ranges.labelled(shared_session().result(function.id, ranges.raw()))
        except Exception as error:  # noqa: BLE001 - raised again
            raise _in_one_sentence(error) from None

    return _described(call, function, arguments.signature, "udfs.sync.")


def _in_one_sentence(error: Exception) -> BaseException:
    """The error to raise: what the caller can do something about without the frames in which it was found."""
    if isinstance(error, OpeningError):
        error = error.reason
    elif not isinstance(error, UdfError | DataServiceError):
        return error
    return error.with_traceback(None)


class _Arguments:
    """How Python calls a function: its signature, and what it gives as the arguments of a formula."""

    def __init__(self, function: Udf) -> None:
        self._function = function
        self.signature = _signature(function)
        self._starts = {each.name for each in function.parameters if each.kind.first_of_period}

    def raw(self, *args: Any, **kwargs: Any) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """The arguments of a formula, and what was given by their names.

        Raises `TypeError` for what the signature does not take.
        """
        try:
            given = self.signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{self._function.id}(): {error}") from None
        plainly = {name: plain(value, first_of_period=name in self._starts) for name, value in given.items()}
        return _raw_arguments(self._function, plainly), given


def _described(call: F, function: Udf, signature: Signature, prefix: str) -> F:
    """The same callable with the name, help and signature of a function; `prefix` is how the help calls it."""
    call.__name__ = call.__qualname__ = function.id
    call.__module__ = prefix.split()[-1].rstrip(".")
    call.__doc__ = _help(function, prefix)
    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in signature.parameters.values()}
    return call


def _raw_arguments(function: Udf, given: Mapping[str, Any]) -> Sequence[Any]:
    """The arguments in the order of a formula, with the options that were given by name among the others."""
    names = {option.name for option in _options(function)}
    named = {name: value for name, value in given.items() if name in names and value is not None}
    raw = [given.get(parameter.name) for parameter in function.parameters]
    if named and function.options_at is not None:
        written = raw[function.options_at]
        raw[function.options_at] = {**dict(pairs(written, "options") if written is not None else ()), **named}
    return raw


def _options(function: Udf) -> Sequence[Option]:
    """The options that Python takes by name; `err` is for cells, because Python raises errors."""
    kinds = [parameter.kind for parameter in function.parameters if isinstance(parameter.kind, Options)]
    return [option for kind in kinds for option in kind.allowed if option is not ERR]


def _signature(function: Udf) -> Signature:
    """The parameters of a formula, then each option by keyword; raises `ValueError` if two have one name."""
    written = [_parameter(each) for each in function.parameters]
    named = [
        PythonParameter(each.name, PythonParameter.KEYWORD_ONLY, default=None, annotation=_hint(each.kind) | None)
        for each in _options(function)
    ]
    return Signature([*written, *named])


def _parameter(parameter: Parameter) -> PythonParameter:
    default = Signature.empty if parameter.required else parameter.default
    hint = _hint(parameter.kind) if parameter.required else _hint(parameter.kind) | None
    return PythonParameter(parameter.name, PythonParameter.POSITIONAL_OR_KEYWORD, default=default, annotation=hint)


def _hint(kind: Kind) -> Any:
    return kind.python_type | Iterable[Any] if kind.vectorized else kind.python_type


def _help(function: Udf, prefix: str) -> str:
    """At most a screen: what the function returns, its arguments and options, and where its rules are."""
    options = _options(function)
    parts = [
        "\n".join(textwrap.wrap(function.summary, HELP_WIDTH)),
        "\n".join(_lines((p.name, p.kind) for p in function.parameters)),
        "\n".join(["Options, also by keyword:", *_lines((each.name, each.kind) for each in options)])
        if options
        else "",
        f"    {prefix}{function.examples[0].partition('.')[2]}" if function.examples else "",
        f"`addin functions {function.id}` prints all rules.",
    ]
    return "\n\n".join(part for part in parts if part).replace("=DS.", "udfs.")


def _lines(explained: Iterable[tuple[str, Kind]]) -> Iterator[str]:
    rows = [(name, _explained(kind)) for name, kind in explained]
    width = max((len(name) for name, _ in rows), default=0) + 4
    for name, text in rows:
        yield from textwrap.wrap(
            text, HELP_WIDTH, initial_indent=f"  {name}".ljust(width), subsequent_indent=" " * width
        )


def _explained(kind: Kind) -> str:
    if not kind.choices:
        return kind.help
    return f"{kind.help}: {', '.join(choice.value for choice in kind.choices)}"
