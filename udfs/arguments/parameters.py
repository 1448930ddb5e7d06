"""The arguments of one function: which there are, and how raw values are bound to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any, TypeAlias

from udfs.arguments.kinds import Kind, is_blank
from udfs.errors import ArgumentError

Reading: TypeAlias = Callable[[Any, date], Any]

READ_TEXTS = 8_192
"""Texts whose reading is remembered, for each argument: formulas repeat their slugs, fields and options."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a function: its name, its kind, and whether it may be left out.

    `default` is what a formula would give, such as "-1Y".
    """

    name: str
    kind: Kind
    required: bool
    default: Any = None
    _read_text: Reading = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_read_text", lru_cache(maxsize=READ_TEXTS)(self._read))

    def read(self, raw: Any, today: date) -> Any:
        """The value of a raw argument, or the default for a blank one; raises `ArgumentError`.

        What was made of a text is remembered, because reading is a pure function of the text and the day.
        """
        if raw is None:
            raw = ""
        return self._read_text(raw, today) if type(raw) is str else self._read(raw, today)

    def _read(self, raw: Any, today: date) -> Any:
        if not is_blank(raw):
            return self.kind.read(raw, self.name, today)
        if self.required:
            raise ArgumentError(f"{self.name} is missing: {self.kind.help}")
        return None if self.default is None else self.kind.read(self.default, self.name, today)


def parameter_of(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> Parameter:
    """The argument that a function's signature describes by `Annotated[type, kind]`."""
    kind = next(extra for extra in hints[parameter.name].__metadata__ if isinstance(extra, Kind))
    required = parameter.default is parameter.empty
    return Parameter(parameter.name, kind, required, None if required else parameter.default)
