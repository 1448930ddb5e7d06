"""What a tool is: a coroutine of the library's kind (`udfs.needs`) with a description that a model can read.

A tool is declared as a function of the library is: its arguments are annotated with the same kinds, so that a model may
give them as a formula does, and a wrong one is refused in the same words.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeAlias

from udfs.errors import ArgumentError
from udfs.lookup import nearest
from udfs.needs import Asking
from udfs.parameters import Parameter, parameter_of

__all__ = ["Found", "Schema", "Tool", "tool"]

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a tool found: the members of its result, and how to get more where there is more."""

    members: Mapping[str, Any]
    more: str | None = None


Body: TypeAlias = Callable[..., Coroutine[Any, Any, Found]]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: what it is called, what it takes, what it gives, and the coroutine that answers."""

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    result: Mapping[str, Schema]
    """The schema of every member of its result."""
    optional: frozenset[str]
    """Members that a result may lack."""
    body: Body = field(repr=False)

    def bind(self, arguments: Mapping[str, Any], today: date) -> Asking[Found]:
        """The call with these arguments, ready for a driver; raises `ArgumentError` where one is wrong."""
        known = [parameter.name for parameter in self.parameters]
        for name in arguments:
            if name not in known:
                guess = nearest(name, known)
                advice = f"did you mean {guess}?" if guess else f"there are {', '.join(known)}"
                raise ArgumentError(f"{self.name} has no argument '{name[:60]}'; {advice}")
        values = {parameter.name: parameter.read(arguments.get(parameter.name), today) for parameter in self.parameters}
        return self.body(**values, today=today)


def tool(*, title: str, result: Mapping[str, Schema], optional: frozenset[str] = frozenset()) -> Callable[[Body], Tool]:
    """Make a tool of a coroutine; its name is the tool's, its docstring the description that a model reads."""

    def describe(body: Body) -> Tool:
        hints = typing.get_type_hints(body, include_extras=True)
        parameters = inspect.signature(body).parameters.values()
        return Tool(
            name=body.__name__,
            title=title,
            description=_unwrapped(inspect.cleandoc(body.__doc__ or "")),
            parameters=tuple(parameter_of(each, hints) for each in parameters if each.kind != each.KEYWORD_ONLY),
            result=result,
            optional=optional,
            body=body,
        )

    return describe


def _unwrapped(text: str) -> str:
    """The paragraphs of a docstring, each in one line."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
