"""The registry as plain data: what the wizard, Calc and `addin functions` show of every function."""

from __future__ import annotations

from typing import Any

from udfs.arguments.kinds import Kind
from udfs.arguments.options import Options
from udfs.arguments.parameters import Parameter
from udfs.engine.registry import Udf


def describe(function: Udf) -> dict[str, Any]:
    """One function as JSON can express it: id, group, help, shape, examples and parameters with their options."""
    return {
        "id": function.id,
        "group": function.group,
        "summary": function.summary,
        "details": function.details,
        "shape": function.shape,
        "examples": list(function.examples),
        "parameters": [_parameter(parameter) for parameter in function.parameters],
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    options = parameter.kind.allowed if isinstance(parameter.kind, Options) else ()
    return {
        "name": parameter.name,
        "required": parameter.required,
        "default": _plain(parameter.default),
        **_kind(parameter.kind),
        "options": [{"name": option.name, "default": option.default, **_kind(option.kind)} for option in options],
    }


def _kind(kind: Kind) -> dict[str, Any]:
    return {
        "help": kind.help,
        "example": kind.example,
        "type": kind.host_type,
        "lifted": kind.vectorized,
        "open_choices": kind.open_choices,
        "choices": [{"value": choice.value, "help": choice.help} for choice in kind.choices],
    }


def _plain(value: Any) -> bool | float | str | None:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
