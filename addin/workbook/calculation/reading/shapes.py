"""What a shape of formulas does: its text for an engine, its calls of ours, its functions, the areas behind names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from addin.formulas import Area
from addin.formulas.lexer import TEXT

Piece: TypeAlias = "str | int | SpillOf | SizedLike | ThisRow | Fixed | Answer"
"""A piece of the engine's text: text, the index of a reference, or something that depends on the cell."""


@dataclass(frozen=True, slots=True)
class SpillOf:
    """The area that the array formula in the cell of this reference fills (`A1#`)."""

    reference: int


@dataclass(frozen=True, slots=True)
class SizedLike:
    """As many cells from a reference on as another one has: what `SUMIF` adds up, however its argument is written."""

    reference: int
    like: int


@dataclass(frozen=True, slots=True)
class ThisRow:
    """The part of an area in the formula's own row (`Table1[@Price]`)."""

    area: Area


@dataclass(frozen=True, slots=True)
class Fixed:
    """An area behind a name or a table reference, as the engine's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call of ours, by its number among the shape's calls."""

    site: int


_TEXT = re.compile(TEXT)

TIMES = frozenset({"TODAY", "NOW"})
RANDOM = frozenset({"RAND", "RANDBETWEEN", "RANDARRAY"})
FOUND_WHILE_CALCULATING = frozenset({"OFFSET", "INDIRECT"})
SEES_ROWS = frozenset({"SUBTOTAL", "AGGREGATE"})
"""Functions that may leave out rows that are hidden or filtered."""

DEPENDS_ON_THE_PROGRAM = frozenset(
    (
        *("CELL", "INFO", "GETPIVOTDATA", "CUBEVALUE", "CUBEMEMBER", "CUBESET", "CUBESETCOUNT", "CUBERANKEDMEMBER"),
        *("CUBEKPIMEMBER", "CUBEMEMBERPROPERTY", "WEBSERVICE", "RTD", "DDE", "IMAGE", "STOCKHISTORY", "FORMULATEXT"),
        *(
            "ISFORMULA",
            "SHEET",
            "SHEETS",
            "TABLE",
            "PY",
            "COPILOT",
            "TRANSLATE",
            "DETECTLANGUAGE",
            "FILTERXML",
            "PHONETIC",
        ),
        *("CALL", "REGISTER.ID", "EUROCONVERT", "IMPORTTEXT", "IMPORTCSV"),
    )
)
"""Functions of more than values: of a program, a file, a place on a sheet, the text of a formula."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition inside a formula: a call of ours is made only where it comes to one of the `wanted` numbers."""

    pieces: tuple[Piece, ...]
    wanted: int


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call of ours in a formula."""

    name: str
    arguments: tuple[tuple[Piece, ...], ...]
    """The formulas that its arguments come to; an empty one is left out."""
    guards: tuple[Guard, ...]
    constants: tuple[Any, ...] | None
    """Its arguments, if all of them are written into the formula."""
    rounds: tuple[Piece, ...] = ()
    """Of a call that depends on what a LAMBDA is handed: the formula that comes to the keys of all calls made."""
    accumulates: bool = False
    """Whether what it was answered decides on which calls follow."""

    @property
    def is_in_branch(self) -> bool:
        """Return whether the formula may come to its value without this call."""
        return bool(self.guards)

    @property
    def needs(self) -> frozenset[int]:
        """The calls whose answers decide on this one."""
        parts = [*self.arguments, self.rounds, *(guard.pieces for guard in self.guards)]
        return frozenset(piece.site for part in parts for piece in part if isinstance(piece, Answer))


class Searched(StrEnum):
    """The order in which values have to be, so that every search for the nearest one finds the same."""

    RISING, FALLING = "rising", "falling"
    IN_ANY_ORDER = "any"
    UNKNOWN = "unknown"
    """What the formula looks up decides on it."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """A lookup of the nearest value: what is looked up, where, and in which order that has to be."""

    name: str
    wanted: tuple[Piece, ...]
    among: tuple[Piece, ...]
    order: Searched
    mode: tuple[Piece, ...] = ()
    """What decides on the order, where that is not written into the formula."""

    def with_parts(self, change: Callable[[tuple[Piece, ...]], Sequence[Piece]]) -> Lookup:
        """Return it with all its parts changed."""
        wanted, among, mode = (tuple(change(each)) for each in (self.wanted, self.among, self.mode))
        return replace(self, wanted=wanted, among=among, mode=mode)


@dataclass(eq=False)
class Shape:
    """The facts that all formulas of one shape have in common."""

    pieces: list[Piece] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    uses: set[tuple[str, str]] = field(default_factory=set)
    """Each function with the kinds of its arguments, as `kinds` names them."""
    areas: list[Area] = field(default_factory=list)
    """Areas behind names and tables, with their sheets."""
    rows: list[Area] = field(default_factory=list)
    """Areas of which only the formula's row counts."""
    calls_ours: bool = False
    sites: list[CallSite] = field(default_factory=list)
    """Its calls of ours."""
    lookups: list[Lookup] = field(default_factory=list)
    """Its lookups of the nearest value."""
    required: list[tuple[tuple[Piece, ...], str]] = field(default_factory=list)
    """Conditions under which it comes to what Excel shows, each with what speaks against it where it does not hold."""
    nudged: list[Piece] = field(default_factory=list)
    """Its pieces with marks on the steps that programs round differently; empty where it has none."""
    whole_areas: list[int] = field(default_factory=list)
    """The references that a function takes as an area, even where it is one cell."""
    ordered: list[int | str] = field(default_factory=list)
    """What it asks whether it is smaller or larger: the index of a reference, or a text."""
    single: list[int] = field(default_factory=list)
    """The references that have to be one cell."""
    is_call: bool = False
    """Whether it is one call of ours and nothing else."""
    joins_texts: bool = False
    joins_or_subtracts: bool = False
    gives_several: bool = False
    """Whether it may come to several values, even from single ones."""
    areas_taken: list[int] = field(default_factory=list)
    """The references that a function takes as an area, where any other takes one of its cells."""
    gives_cells: bool = False
    """Whether it comes to cells, such as a name can stand for, and not to values."""
    is_simple: bool = False
    """Whether it is nothing but arithmetic on cells, which every engine works out alike."""
    comparisons: list[tuple[int | float, int | float]] = field(default_factory=list)
    """Of a simple shape, what it compares: the index of a reference, or a number."""
    refused: str = ""
    """Why it cannot be worked out."""
    hides_references: bool = False
    """Whether it may refer to cells that nobody found in it."""

    # What follows is asked for every formula, and found out once the shape is complete.

    @cached_property
    def is_random(self) -> bool:
        """Return whether it gives another value each time."""
        return bool(self.functions & RANDOM)

    @cached_property
    def shows_time(self) -> bool:
        """Return whether its value depends on when it is worked out."""
        return bool(self.functions & TIMES)

    @cached_property
    def finds_cells(self) -> bool:
        """Return whether it finds the cells that it refers to while it calculates."""
        return self.hides_references or bool(self.functions & FOUND_WHILE_CALCULATING)

    @cached_property
    def sees_rows(self) -> bool:
        """Return whether hidden rows may count for it."""
        return bool(self.functions & SEES_ROWS)

    @cached_property
    def spills(self) -> tuple[SpillOf, ...]:
        """The spills that it refers to."""
        return tuple(piece for piece in self.pieces if isinstance(piece, SpillOf))

    @cached_property
    def sized(self) -> tuple[SizedLike, ...]:
        """The areas whose size another one decides on."""
        return tuple(piece for piece in self.pieces if isinstance(piece, SizedLike))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts that are written into it."""
        pieces = (piece for piece in self.pieces if isinstance(piece, str))
        return tuple(found[1:-1].replace('""', '"') for piece in pieces for found in _TEXT.findall(piece))

    @cached_property
    def written(self) -> Callable[[Sequence[str]], str] | None:
        """Return what writes it for an engine from its references; None where the cell decides on more than these."""
        pattern, places = "", []
        for piece in self.pieces:
            if isinstance(piece, str):
                pattern += piece.replace("%", "%%")
            elif isinstance(piece, Fixed):
                pattern += piece.text.replace("%", "%%")
            elif isinstance(piece, int):
                pattern += "%s"
                places.append(piece)
            else:
                return None
        return lambda references: pattern % tuple([references[place] for place in places])

    def absorb(self, other: Shape) -> None:
        """Count what `other` does as done by this one."""
        self.functions |= other.functions
        self.uses |= other.uses
        self.areas += other.areas
        self.rows += other.rows
        self.calls_ours = self.calls_ours or other.calls_ours
        self.joins_texts = self.joins_texts or other.joins_texts
        self.joins_or_subtracts = self.joins_or_subtracts or other.joins_or_subtracts


@dataclass(frozen=True, slots=True)
class Replacement:
    """The meaning of a name or a table reference: an area, or a formula of its own."""

    pieces: tuple[Piece, ...] = ()
    area: Area | None = None
    this_row: bool = False
    inner: Shape | None = None
    refused: str = ""
    nudged: tuple[Piece, ...] = ()
    """The pieces as `Shape.nudged` has them."""


class Names(Protocol):
    """A lookup of names and table references; see `addin.workbook.calculation.names`."""

    def is_defined(self, text: str, /) -> bool:
        """Return whether the book has a name or a table of this name."""
        ...

    def lambda_of(self, text: str, /) -> Replacement | None:
        """Return the LAMBDA that a defined name stands for; None where it stands for anything else."""
        ...

    def name(self, text: str) -> Replacement:
        """Return what a defined name stands for."""
        ...

    def table(self, text: str) -> Replacement:
        """Return what a table reference stands for."""
        ...

    def calls_ours(self, text: str, /) -> bool:
        """Return whether a defined name stands for something with a call of ours, such as a LAMBDA."""
        ...
