"""The kinds of arguments: what a formula may give, and how it is read.

A raw argument is what a host hands over: None or "" (left out), bool, number, text, a date from Python, or a range as
a list of rows. Reading one is a pure function of the argument and the day.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from math import isfinite
from typing import Any, ClassVar, Self, TypeGuard

from udfs.arguments.other_tools import advice
from udfs.errors import ArgumentError, CellError, ErrorCode, NoDataError

CELL_ERRORS = ("#N/A", "#VALUE!", "#REF!", "#DIV/0!", "#NUM!", "#NAME?", "#NULL!", "#SPILL!", "#CALC!", "#GETTING_DATA")
"""How the errors of spreadsheet programs are written."""


MAX_BITS = 1_000
"""A cell's numbers are smaller than 2 to the power of 1,024; Python's own are not, nor can all of them be written."""

DIGITS_A_BIT = 0.30103

MAX_TEXT_ARGUMENT = 1_000
"""The longest name, search or other text that one argument may be: longer than any, and soon looked through."""

MAX_NAMES = 1_000
"""The most names that one argument may list, each of which costs work, and often a request."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One allowed value of an argument or option, with the words a drop-down shows."""

    value: str
    help: str = ""


class Explained(StrEnum):
    """An enumeration whose members say what they are: `NAME = "value", "the words a drop-down shows"`."""

    help: str

    def __new__(cls, value: str, help: str = "") -> Self:  # noqa: A002 - as `Choice` calls it
        """The member of `value`, with its help."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.help = help
        return member


@dataclass(frozen=True, kw_only=True)
class Kind(ABC):
    """An argument's kind: its help, its choices, and how a raw value becomes what the function works with.

    `vectorized`: a range is answered cell by cell and spills. `open_choices`: other values are allowed too.
    """

    help: str
    example: str = ""
    choices: tuple[Choice, ...] = ()
    open_choices: bool = False
    vectorized: bool = False
    first_of_period: bool = False
    """Whether a period, such as a month of pandas, is meant by its first day, as for a start; else by its last."""
    host_type: ClassVar[str] = "any"
    python_type: ClassVar[Any] = str
    """What Python's completion and type hints show; a host may give more forms."""

    @abstractmethod
    def read(self, raw: Any, name: str, today: date) -> Any:
        """The value in `raw`; raises `ArgumentError` naming the argument, what was given and what is allowed.

        A pure function of its arguments: the readings of texts are cached.
        """

    def read_numbers(self, raw: Sequence[float], name: str, today: date) -> list[Any]:
        """Return what `read` gives for each of many numbers."""
        return [self.read(number, name, today) for number in raw]

    def _one(self, raw: Any, name: str) -> Any:
        if matrix_of(raw) is not None:
            raise ArgumentError(f"{name} takes one value, not a range")
        return raw


@dataclass(frozen=True, kw_only=True)
class Text(Kind):
    """One text; with `choices` only those, in any case. `place` says which words of other tools get advice."""

    place: str = ""
    host_type: ClassVar[str] = "string"

    def read(self, raw: Any, name: str, today: date) -> str:  # noqa: ARG002 - one signature for every kind
        """The text, stripped; a whole number is taken as its digits."""
        raw = self._one(raw, name)
        refuse_error(raw, name)
        if isinstance(raw, float) and raw.is_integer():
            raw = int(raw)
        if isinstance(raw, bool | datetime | date) or not isinstance(raw, str | int) or is_huge(raw):
            raise ArgumentError(f"{name} takes text, not {shown(raw)}")
        text = str(raw).strip()
        if len(text) > MAX_TEXT_ARGUMENT:
            raise ArgumentError(f"{name} takes text of at most {MAX_TEXT_ARGUMENT:,} characters, not {len(text):,}")
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise ArgumentError(f"{name} holds half of a character, as a text that was cut does: give it whole")
        if not self.choices or self.open_choices:
            return text
        for choice in self.choices:
            if choice.value.casefold() == text.casefold():
                return choice.value
        hint = advice(self.place, text) if self.place else ""
        raise ArgumentError(f"{name} {shown(text)} is not one of {', '.join(c.value for c in self.choices)}{hint}")


@dataclass(frozen=True, kw_only=True)
class OneOf(Text):
    """One member of an enumeration, by its value in any case."""

    members: type[Explained]

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", tuple(Choice(each.value, each.help) for each in self.members))

    def read(self, raw: Any, name: str, today: date) -> Explained:
        """The member."""
        return self.members(Text.read(self, raw, name, today))


@dataclass(frozen=True, kw_only=True)
class Names(Kind):
    """One or several names: a text, a comma-separated text or a range; at most `most`, with `choices` only those."""

    most: int = MAX_NAMES
    python_type: ClassVar[Any] = str | Iterable[str]

    def read(self, raw: Any, name: str, today: date) -> tuple[str, ...]:
        """The names in reading order, blanks left out."""
        rows = matrix_of(raw)
        items = [raw] if rows is None else [item for row in rows for item in row if not is_blank(item)]
        one = Text(help=self.help, choices=self.choices, open_choices=self.open_choices)
        parts = [part for item in items for part in (item.split(",") if isinstance(item, str) else [item])]
        texts = [part for part in parts if not is_blank(part)]  # TEXTJOIN leaves blanks between commas
        if len(texts) > self.most:
            raise ArgumentError(f"{name} takes at most {self.most:,} names, not {len(texts):,}")
        return tuple(one.read(text, name, today) for text in texts)


@dataclass(frozen=True, kw_only=True)
class Number(Kind):
    """One number between `least` and `most`, both allowed."""

    least: float = float("-inf")
    most: float = float("inf")
    host_type: ClassVar[str] = "number"
    python_type: ClassVar[Any] = float

    def read(self, raw: Any, name: str, today: date) -> float:  # noqa: ARG002 - one signature for every kind
        """The number; text that is one counts."""
        value = self._one(raw, name)
        try:
            is_number = isinstance(value, int | float | str) and not isinstance(value, bool)
            number = float(value if is_number else "x")  # a time of numpy would be one too
        except (ValueError, OverflowError):
            raise ArgumentError(f"{name} takes a number, not {shown(raw)}") from None
        if not isfinite(number):
            raise ArgumentError(f"{name} takes a number, not {shown(raw)}")
        if not self.least <= number <= self.most:
            raise ArgumentError(f"{name} {shown(raw)} is not {_between(self.least, self.most)}")
        return number


@dataclass(frozen=True, kw_only=True)
class Count(Number):
    """One whole number."""

    python_type: ClassVar[Any] = int
    least: float = 1
    most: float = 1_000_000

    def read(self, raw: Any, name: str, today: date) -> int:
        """The whole number."""
        number = Number.read(self, raw, name, today)
        if number != int(number):
            raise ArgumentError(f"{name} takes a whole number, not {shown(raw)}")
        return int(number)


@dataclass(frozen=True, kw_only=True)
class Flag(Kind):
    """Yes or no."""

    host_type: ClassVar[str] = "boolean"
    python_type: ClassVar[Any] = bool
    words: ClassVar[Mapping[str, bool]] = {
        **dict.fromkeys(("true", "yes", "1"), True),
        **dict.fromkeys(("false", "no", "0"), False),
    }

    def read(self, raw: Any, name: str, today: date) -> bool:  # noqa: ARG002 - one signature for every kind
        """True or false; TRUE, yes and 1 count as true."""
        word = shown(raw) if isinstance(raw, float) or is_huge(raw) else str(self._one(raw, name)).casefold()
        if word not in self.words:
            raise ArgumentError(f"{name} takes TRUE or FALSE, not {shown(raw)}")
        return self.words[word]


def refuse_error(raw: Any, name: str) -> None:
    """Raise the error that an argument is itself: the result of the call, or of its own place in a range.

    A host passes it as a `CellError`, or as text that begins with its code.
    """
    code = _code_of(raw) if isinstance(raw, CellError) else raw
    if not isinstance(code, str) or not code.startswith(CELL_ERRORS):
        return
    message = f"{name} is an error itself ({code.split()[0]})"
    if code.startswith(ErrorCode.VALUE):
        raise ArgumentError(message)
    raise NoDataError(message)


def _code_of(error: CellError) -> str:
    """Return what a cell with an error shows; one that is not ours has its code as its message."""
    return error.message if error.message in CELL_ERRORS else str(error.code)


def _between(least: float, most: float) -> str:
    if most == float("inf"):
        return f"{least:,.15g} or more"
    return f"{most:,.15g} or less" if least == float("-inf") else f"between {least:,.15g} and {most:,.15g}"


def is_blank(raw: Any) -> bool:
    """Return whether an argument is left out: nothing, empty text, or a range of nothing but blank cells."""
    if isinstance(raw, str):
        return str.isspace(raw) or str.__len__(raw) == 0
    rows = matrix_of(raw)
    return raw is None if rows is None else all(is_blank(item) for row in rows for item in row)


def matrix_of(raw: Any) -> Sequence[Sequence[Any]] | None:
    """The rows of a range; a flat list is a column; None for anything that is not a range."""
    if not isinstance(raw, list | tuple):
        return None
    return [row if isinstance(row, list | tuple) else [row] for row in raw]


def is_huge(raw: Any) -> TypeGuard[int]:
    """Return whether a whole number of Python lies beyond every number that a cell can hold."""
    return isinstance(raw, int) and raw.bit_length() > MAX_BITS


def shown(raw: Any) -> str:
    """Return what was given, as an error message shows it: quoted and short."""
    if isinstance(raw, float):
        return f"{raw:.15g}"  # a whole number as in the formula, without .0
    if isinstance(raw, CellError):
        return _code_of(raw)
    if is_huge(raw):
        return f"a number of {raw.bit_length() * DIGITS_A_BIT:,.0f} digits"
    try:
        text = f"'{raw}'" if isinstance(raw, str) else repr(raw)
    except Exception:  # noqa: BLE001 - a program's own class
        text = f"a {type(raw).__name__}"
    text = text if text.isascii() else text.encode(errors="backslashreplace").decode()  # half of a character
    return text if len(text) <= 60 else f"{text[:57]}…"
