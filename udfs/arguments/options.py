"""Options, a function's last argument: text such as `freq=M; fill=prev`, or a range of two columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Any, ClassVar

from udfs.arguments.kinds import Choice, Kind, Text, is_blank, matrix_of, refuse_error, shown
from udfs.arguments.other_tools import advice, other_word
from udfs.errors import ArgumentError, UdfError

SECOND = re.compile(r",\s*[a-z_]+\s*=", re.IGNORECASE)
"""A second option behind a comma."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name, and the kind that reads (and explains) its value."""

    name: str
    kind: Kind
    default: str | None = None
    """What leaving it out means, where that is one value."""


ERR = Option(
    "err",
    Text(
        help="what the cell shows for an error",
        choices=(Choice("code", "the error itself"), Choice("text", "its message"), Choice("blank", "nothing")),
    ),
    default="code",
)
"""Every function with options has this one; the session acts on it."""


@dataclass(frozen=True, kw_only=True)
class Options(Kind):
    """The options of one function, read into a mapping that holds those which were given."""

    options: tuple[Option, ...] = ()
    python_type: ClassVar[Any] = str | Mapping[str, Any]

    @property
    def allowed(self) -> tuple[Option, ...]:
        """The function's own options, and `err`."""
        return (*self.options, ERR)

    def read(self, raw: Any, name: str, today: date) -> Mapping[str, Any]:
        """The options given; raises `ArgumentError` naming an unknown option or value and the allowed ones.

        One that is given twice must mean the same both times.
        """
        known = {option.name: option for option in self.allowed}
        values: dict[str, Any] = {}
        for key, value in pairs(raw, name, lambda word: self._written_out(word, today)):
            option = known.get(key.casefold())
            if option is None:
                hint = advice("option", key) if "freq" in known else ""
                raise ArgumentError(f"there is no option {shown(key)}" + (hint or f"; there are {', '.join(known)}"))
            if is_blank(value):  # a range of options may have its values still to be filled in
                continue
            named = f"option {option.name}"
            try:
                refuse_error(value, named)
                given = option.kind.read(value, named, today)
            except UdfError as error:
                raise error.about(named) from None
            if values.setdefault(option.name, given) != given:
                raise ArgumentError(f"{named} is given twice, the second time as {shown(value)}")
        return MappingProxyType(values)

    def _written_out(self, word: str, today: date) -> str:
        """What a value alone is with its option, as the end of a message; empty where no option has such a value."""
        for option in self.allowed:
            if (meant := other_word(option.name, word)) or _is_value(option.kind, word, today):
                return f"; did you mean {option.name}={meant or word}?"
        return ""


def _is_value(kind: Kind, word: str, today: date) -> bool:
    """Return whether the option of this kind, and hardly another, has such a value."""
    if any(choice.value.casefold() == word.casefold() for choice in kind.choices):
        return True
    if isinstance(kind, Text):  # an open one takes every text
        return False
    try:
        kind.read(word, "option", today)
    except UdfError:
        return False
    return True


def error_style(raw: Any) -> str:
    """Return how options want errors shown: `code`, `text` or `blank`; where `err` cannot be read, `code`."""
    try:
        if is_blank(raw):
            return "code"
        given = {key.casefold(): value for key, value in pairs(raw, "options")}
        return str(ERR.kind.read(given.get(ERR.name, "code"), ERR.name, date.min))
    except Exception:  # noqa: BLE001 - the call itself tells what is wrong with them
        return "code"


def pairs(raw: Any, name: str, hint: Callable[[str], str] = lambda _: "") -> list[tuple[str, Any]]:
    """The names and raw values in options of any form; raises `ArgumentError` where they have none of these forms.

    `hint` tells of a value that stands alone what it may be.
    """
    if isinstance(raw, Mapping):
        return [(str(key).strip(), value) for key, value in raw.items()]
    rows = matrix_of(raw)
    if rows is not None:
        if any(len(row) != 2 for row in rows):
            raise ArgumentError(f"{name} takes text such as 'freq=M; fill=prev' or a range of two columns")
        named = [row for row in rows if not is_blank(row[0])]
        for key, _ in named:
            refuse_error(key, "the name of an option")
        return [(str(key).strip(), value) for key, value in named]
    if not isinstance(raw, str):
        raise ArgumentError(f"{name} takes text such as 'freq=M; fill=prev', not {shown(raw)}")
    parts = [part.partition("=") for part in raw.replace("\n", ";").split(";") if part.strip()]
    for key, equals, value in parts:
        if SECOND.search(value):
            raise ArgumentError(
                f"{name}: options are separated by semicolons, as in 'freq=M; fill=prev', not by commas"
            )
        if not equals:
            alone = key.strip()
            raise ArgumentError(f"{name}: {shown(alone)} is not of the form option=value{hint(alone)}")
    return [(key.strip(), value.strip()) for key, _, value in parts]
