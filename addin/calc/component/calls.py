"""A call as Calc makes it, turned into a hashable key and into the backend's JSON."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple, Tuple

Call = Tuple[Any, ...]
"""(id, argument, argument, …); an argument is None, a number, text or a tuple of rows, trailing Nones left out."""

_STYLE = re.compile(r"(?:^|[;\n])\s*err\s*=\s*(text|blank)\s*(?:[;\n]|$)", re.IGNORECASE)


class Parameter(NamedTuple):
    """A parameter, as the component knows it."""

    zero_is_blank: bool
    """Whether 0 can only be an empty cell, which Calc passes as 0."""
    is_day: bool
    """Whether a number is cut to its day, so that `NOW()` makes no new call at every recalculation."""


class Function(NamedTuple):
    """A function, as the component knows it."""

    id: str
    parameters: tuple[Parameter, ...]
    options_at: int | None
    """The index of the options among the arguments."""
    is_report: bool = False
    """Whether it tells what other calls did, such as which values are here: it is asked again behind them."""


def functions_of(described: list[dict[str, Any]]) -> list[Function]:
    """The functions that the extension was built with."""
    return [
        Function(d["id"], tuple(Parameter(**p) for p in d["parameters"]), d["options_at"], d.get("is_report", False))
        for d in described
    ]


def call_of(function: Function, raw: tuple[Any, ...], days_later: int = 0) -> Call:
    """The call with the raw arguments that Calc passed, from a document that begins to count days that much later.

    Where it does, the number stands behind the id, so that documents that count differently share no result.
    """
    args = [_argument(value, parameter, days_later) for value, parameter in zip(raw, function.parameters)]
    while args and args[-1] is None:
        args.pop()
    return (f"{function.id}@{days_later}" if days_later else function.id, *args)


def function_id(call: Call) -> str:
    """The id of the function that is called."""
    return str(call[0]).partition("@")[0]


def days_later_of(call: Call) -> int:
    """Return how many days later than usual the calling document begins to count."""
    return int(str(call[0]).partition("@")[2] or 0)


def json_of(call: Call) -> list[Any]:
    """The call as the backend's JSON has it."""
    args = ([list(row) for row in arg] if isinstance(arg, tuple) else arg for arg in call[1:])
    return [function_id(call), *args]


def error_style(call: Call, function: Function) -> str:
    """Return how the call shows errors: `code`, `text` or `blank`; for errors that do not come from the backend."""
    at = function.options_at
    options = call[at + 1] if at is not None and at + 1 < len(call) else None
    if isinstance(options, tuple):
        options = ";".join("=".join(str(cell) for cell in row) for row in options)
    found = _STYLE.search(options) if isinstance(options, str) else None
    return found.group(1).lower() if found else "code"


def _argument(value: Any, parameter: Parameter, days_later: int) -> Any:
    if isinstance(value, tuple):
        if len(value) == 1 and len(value[0]) == 1:
            return _argument(value[0][0], parameter, days_later)
        rows = tuple(tuple(_cell(cell) for cell in row) for row in value)
        return tuple(tuple(_day(cell, days_later) for cell in row) for row in rows) if parameter.is_day else rows
    cell = _cell(value)
    if isinstance(cell, float):
        if parameter.zero_is_blank and cell == 0:
            return None
        if parameter.is_day:
            return _day(float(math.floor(cell)), days_later)
    return cell


def _day(cell: Any, days_later: int) -> Any:
    """The number of a day as the functions count it; one below 0 is no day, and told as it was given."""
    return cell + days_later if isinstance(cell, float) and cell >= 0 else cell


def _cell(value: Any) -> Any:
    """A cell's value as JSON can hold it: half a surrogate pair would break the whole batch."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8") or None
    if isinstance(value, (bool, int)):
        return float(value)
    return value if isinstance(value, float) and math.isfinite(value) else None
