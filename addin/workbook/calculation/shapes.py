"""What a shape of formulas does: the functions it calls, the places behind its names, and its text for the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from addin.formulas import Area

OMITTED = '"\x01"'
NUMBER_OF_CELL = -1
"""The piece that stands for the number of the formula."""

Piece: TypeAlias = "str | int | SpillOf | ThisRow | Fixed"
"""A piece of the engine's text: text, the index of a reference, or something that depends on the cell."""


@dataclass(frozen=True, slots=True)
class SpillOf:
    """The area that the array formula in the cell of this reference fills (`A1#`)."""

    reference: int


@dataclass(frozen=True, slots=True)
class ThisRow:
    """The part of an area in the formula's own row (`Table1[@Price]`)."""

    area: Area


@dataclass(frozen=True, slots=True)
class Fixed:
    """An area behind a name or a table reference, as the engine's text."""

    text: str


TIMES = frozenset({"TODAY", "NOW"})
RANDOM = frozenset({"RAND", "RANDBETWEEN", "RANDARRAY"})
FOUND_WHILE_CALCULATING = frozenset({"OFFSET", "INDIRECT"})


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


DEPENDS_ON_THE_PROGRAM = _names(
    """
    CELL INFO GETPIVOTDATA CUBEVALUE CUBEMEMBER CUBESET WEBSERVICE RTD DDE IMAGE STOCKHISTORY FORMULATEXT ISFORMULA
    SHEET SHEETS TABLE
    """
)
"""Functions of more than values: of a program, a file, a place on a sheet, the text of a formula."""

MAKES_ARRAYS = _names(
    """
    SEQUENCE SORT SORTBY UNIQUE FILTER TRANSPOSE RANDARRAY TEXTSPLIT VSTACK HSTACK TAKE DROP EXPAND TOCOL TOROW
    WRAPROWS WRAPCOLS CHOOSEROWS CHOOSECOLS MMULT MINVERSE FREQUENCY LINEST LOGEST TREND GROWTH MAP BYROW BYCOL SCAN
    MAKEARRAY MODE.MULT
    """
)
"""Functions that give an array, of which a formula that is no array's shows the first value."""
TABLES = MAKES_ARRAYS | _names(
    """
    INDEX OFFSET INDIRECT XLOOKUP LET LAMBDA REDUCE VLOOKUP HLOOKUP LOOKUP MATCH XMATCH SUMIF SUMIFS COUNTIF COUNTIFS
    AVERAGEIF AVERAGEIFS MAXIFS MINIFS LARGE SMALL RANK RANK.EQ RANK.AVG PERCENTILE PERCENTILE.INC PERCENTILE.EXC
    PERCENTRANK PERCENTRANK.INC PERCENTRANK.EXC QUARTILE QUARTILE.INC QUARTILE.EXC NPV FORECAST FORECAST.LINEAR
    """
)
"""Functions that may give more than one value, if only for an argument that should be one."""

TAKES_RANGES = _names(
    """
    SUM AVERAGE AVERAGEA COUNT COUNTA COUNTBLANK MIN MINA MAX MAXA PRODUCT MEDIAN STDEV STDEVA STDEVP STDEVPA
    STDEV.S STDEV.P VAR VARA VARP VARPA VAR.S VAR.P SUMIF SUMIFS COUNTIF COUNTIFS AVERAGEIF AVERAGEIFS MAXIFS MINIFS
    VLOOKUP HLOOKUP LOOKUP MATCH INDEX XLOOKUP XMATCH ROWS COLUMNS AREAS LARGE SMALL RANK RANK.EQ RANK.AVG
    PERCENTILE PERCENTILE.INC PERCENTILE.EXC PERCENTRANK PERCENTRANK.INC PERCENTRANK.EXC QUARTILE QUARTILE.INC
    QUARTILE.EXC CORREL PEARSON RSQ SLOPE INTERCEPT STEYX FORECAST FORECAST.LINEAR COVAR COVARIANCE.P COVARIANCE.S
    NPV IRR MIRR XNPV XIRR CONCAT TEXTJOIN AND OR XOR SUBTOTAL AGGREGATE SUMSQ SUMX2MY2 SUMX2PY2 SUMXMY2 DEVSQ
    AVEDEV GEOMEAN HARMEAN SKEW KURT TRIMMEAN MODE MODE.SNGL MODE.MULT SUMPRODUCT OFFSET FREQUENCY TRANSPOSE MMULT
    MDETERM MINVERSE GCD LCM MULTINOMIAL NETWORKDAYS WORKDAY NETWORKDAYS.INTL WORKDAY.INTL TREND GROWTH LINEST
    LOGEST SORT SORTBY UNIQUE FILTER TAKE DROP VSTACK HSTACK TOCOL TOROW CHOOSEROWS CHOOSECOLS EXPAND WRAPROWS
    WRAPCOLS LET ISREF DSUM DCOUNT DCOUNTA DAVERAGE DMIN DMAX DGET DPRODUCT DSTDEV DVAR SERIESSUM PROB CHISQ.TEST
    T.TEST F.TEST Z.TEST FVSCHEDULE ARRAYTOTEXT MAP REDUCE BYROW BYCOL SCAN ISFORMULA SHEET FORMULATEXT
    """
)
"""Functions one of whose arguments is a range; any other takes one cell of it, unless the formula is an array's."""
TAKES_ARRAYS = _names(
    """
    SUMPRODUCT FILTER SORTBY XLOOKUP XMATCH SORT UNIQUE MMULT TRANSPOSE LET
    """
)
"""Functions inside which everything is worked out for whole ranges."""


_ONE_CELL = {
    name: frozenset(map(int, places.split()))
    for places, names in {
        "0": "LOOKUP XMATCH XLOOKUP NPV SUBTOTAL FORECAST FORECAST.LINEAR",
        "0 1": "NETWORKDAYS WORKDAY AGGREGATE",
        "0 1 2": "NETWORKDAYS.INTL WORKDAY.INTL",
        "0 2": "MATCH RANK RANK.EQ RANK.AVG",
        "0 2 3": "VLOOKUP HLOOKUP",
        "1": "SUMIF COUNTIF AVERAGEIF LARGE SMALL PERCENTILE PERCENTILE.INC PERCENTILE.EXC QUARTILE QUARTILE.INC "
        "QUARTILE.EXC IRR TRIMMEAN",
        "1 2": "PERCENTRANK PERCENTRANK.INC PERCENTRANK.EXC MIRR",
        "1 2 3": "INDEX",
        "1 2 3 4": "OFFSET",
        "2": "XIRR",
    }.items()
    for name in names.split()
}
_CRITERIA = {"COUNTIFS": 1, "SUMIFS": 0, "AVERAGEIFS": 0, "MAXIFS": 0, "MINIFS": 0}


def takes_range(name: str, place: int) -> bool:
    """Whether the argument at this place, from 0, of a function in `TAKES_RANGES` may be a range.

    >>> takes_range("VLOOKUP", 0), takes_range("VLOOKUP", 1), takes_range("SUMIFS", 2), takes_range("SUM", 5)
    (False, True, False, True)
    """
    if name in _CRITERIA:
        return place == 0 or place % 2 != _CRITERIA[name]
    return place not in _ONE_CELL.get(name, ())


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call of ours in a formula."""

    name: str
    constants: tuple[Any, ...] | None
    """Its arguments, if all of them are written into the formula."""
    is_in_branch: bool
    """Whether the formula may come to its value without this call."""
    calls_inside: bool
    """Whether an argument calls a function of ours."""


@dataclass
class Shape:
    """What all formulas of one shape have in common."""

    pieces: list[Piece] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    areas: list[Area] = field(default_factory=list)
    """Areas behind names and tables, with their sheets."""
    rows: list[Area] = field(default_factory=list)
    """Areas of which only the formula's row counts."""
    calls_ours: bool = False
    sites: list[CallSite] = field(default_factory=list)
    """Its calls of ours."""
    is_call: bool = False
    """Whether it is one call of ours and nothing else."""
    joins_or_subtracts: bool = False
    may_be_table: bool = False
    intersected: list[int | Fixed] = field(default_factory=list)
    """Where a formula that is no array's would take one cell of a range, if it is a range."""
    refused: str = ""
    """Why it cannot be worked out."""
    hides_references: bool = False
    """Whether it may refer to cells that nobody found in it."""

    # What follows is asked for every formula, and found out once the shape is complete.

    @cached_property
    def is_random(self) -> bool:
        """Whether it gives another value each time."""
        return bool(self.functions & RANDOM)

    @cached_property
    def shows_time(self) -> bool:
        """Whether its value depends on when it is worked out."""
        return bool(self.functions & TIMES)

    @cached_property
    def finds_cells(self) -> bool:
        """Whether it finds the cells that it refers to while it calculates."""
        return self.hides_references or bool(self.functions & FOUND_WHILE_CALCULATING)

    @cached_property
    def spills(self) -> tuple[SpillOf, ...]:
        """The spills that it refers to."""
        return tuple(piece for piece in self.pieces if isinstance(piece, SpillOf))

    @cached_property
    def shows_first(self) -> bool:
        """Whether a formula that is no array's shows the first of several values; else it takes one cell of a range."""
        return self.functions <= MAKES_ARRAYS

    @cached_property
    def written(self) -> Callable[[Sequence[str], str], str] | None:
        """What writes it for the engine from references and number; None where the cell decides on more than these."""
        pattern, places = "", []
        for piece in self.pieces:
            if isinstance(piece, str):
                pattern += piece.replace("%", "%%")
            elif isinstance(piece, int):
                pattern += "%s"
                places.append(piece)
            else:
                return None
        # The number is the last of all values, and NUMBER_OF_CELL the index of the last.
        return lambda references, number: pattern % tuple([(*references, number)[place] for place in places])

    def absorb(self, other: Shape) -> None:
        """Count what `other` does as done by this one."""
        self.functions |= other.functions
        self.areas += other.areas
        self.rows += other.rows
        self.intersected += [each for each in other.intersected if isinstance(each, Fixed)]
        self.calls_ours = self.calls_ours or other.calls_ours
        self.sites += other.sites
        self.joins_or_subtracts = self.joins_or_subtracts or other.joins_or_subtracts
        self.may_be_table = self.may_be_table or other.may_be_table


@dataclass(frozen=True, slots=True)
class Replacement:
    """What a name or a table reference stands for: an area, or a formula of its own."""

    pieces: tuple[Piece, ...] = ()
    area: Area | None = None
    this_row: bool = False
    inner: Shape | None = None
    refused: str = ""


class Names(Protocol):
    """How names and table references are looked up; see `addin.workbook.calculation.names`."""

    def name(self, text: str) -> Replacement:
        """What a defined name stands for."""
        ...

    def table(self, text: str) -> Replacement:
        """What a table reference stands for."""
        ...

    def calls_ours(self, text: str, /) -> bool:
        """Whether a defined name stands for something with a call of ours, such as a LAMBDA."""
        ...
