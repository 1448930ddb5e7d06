"""One load: calls that are evaluated together in the background, each settled as soon as it has its answer."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from addin.protocol.consent import Consent, Question
from addin.protocol.deadline import WithinDeadline
from addin.protocol.encoding import encode
from addin.protocol.response_cache import Ready
from dataservice.client import Answer, Bound, CatalogueCheck, HistoryResource, Meter, Miss, Resource
from dataservice.errors import DataServiceError, UnconfirmedError
from udfs.engine import Call, Outcome, runs_last

T = TypeVar("T")

PROBES = 4
"""So many histories are read first where more than twice as many are to come: their pages tell what all will take."""


class Post(Protocol):
    """A caller that waits for calls."""

    def count_settled(self) -> None:
        """One of its calls was answered or given up."""


@dataclass(eq=False, slots=True)
class PendingCall:
    """A call that is being answered, and until when somebody wants it."""

    load: PendingBatch
    until: float
    ready: Ready | None = None
    is_given_up: bool = False
    is_refused: bool = False
    """Whether its answer is so because the load may fetch nothing more."""
    posts: list[Post] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Return whether it is neither answered nor given up."""
        return self.ready is None and not self.is_given_up

    def settle(self, ready: Ready | None) -> None:
        """Take its answer, None to give it up; whoever waits learns of it."""
        if not self.is_open:
            return
        self.ready, self.is_given_up = ready, ready is None
        for post in self.posts:
            post.count_settled()
        self.posts.clear()

    def take_back(self) -> bool:
        """Give it up where its answer asks a question that has been answered since; whether that is so."""
        if self.is_refused and self.load.is_answered:
            self.ready, self.is_given_up, self.is_refused = None, True, False
            return True
        return False


class PendingBatch:
    """One evaluation: what it may fetch, what it has spent, and what nobody was told of that."""

    def __init__(self, consent: Consent, where: str, bound: Bound | None = None) -> None:
        self._consent = consent
        self.bound = bound
        """The most that it may send, in requests; None where only the consent bounds it."""
        self._where = where
        self._allowed: set[Resource[Any]] = set()
        self._to_come: set[Resource[Any]] = set()
        """What may be fetched and was not begun."""
        self._histories_begun = 0
        self._histories_ended = 0
        self._is_probed = asyncio.Event()
        self._answers = 0
        self._spent = 0
        self.refused: UnconfirmedError | None = None
        """Why it fetches nothing more."""
        self._question: Question | None = None
        self.untold = Meter()

    @property
    def is_answered(self) -> bool:
        """Return whether it was refused for a question that is not open any more."""
        return self._question is not None and self._consent.question is not self._question

    def first_to_find_out(self, resources: Sequence[Resource[Any]]) -> Resource[Any] | None:
        """Return which is to be read first, because its answer tells how many requests are left; None for none."""
        new = [each for each in resources if each not in self._allowed]
        if not new or self.refused is not None or not self._consent.has_to_find_out(set(new)):
            return None
        return min(new, key=_is_history)  # a history may take several requests

    def ask_for(self, resources: Sequence[Resource[Any]]) -> None:
        """Decide whether what is to be fetched next may be fetched."""
        new = set(resources).difference(self._allowed)
        if new and self.refused is None:
            self.refused = self._consent.refusal(new, self._where)
            self._question = self._consent.question if self.refused is not None else None
        if self.refused is None:
            self._allowed |= new
            self._to_come |= new

    async def begin(self, resource: Resource[Any]) -> None:
        """Count a resource as being fetched; of many histories all but a few wait until it is known what those take."""
        if isinstance(resource, HistoryResource):
            if not self._histories_begun and sum(map(_is_history, self._to_come)) <= 2 * PROBES:
                self._is_probed.set()
            self._histories_begun += 1
            if self._histories_begun > PROBES:
                await self._is_probed.wait()
        self._to_come.discard(resource)

    def end(self, resource: Resource[Any], requests: int) -> None:
        """Count what an answer has cost; if the rest will cost too much, it is asked for before it is fetched."""
        self.untold.add(requests)
        self._answers += requests > 0
        self._spent += requests
        is_too_much = requests > 1 and self._consent.takes_too_many(requests - 1)
        if isinstance(resource, HistoryResource):
            self._histories_ended += 1
            if self._histories_ended == PROBES and not self._is_probed.is_set():
                more = math.ceil(sum(map(_is_history, self._to_come)) * (self._each - 1))
                is_too_much = is_too_much or not self._consent.covers(more)
                self._is_probed.set()
        if is_too_much and self._to_come and self.refused is None:
            self.refused = self._consent.refusal_of_rest(self._to_come, self._each, self._where)
            self._question = self._consent.question if self.refused is not None else None

    @property
    def _each(self) -> float:
        """The requests that one answer took."""
        return self._spent / self._answers if self._answers else 1.0


def _is_history(resource: Resource[Any]) -> bool:
    return isinstance(resource, HistoryResource)


class GuardedReader:
    """Reads through another reader what a load may fetch, and counts what that spends as soon as it is known.

    What may not be fetched is answered with the last known value.
    """

    def __init__(self, reader: WithinDeadline, load: PendingBatch) -> None:
        self._reader = reader
        self._load = load
        self.peek = reader.peek
        self.last_known = reader.last_known

    async def gate(self, resources: Sequence[Resource[Any]]) -> None:
        """Find out whether what is to be fetched next may be fetched."""
        if (first := self._load.first_to_find_out(resources)) is not None:
            with suppress(DataServiceError):  # whoever reads it is told
                await self._counted(first)
        self._load.ask_for(resources)

    async def catalogue_check(self, names: int) -> CatalogueCheck:
        """Return whether so many names are to be looked up first; not where nothing may be fetched."""
        return CatalogueCheck.NONE if self._load.refused else await self._reader.catalogue_check(names)

    async def read(
        self,
        resource: Resource[T],
        *,
        known_miss: Miss[T] | None = None,
        meter: Meter | None = None,
    ) -> Answer[T]:
        """The answer; `UnconfirmedError` where nothing may be fetched and nothing is known."""
        if self._load.refused is None:
            await self._load.begin(resource)
        if self._load.refused is not None:
            known = self._reader.peek(resource, max_age_s=math.inf) or (
                known_miss.last_known if known_miss else await self._reader.last_known(resource)
            )
            if known is None:
                raise self._load.refused.afresh()
            return known.stale(self._load.refused.afresh())
        return await self._counted(resource, known_miss=known_miss, meter=meter)

    async def _counted(
        self, resource: Resource[T], *, known_miss: Miss[T] | None = None, meter: Meter | None = None
    ) -> Answer[T]:
        spent = Meter(self._load.bound)
        try:
            return await self._reader.read(resource, known_miss=known_miss, meter=spent)
        finally:
            requests = spent.take()
            self._load.end(resource, requests)
            if meter is not None:
                meter.add(requests)


class Evaluation:
    """Settles the calls of one load as a session answers them; `settled` is called after each."""

    def __init__(
        self,
        wanted: Sequence[tuple[bytes, Call, PendingCall]],
        places: asyncio.Semaphore,
        settled: Callable[[bytes, PendingCall], None],
        *,
        clock: Callable[[], float],
        timer: Callable[[], float],
    ) -> None:
        self._wanted = wanted
        self._settled = settled
        self._clock = clock
        self._timer = timer
        self.places = places
        self._last: tuple[Outcome | None, bytes] = (None, b"")
        """Equal calls have one outcome, and are told of it one after the other."""

    def wants(self, place: int) -> bool:
        """Return whether a post of the last seconds holds the call."""
        wanted = self._wanted[place][2]
        return wanted.is_open and wanted.until > self._timer()

    def answered(self, place: int, outcome: Outcome) -> None:
        """Take the answer."""
        text, call, wanted = self._wanted[place]
        wanted.is_refused = wanted.load.refused is not None and outcome.fresh_for_s == 0
        if self._last[0] is not outcome:
            self._last = outcome, encode(outcome, call.function_id)
        now = self._clock()
        wanted.settle(Ready(self._last[1], now + outcome.fresh_for_s, now, runs_last(call.function_id)))
        self._settled(text, wanted)

    def given_up(self, place: int) -> None:
        """Let go of the call."""
        text, _, wanted = self._wanted[place]
        wanted.settle(None)
        self._settled(text, wanted)
