"""Following a batch while it runs: who wants its results, what may be fetched, and each result once it is there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar

from dataservice.client import Resource
from udfs.engine.outcome import Outcome, charged_once
from udfs.engine.run import Run
from udfs.errors import CellError

P = ParamSpec("P")
T = TypeVar("T")

_logger = logging.getLogger("udfs")

Gate: TypeAlias = Callable[[Sequence[Resource[Any]]], Awaitable[None]]
"""Called before each round that fetches, with all that it may fetch; what it learns there, its reader can refuse."""


class ResultSink(Protocol):
    """Gets the functions of a batch one by one as they end."""

    @property
    def places(self) -> asyncio.Semaphore:
        """As many may be fetched at a time; what waits for a place is not fetched if nobody wants it by then."""

    def wants(self, run: Run) -> bool:
        """Whether somebody waits for the result of `run`. If nobody does, it is given up and fetches nothing more."""

    def ended(self, run: Run) -> None:
        """`run` ended after it had to wait; it was given up if `run.given_up` says so."""


class CallSink(Protocol):
    """Gets the outcomes of a list of calls one by one; each call is known by its place in the list."""

    @property
    def places(self) -> asyncio.Semaphore:
        """As for a `ResultSink`."""

    def wants(self, place: int) -> bool:
        """Whether somebody waits for the outcome of this call; if nobody does, nothing more is fetched for it."""

    def answered(self, place: int, outcome: Outcome) -> None:
        """The outcome of this call is there."""

    def given_up(self, place: int) -> None:
        """This call ended without an outcome, because nobody wanted it."""


class Reporter:
    """A follower that tells a listener; `outcome_of` makes the outcome of a run, which equal calls share.

    `firsts` are, for each call, the place of its run among those that differ.
    """

    def __init__(
        self, listener: CallSink, firsts: Sequence[int], outcome_of: Callable[[int, Run | CellError], Outcome]
    ) -> None:
        self._listener = listener
        self._outcome_of = outcome_of
        self._calls: dict[int, list[int]] = {}
        for place, first in enumerate(firsts):
            self._calls.setdefault(first, []).append(place)
        self._first_of: dict[int, int] = {}
        self.places = listener.places

    def begun(self, first: int, run: Run | CellError) -> None:
        """The run of these calls has begun; it may have ended already."""
        if isinstance(run, CellError):
            self._tell(first, run)
            return
        self._first_of[id(run)] = first
        if run.asking is None:
            self.ended(run)

    def wants(self, run: Run) -> bool:
        """Return whether the listener wants any of its calls, and has not been told of them."""
        first = self._first_of.get(id(run))
        return first is not None and any(map(self._wants, self._calls[first]))

    def ended(self, run: Run) -> None:
        """Tell the listener."""
        first = self._first_of.pop(id(run))
        if run.given_up:
            for place in self._calls[first]:
                self._safely(self._listener.given_up, place)
        else:
            self._tell(first, run)

    def _wants(self, place: int) -> bool:
        return self._safely(self._listener.wants, place) is not False

    def _tell(self, first: int, run: Run | CellError) -> None:
        outcome = self._outcome_of(first, run)
        places = self._calls[first]
        for place, each in zip(places, charged_once([outcome], [0] * len(places)), strict=True):
            self._safely(self._listener.answered, place, each)

    def _safely(self, told: Callable[P, T], *given: P.args, **named: P.kwargs) -> T | None:
        """Return what the listener says, None where it raises: that harms no other call."""
        try:
            return told(*given, **named)
        except Exception:
            _logger.exception("what follows a batch failed")
            return None
