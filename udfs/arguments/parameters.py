"""The parameters of a function: read from its signature, and applied to raw arguments."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any

from udfs.arguments.kinds import Kind, is_blank, refuse_error
from udfs.errors import ArgumentError

CACHED_TEXTS = 8_192
"""Texts whose reading is cached, for each parameter: formulas repeat their slugs, fields and options."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function: its name, its kind, and whether it may be left out.

    `default` is what a formula would give, such as "-1Y".
    """

    name: str
    kind: Kind
    required: bool
    default: Any = None
    _read_text: Callable[[str, date], Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_read_text", lru_cache(maxsize=CACHED_TEXTS)(self._read))

    def read(self, raw: Any, today: date) -> Any:
        """The value of a raw argument, or the default for a blank one; raises `ArgumentError`.

        The values of texts are cached, because reading is a pure function of the text and the day.
        """
        if raw is None:
            raw = ""
        return self._read_text(raw, today) if type(raw) is str else self._read(raw, today)

    def _read(self, raw: Any, today: date) -> Any:
        if not is_blank(raw):
            refuse_error(raw, self.name)
            return self.kind.read(raw, self.name, today)
        if self.required:
            raise ArgumentError(f"{self.name} is missing: {self.kind.help}")
        return None if self.default is None else self.kind.read(self.default, self.name, today)


def signature_of(body: Callable[..., Any]) -> tuple[tuple[Parameter, ...], tuple[str, ...]]:
    """What a signature declares: its parameters, by `Annotated[type, kind]`, and the names of keyword-only ones.

    Callers give the first; the second, such as `today`, is injected by what runs the function.
    """
    hints = typing.get_type_hints(body, include_extras=True)
    parameters: list[Parameter] = []
    injected: list[str] = []
    for each in inspect.signature(body).parameters.values():
        if each.kind is each.KEYWORD_ONLY:
            injected.append(each.name)
            continue
        kind = next(extra for extra in hints[each.name].__metadata__ if isinstance(extra, Kind))
        required = each.default is each.empty
        parameters.append(Parameter(each.name, kind, required, None if required else each.default))
    return tuple(parameters), tuple(injected)
