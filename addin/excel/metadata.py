"""What Excel knows about our functions before it calls one: the metadata in `/functions.json`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from udfs.arguments import Names, Options, Parameter
from udfs.engine import Udf

MAX_DESCRIPTION, MAX_PARAMETER_DESCRIPTION = 1024, 512
"""Characters; Excel refuses the whole file for a longer description."""

_DEFAULT_NAMESPACE = re.compile(r"\bDS\.(?=[A-Z])")


def in_namespace(text: str, namespace: str) -> str:
    """The text with formulas as users of `namespace` type them.

    >>> in_namespace('=DS.SIGNAL("us-cpi")', "ACME")
    '=ACME.SIGNAL("us-cpi")'
    """
    return _DEFAULT_NAMESPACE.sub(f"{namespace}.", text)


def functions_metadata(functions: Iterable[Udf], *, base_url: str, namespace: str = "DS") -> dict[str, Any]:
    """The content of `/functions.json`: every function with its arguments, and the drop-downs of those with choices.

    >>> from udfs import REGISTRY
    >>> sorted(functions_metadata(REGISTRY.values(), base_url="https://localhost:8765"))[-2:]
    ['enums', 'functions']
    """
    described = list(functions)
    drop_downs = [(function, p) for function in described for p in function.parameters if _has_drop_down(p)]
    return {
        "allowCustomDataForDataTypeAny": True,
        "allowErrorForDataTypeAny": True,
        "functions": [_function(function, base_url, namespace) for function in described],
        "enums": [_enum(function, parameter) for function, parameter in drop_downs],
    }


def _function(function: Udf, base_url: str, namespace: str) -> dict[str, Any]:
    """One function. Each may return several cells: a table, or one for every cell of a range argument."""
    return {
        "id": function.id,
        "name": function.id,
        "description": _shortened(function.summary, namespace, MAX_DESCRIPTION),
        "helpUrl": f"{base_url}/help/{function.id}",
        "parameters": [_parameter(function, parameter, namespace) for parameter in function.parameters],
        "result": {"type": "any", "dimensionality": "matrix"},
        # Excel tells when a cell that waits is deleted or calculated again.
        "options": {"cancelable": True},
    }


def _parameter(function: Udf, parameter: Parameter, namespace: str) -> dict[str, Any]:
    """One argument. Its type is `any` where possible, so that a wrong argument gets our message, not Excel's."""
    drop_down = _has_drop_down(parameter)
    described = {
        "name": parameter.name,
        "description": _shortened(_explained(parameter), namespace, MAX_PARAMETER_DESCRIPTION),
        "type": "string" if drop_down else "any",
        "dimensionality": "matrix" if _accepts_ranges(parameter) else "scalar",
        "optional": not parameter.required,
    }
    return {**described, "customEnumId": _enum_id(function, parameter)} if drop_down else described


def _accepts_ranges(parameter: Parameter) -> bool:
    return parameter.kind.vectorized or isinstance(parameter.kind, Names | Options)


def _has_drop_down(parameter: Parameter) -> bool:
    """Return whether Excel offers a drop-down: it does so for single values only, and then accepts no other value."""
    return bool(parameter.kind.choices) and not parameter.kind.open_choices and not _accepts_ranges(parameter)


def _enum(function: Udf, parameter: Parameter) -> dict[str, Any]:
    choices = parameter.kind.choices
    values = [{"name": c.value, "stringValue": c.value, "tooltip": c.help or c.value} for c in choices]
    return {"id": _enum_id(function, parameter), "type": "string", "values": values}


def _enum_id(function: Udf, parameter: Parameter) -> str:
    return f"{function.id}_{parameter.name}".upper()


def _explained(parameter: Parameter) -> str:
    """The help, with the choices that no drop-down shows, and the default."""
    parts = [parameter.kind.help]
    if parameter.kind.choices and not _has_drop_down(parameter):
        parts.append("such as " + ", ".join(choice.value for choice in parameter.kind.choices))
    if isinstance(parameter.kind, Options):
        parts.append("options: " + ", ".join(option.name for option in parameter.kind.allowed))
    if parameter.default is not None:
        parts.append(f"left out: {parameter.default}")
    return "; ".join(parts)


def _shortened(text: str, namespace: str, longest: int) -> str:
    """The text in the namespace in use, cut to the length that Excel accepts."""
    text = in_namespace(text, namespace)
    return text if len(text) <= longest else text[: longest - 1] + "…"
