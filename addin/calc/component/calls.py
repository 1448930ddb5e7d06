"""A call as Calc makes it, turned into a hashable key and into the backend's JSON."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple, Tuple

Call = Tuple[Any, ...]
"""(id, argument, argument, …); an argument is None, a number, text or a tuple of rows, trailing Nones left out."""

_STYLE = re.compile(r"(?:^|[;\n])\s*err\s*=\s*(text|blank)\s*(?:[;\n]|$)", re.IGNORECASE)


class Parameter(NamedTuple):
    """What the component knows of a parameter."""

    zero_is_blank: bool
    """Whether 0 can only be an empty cell, which Calc passes as 0."""
    is_day: bool
    """Whether a number is cut to its day, so that `NOW()` makes no new call at every recalculation."""


class Function(NamedTuple):
    """What the component knows of a function."""

    id: str
    parameters: tuple[Parameter, ...]
    options_at: int | None
    """The index of the options among the arguments."""


def functions_of(described: list[dict[str, Any]]) -> list[Function]:
    """The functions that the extension was built with."""
    return [Function(d["id"], tuple(Parameter(**p) for p in d["parameters"]), d["options_at"]) for d in described]


def call_of(function: Function, raw: tuple[Any, ...]) -> Call:
    """The call with the raw arguments that Calc passed."""
    args = [_argument(value, parameter) for value, parameter in zip(raw, function.parameters)]
    while args and args[-1] is None:
        args.pop()
    return (function.id, *args)


def json_of(call: Call) -> list[Any]:
    """The call as the backend's JSON has it."""
    return [[list(row) for row in arg] if isinstance(arg, tuple) else arg for arg in call]


def error_style(call: Call, function: Function) -> str:
    """How the call shows errors: `code`, `text` or `blank`; for errors that do not come from the backend."""
    at = function.options_at
    options = call[at + 1] if at is not None and at + 1 < len(call) else None
    if isinstance(options, tuple):
        options = ";".join("=".join(str(cell) for cell in row) for row in options)
    found = _STYLE.search(options) if isinstance(options, str) else None
    return found.group(1).lower() if found else "code"


def _argument(value: Any, parameter: Parameter) -> Any:
    if isinstance(value, tuple):
        rows = tuple(tuple(_cell(cell) for cell in row) for row in value)
        return _argument(rows[0][0], parameter) if len(rows) == 1 and len(rows[0]) == 1 else rows
    cell = _cell(value)
    if isinstance(cell, float):
        if parameter.zero_is_blank and cell == 0:
            return None
        if parameter.is_day:
            return float(math.floor(cell))
    return cell


def _cell(value: Any) -> Any:
    """A cell's value as JSON can hold it: half a surrogate pair would break the whole batch."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8") or None
    if isinstance(value, (bool, int)):
        return float(value)
    return value if isinstance(value, float) and math.isfinite(value) else None
