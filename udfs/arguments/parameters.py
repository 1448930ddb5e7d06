"""The parameters of a function: read from its signature, and applied to raw arguments."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any

from udfs.arguments.kinds import Kind, is_blank, refuse_error
from udfs.arguments.python_values import unreadable
from udfs.errors import ArgumentError, UdfError

CACHED_TEXTS = 16_384
"""Texts whose reading is cached, for each parameter: formulas repeat their slugs, fields and options."""

CACHED_CHARACTERS = 100
"""The longest text whose reading is cached."""

CACHED_DAYS = 2
"""Days for which readings are cached: relative text has another value tomorrow."""


_NUMBERS = frozenset({int, float})

_PLAIN = frozenset({*_NUMBERS, str, bool, type(None)})
"""What raises nothing of its own when it is read."""


class Readings(dict[str | None, Any]):
    """The readings of one parameter on one day: `readings[raw]`. Those of texts and of a blank are kept.

    A range raises `TypeError`, as a list does by itself, having no hash.
    """

    def __init__(self, parameter: Parameter, day: date) -> None:
        super().__init__()
        self._parameter = parameter
        self._day = day
        self._of_number = parameter.kind.read

    def of_all(self, given: Sequence[Any]) -> list[Any]:
        """The readings of many."""
        if _NUMBERS.issuperset(map(type, given)):
            return self._parameter.kind.read_numbers(given, self._parameter.name, self._day)
        return list(map(self.__getitem__, given))

    def __missing__(self, raw: Any) -> Any:
        if type(raw) is float or type(raw) is int:  # neither blank nor an error
            try:
                return self._of_number(raw, self._parameter.name, self._day)
            except UdfError as error:
                raise error.about(self._parameter.name) from None
        if isinstance(raw, tuple):
            raise TypeError("a range has no reading of its own")
        value = self._parameter.reading(raw, self._day)
        if raw is None or (type(raw) is str and len(raw) <= CACHED_CHARACTERS):
            if len(self) >= CACHED_TEXTS:
                self.clear()
            self[raw] = value
        return value


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function: its name, its kind, and whether it may be left out.

    `default` is what a formula would give, such as "-1Y".
    """

    name: str
    kind: Kind
    required: bool
    default: Any = None
    on: Callable[[date], Readings] = field(init=False, repr=False, compare=False)
    """The readings on a day."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "on", lru_cache(maxsize=CACHED_DAYS)(lambda day: Readings(self, day)))

    @property
    def missing(self) -> str:
        """What is said where it is required and left out."""
        return f"{self.name} is missing: {self.kind.help}"

    def read(self, raw: Any, today: date) -> Any:
        """The value of a raw argument, or the default for a blank one; raises `ArgumentError`.

        The values of texts are cached, because reading is a pure function of the text and the day.
        """
        if raw is None or type(raw) is str:
            return self.on(today)[raw]
        return self.reading(raw, today)

    def reading(self, raw: Any, today: date) -> Any:
        """The same, worked out each time; an error tells of this argument."""
        try:
            return self._reading(raw, today)
        except UdfError as error:
            raise error.about(self.name) from None
        except Exception as error:
            if type(raw) in _PLAIN:
                raise
            raise unreadable(raw, error).about(self.name) from error

    def _reading(self, raw: Any, today: date) -> Any:
        if type(raw) is float or type(raw) is int:  # neither blank nor an error
            return self.kind.read(raw, self.name, today)
        if not is_blank(raw):
            refuse_error(raw, self.name)
            return self.kind.read(raw, self.name, today)
        if self.required:
            raise ArgumentError(self.missing)
        return None if self.default is None else self.kind.read(self.default, self.name, today)


def signature_of(body: Callable[..., Any]) -> tuple[tuple[Parameter, ...], tuple[str, ...]]:
    """Return what a signature declares: its parameters, by `Annotated[type, kind]`, and the names of keyword-only ones.

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
