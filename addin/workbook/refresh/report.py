"""What a refresh of a book would spend, and what it did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

from addin.workbook.calculation.influence import Place
from addin.workbook.ooxml.book import Book
from addin.workbook.refresh.dependencies import CellNote
from dataservice.client import Cost
from udfs import Call
from udfs.cells import Scalar
from udfs.engine import Outcome


@dataclass(frozen=True, slots=True)
class BookCost:
    """The requests that a refresh of a book would spend now."""

    cost: Cost
    remaining: int | None
    """Requests left to the key this month; None when the service has not said so yet."""
    cells: int
    fresh_cells: int
    by_sheet: dict[tuple[str, str], tuple[int, Cost]]
    """Sheet and function → formulas, and the requests they would spend on their own."""
    skipped: Sequence[CellNote] = ()
    calls: Sequence[Call] = ()
    """The calls that a refresh certainly makes, for a cost of several books together."""
    possible: Sequence[Call] = ()
    """Calls that it may make as well; an answer that is not known yet decides."""
    guessed: Sequence[Call] = ()
    """Calls that it likely makes: their arguments rest on answers, and are those that the book shows now."""
    is_open: bool = False
    """Whether there may be further calls, whose arguments are not known yet."""

    @property
    def affordable(self) -> bool:
        """Return whether the refresh may finish: not if its fewest requests are too many."""
        return self.remaining is None or self.cost.at_least <= self.remaining

    @property
    def requests(self) -> int:
        """The highest number of requests where there is one, else the lowest."""
        return self.cost.number


def open_cost(least: Cost, usual: int | None) -> Cost:
    """The cost of calls of which not all are known: at least `least`, likely `usual`."""
    likely = least.usual if usual is None else max(usual, least.usual or 0)
    return replace(least, at_most=None, likely=likely)


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call of ours in a cell, and what it was answered; a formula may hold several calls."""

    cell: Place
    formula: str
    call: Call
    outcome: Outcome


class CalculatedCell(NamedTuple):
    """A formula that is not one call of ours, and that a refresh worked out or left at its old value."""

    cell: Place
    formula: str
    old: Scalar
    new: Scalar
    """What the cell shows now; `old` where it is unproven."""
    unproven: str = ""
    """Why the old value stays; empty for a value that was worked out."""
    compared: bool = True
    """Whether the value that the file held could be worked out first, to compare."""
    rests_on_ours: bool = True
    """Whether it rests on a value of ours; the others had no value in the file, or show the time."""


@dataclass(slots=True)
class Refreshed:
    """The result of a refresh."""

    cells: int = 0
    """Formulas computed."""
    written: set[Place] = field(default_factory=set)
    """Those of them that show something new."""
    changed: set[Place] = field(default_factory=set)
    """All cells that show something new, those that spills fill too."""
    passing: set[Place] = field(default_factory=set)
    """Cells that show an error that may pass, because there is no value yet."""
    resized: bool = False
    """Whether a spill changed its size, or filled cells that were not there."""
    blocked: bool = False
    """Whether a spill had no room."""
    requests: int = 0
    kept: list[CellNote] = field(default_factory=list)
    """Formulas whose old value stays, because there is no new one or it does not fit."""
    notes: list[CellNote] = field(default_factory=list)
    skipped: list[CellNote] = field(default_factory=list)
    errors: list[CellNote] = field(default_factory=list)
    mended: set[Place] = field(default_factory=set)
    """Formulas that Excel would not have computed as they were stored, and that are written anew."""
    answered: list[AnsweredCall] = field(default_factory=list)
    """Every call of ours with its answer."""
    calculated: list[CalculatedCell] = field(default_factory=list)
    """Every other formula that rests on values of ours, worked out or left."""
    referring: list[CalculatedCell] = field(default_factory=list)
    """Every formula that only shows a cell of ours, or links to it."""
    recalculates: bool = False
    """Whether Excel recalculates all formulas when it opens the book, because some depend on changed values."""
    is_saved: bool = False
    """Whether the file was written; a book in which nothing changed is left alone."""
    not_stamped: str = ""
    """Why what was signed has no time stamp though one was asked for."""

    @property
    def formulas(self) -> int:
        """The formulas of ours that were computed, and the others that rest on them."""
        return self.cells + len(self.calculated)

    @property
    def unproven(self) -> list[CalculatedCell]:
        """The formulas that keep an old value, because nothing shows that another one would be right."""
        return [cell for cell in self.calculated if cell.unproven]

    @property
    def is_current(self) -> bool:
        """Return whether every formula of ours shows a current value, and a time stamp that was asked for was had."""
        return not (self.kept or self.errors or self.skipped or self.unproven or self.not_stamped)

    def follow(self, before: Refreshed) -> None:
        """Count what an earlier pass over the same book did as done too."""
        self.written |= before.written
        self.changed |= before.changed
        self.requests += before.requests
        self.calculated = _since(before.calculated, self.calculated)
        self.referring = _since(before.referring, self.referring)


def _since(before: Iterable[CalculatedCell], now: Iterable[CalculatedCell]) -> list[CalculatedCell]:
    """The cells of both passes, each with the value it had at first and the one it has now."""
    found = {cell.cell: cell for cell in before}
    for cell in now:
        first = found.get(cell.cell)
        found[cell.cell] = cell._replace(old=first.old, compared=first.compared) if first else cell
    return list(found.values())


Around: TypeAlias = AbstractContextManager[object]


class Signing(Protocol):
    """Signs what a refresh writes."""

    not_stamped: str
    """Why the last book has no time stamp though one was asked for."""

    def signed(
        self, book: Book, report: Refreshed, target: Path, changed: Mapping[str, bytes]
    ) -> tuple[dict[str, bytes], Around]:
        """The parts that travel with the book at `target`, and a block inside of which the file is put in place.

        `changed` are the parts that will be written beside these.
        """
