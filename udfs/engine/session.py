"""A session answers calls of functions: it binds, runs and accounts, for one client and one clock."""

from __future__ import annotations

import time
from collections.abc import AsyncIterable, Callable, Hashable, Mapping, Sequence
from typing import Any

import msgspec

from dataservice.client import AsyncClient, Cost, Refresh, Resource
from dataservice.client.contract import utc_day
from dataservice.client.cost import UNKNOWN
from dataservice.errors import DataServiceError
from udfs.cells import in_python
from udfs.engine.batch import Batch, Inventory, Reader
from udfs.engine.binding import AtHand, Bindings, EqualCalls
from udfs.engine.binding import Call as Call  # what a session is given and gives is found beside it
from udfs.engine.costs.estimator import CostEstimator, Guess, spread
from udfs.engine.costs.snapshot import Snapshot
from udfs.engine.costs.strangers import for_all, standing_for_all
from udfs.engine.following import CallSink, Gate, Reporter
from udfs.engine.in_python.gathering import Gathering
from udfs.engine.outcome import Outcome as Outcome
from udfs.engine.outcome import Stale as Stale
from udfs.engine.outcome import charged_once, outcome_of
from udfs.engine.registry import REGISTRY
from udfs.engine.run import Run
from udfs.engine.scheduler import LIGHT_ITEMS_A_LOOK, in_turns, yielding
from udfs.errors import CellError, UdfError


class CostPreview(msgspec.Struct, frozen=True):
    """What a batch would spend if it were sent now, as far as can be known without sending anything.

    `resources` are those that would be read first; `fresh_calls` need none.
    """

    cost: Cost
    resources: frozenset[Resource[Any]]
    calls: int
    fresh_calls: int

    @property
    def requests(self) -> int:
        """The highest number of requests where there is one, else the lowest."""
        return self.cost.number


class Answered(msgspec.Struct, frozen=True):
    """The outcomes of the calls that differ, `calls`, and of each call that was given its place among them.

    What several calls share was spent once: the `requests` of all outcomes add up to what the batch spent.
    """

    calls: Sequence[Call]
    outcomes: Sequence[Outcome]
    places: Sequence[int]


class Session:
    """Answers batches of calls through one client; every call ends in an `Outcome`, whatever happens.

    `reader` answers in place of the client. With `traced`, each outcome names the answers that went into it.
    """

    def __init__(
        self,
        client: AsyncClient,
        *,
        clock: Callable[[], float] = time.time,
        reader: Reader | None = None,
        traced: bool = False,
    ) -> None:
        self.client = client
        self._clock = clock
        self._reader: Reader = reader or client
        self._traced = traced
        self._gathering = Gathering(client)

    def now(self) -> float:
        """The session's time, in seconds since 1970."""
        return self._clock()

    async def answer(
        self, calls: Sequence[Call], *, reader: Reader | None = None, gate: Gate | None = None
    ) -> list[Outcome]:
        """The outcomes of `calls`, in order; equal resources are asked once, one bad call harms no other.

        `reader` answers in place of the client, such as one that ends by a deadline; `gate` is told what is to be
        fetched before it is.
        """
        answered = await self.answer_different(in_turns(calls, LIGHT_ITEMS_A_LOOK), reader=reader, gate=gate)
        return charged_once(answered.outcomes, answered.places)

    async def answer_different(
        self, parts: AsyncIterable[Sequence[Call]], *, reader: Reader | None = None, gate: Gate | None = None
    ) -> Answered:
        """As `answer`, but each outcome once, however many calls share it; the calls come in parts, and none is kept
        that equals another."""
        bindings = self._bindings()
        batch = Batch(reader or self._reader, bindings.now, gate=gate)
        equal, places = await _together(parts, bindings, None if self._traced else batch.at_hand)
        await self._run(equal, batch)
        now = self._clock()
        outcomes: list[Outcome] = []
        async for part in in_turns(range(len(equal.firsts)), LIGHT_ITEMS_A_LOOK):
            outcomes += [outcome_of(equal.firsts[first], equal.run(first), bindings, now) for first in part]
        return Answered(equal.firsts, outcomes, places)

    async def follow(self, calls: Sequence[Call], listener: CallSink, *, reader: Reader, gate: Gate) -> None:
        """Tell `listener` the outcome of each of `calls` as soon as it is there; else as `answer`.

        A call that nobody wants any more is given up: it has no outcome.
        """
        bindings = self._bindings()
        batch = Batch(reader, bindings.now, gate=gate)
        equal, places = await _together(in_turns(calls, LIGHT_ITEMS_A_LOOK), bindings, batch.at_hand)
        reporter = batch.follower = Reporter(
            listener, places, lambda first, run: outcome_of(equal.firsts[first], run, bindings, self._clock())
        )
        try:
            for part in _in_order(equal, range(len(equal.firsts))):
                async for first in yielding(part):
                    run = equal.run(first)
                    if isinstance(run, Run):
                        batch.begin(run)
                    reporter.begun(first, run)
                await batch.end()
        finally:
            batch.follower = None  # it leads back to the batch: all the calls would wait for a collection

    async def _run(self, equal: EqualCalls, batch: Batch, after_part: Callable[[], None] | None = None) -> None:
        for part in _in_order(equal, equal.open):
            async for first in yielding(part):
                run = equal.run(first)
                if isinstance(run, Run):
                    run.used = {} if self._traced else None
                    batch.begin(run)
            await batch.end()
            if after_part:
                after_part()

    async def value(self, function_id: str, args: Sequence[Any]) -> Any:
        """The result of one call as plain Python, a dated table with a date index; raises what went wrong.

        Calls that are made at the same time are answered as one batch.
        """
        run = Run(self._bindings()[function_id].call(args))
        await self._gathering.answer(run, self._clock)
        if run.error is not None:
            error, run.error = run.error, None  # it will hold this frame, which holds the run
            raise error
        return in_python(run.result)

    async def cost(self, calls: Sequence[Call], *, after: Refresh | None = None) -> CostPreview:
        """Return what `answer(calls)` would spend now, or `after` a refresh; sends nothing."""
        bindings = self._bindings()
        client = Snapshot(self.client, after, bindings.now)
        equal, places = await _together(in_turns(calls, LIGHT_ITEMS_A_LOOK), bindings)
        inventory = Inventory(client, bindings.now)
        await self._run(equal, Batch(inventory, bindings.now))
        costly = {first for first in range(len(equal.firsts)) if _lacks(equal.run(first))}
        cost = await self._cost([equal.firsts[first] for first in sorted(costly)], client)
        return CostPreview(cost, frozenset(inventory.missing), len(calls), sum(place not in costly for place in places))

    async def _cost(self, calls: Sequence[Call], client: Snapshot) -> Cost:
        """From how many to how many requests `calls` would spend."""
        standing = await standing_for_all(calls, client)
        guesses = await self._guessed(standing.calls, client, standing.left_out)
        found = [for_all(each, standing) for each in guesses]
        if None in found:
            found = list(await self._guessed(calls, client))
        return spread(each for each in found if each is not None) if guesses else UNKNOWN

    async def _guessed(
        self, calls: Sequence[Call], client: Snapshot, left_out: int = 0
    ) -> Sequence[Mapping[Hashable, Cost]]:
        """The costs of each subject for each of the guesses; none where a function ended for no reason of its own."""
        guesses = [CostEstimator(client, guess, self._clock(), left_out=left_out) for guess in Guess]
        for estimator in guesses if calls else ():
            bindings = self._bindings()
            equal, _ = await _together(in_turns(calls, LIGHT_ITEMS_A_LOOK), bindings)
            await self._run(equal, Batch(estimator, bindings.now), estimator.begin_reports)
            if any(_failed(equal.run(first)) for first in range(len(equal.firsts))):
                return ()
        return [estimator.by_subject() for estimator in guesses]

    def _bindings(self) -> Bindings:
        now = self._clock()
        return Bindings({"now": now, "today": utc_day(now), "client": self.client})


def _lacks(run: Run | CellError) -> bool:
    """Return whether a function that ran on what is at hand lacked anything, or may have.

    One that ended with an error has looked for what is not there: what others ask after that depends on it.
    """
    return isinstance(run, Run) and (run.stale is not None or run.failed is not None or run.error is not None)


def _failed(run: Run | CellError) -> bool:
    """Return whether a function ended for no reason of its own: nobody knows what else it would have asked."""
    is_own = isinstance(run, CellError) or run.error is None or isinstance(run.error, (UdfError, DataServiceError))
    return not is_own


async def _together(
    parts: AsyncIterable[Sequence[Call]], bindings: Bindings, at_hand: AtHand | None = None
) -> tuple[EqualCalls, list[int]]:
    """The calls that differ, and of each of all calls the place among them; what is `at_hand` ends some of them."""
    equal, places = EqualCalls(bindings, at_hand), list[int]()
    async for part in parts:
        places += equal.places(part)
    return equal, places


def _in_order(equal: EqualCalls, places: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """The calls at these places that begin first, and those which report what these did."""
    last = {each for each, function in REGISTRY.items() if function.runs_last}
    if last.isdisjoint(call.function_id.upper() for call in equal.firsts):
        return places, ()
    reports = [place for place in places if equal.firsts[place].function_id.upper() in last]
    return [place for place in places if equal.firsts[place].function_id.upper() not in last], reports


def runs_last(function_id: str) -> bool:
    """Return whether a function reports what others did, so that it is worked out after them."""
    function = REGISTRY.get(function_id.upper())
    return function is not None and function.runs_last
