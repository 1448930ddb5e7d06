"""The registry as messages: what the wizard, Calc and `addin functions` show of every function."""

from __future__ import annotations

from typing import Any

from addin.protocol.messages import ChoiceHelp, FunctionHelp, OptionHelp, ParameterHelp
from udfs.arguments import Kind, Options, Parameter
from udfs.engine import Udf


def describe(function: Udf) -> FunctionHelp:
    """Return one function with its help, examples and arguments."""
    return FunctionHelp(
        id=function.id,
        group=function.group,
        summary=function.summary,
        details=function.details,
        shape=function.shape,
        examples=list(function.examples),
        parameters=[_parameter(parameter) for parameter in function.parameters],
    )


def _parameter(parameter: Parameter) -> ParameterHelp:
    options = parameter.kind.allowed if isinstance(parameter.kind, Options) else ()
    return ParameterHelp(
        name=parameter.name,
        default=_plain(parameter.default),
        **_kind(parameter.kind),
        required=parameter.required,
        options=[OptionHelp(name=each.name, default=each.default, **_kind(each.kind)) for each in options],
    )


def _kind(kind: Kind) -> dict[str, Any]:
    return {
        "help": kind.help,
        "example": kind.example,
        "type": kind.host_type,
        "lifted": kind.vectorized,
        "open_choices": kind.open_choices,
        "choices": [ChoiceHelp(choice.value, choice.help) for choice in kind.choices],
    }


def _plain(value: Any) -> bool | float | str | None:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
