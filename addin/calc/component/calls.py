"""A call as Calc makes it, turned into what the backend is asked: a key that can be compared, and JSON."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple, Tuple

__all__ = ["Call", "Function", "call_of", "error_style", "functions_of", "json_of"]

Call = Tuple[Any, ...]
"""(id, argument, argument, …); an argument is None, a number, text or a tuple of rows, trailing Nones left out."""

_STYLE = re.compile(r"(?:^|[;\n])\s*err\s*=\s*(text|blank)\s*(?:[;\n]|$)", re.IGNORECASE)


class Function(NamedTuple):
    """What is known of a function inside soffice."""

    id: str
    zero_is_blank: tuple[bool, ...]
    """For each argument: whether 0 can only be an empty cell, which is how Calc hands one over."""
    options_at: int | None
    """Where the options stand among the arguments."""


def functions_of(described: list[dict[str, Any]]) -> list[Function]:
    """The functions in the extension's `functions.json`."""
    return [Function(d["id"], tuple(d["zero_is_blank"]), d["options_at"]) for d in described]


def call_of(function: Function, raw: tuple[Any, ...]) -> Call:
    """The call with the raw arguments that Calc gave."""
    args = [_argument(value, blank) for value, blank in zip(raw, function.zero_is_blank)]
    while args and args[-1] is None:
        args.pop()
    return (function.id, *args)


def json_of(call: Call) -> list[Any]:
    """The call as the backend's JSON wants it."""
    return [[list(row) for row in arg] if isinstance(arg, tuple) else arg for arg in call]


def error_style(call: Call, function: Function) -> str:
    """How the call wants errors shown: `code`, `text` or `blank`, for errors that the backend never heard of."""
    at = function.options_at
    options = call[at + 1] if at is not None and at + 1 < len(call) else None
    if isinstance(options, tuple):
        options = ";".join("=".join(str(cell) for cell in row) for row in options)
    found = _STYLE.search(options) if isinstance(options, str) else None
    return found.group(1).lower() if found else "code"


def _argument(value: Any, zero_is_blank: bool) -> Any:
    if isinstance(value, tuple):
        rows = tuple(tuple(_cell(cell) for cell in row) for row in value)
        return _argument(rows[0][0], zero_is_blank) if len(rows) == 1 and len(rows[0]) == 1 else rows
    if zero_is_blank and value == 0 and not isinstance(value, str):
        return None
    return _cell(value)


def _cell(value: Any) -> Any:
    """A cell's value as JSON can carry it: half a surrogate pair would spoil the whole batch."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8") or None
    if isinstance(value, (bool, int)):
        return float(value)
    return value if isinstance(value, float) and math.isfinite(value) else None
