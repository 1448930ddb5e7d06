"""A batch answers what functions ask for (`udfs.engine.effects`), and notes what the result of each rests on.

A `Batch` runs its functions side by side, round by round: every round collects the questions of all, asks each resource
once, and goes on. What memory holds is answered at once, without a round. `needed` only counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from dataservice.client import Answer, Doubt, Meter, Miss, Resource
from dataservice.errors import DataServiceError, InvalidRequestError, NotFoundError, TierError
from udfs.engine.effects import EVER, FRESH, PAUSE, Asking, Question, Reply
from udfs.engine.side_by_side import side_by_side
from udfs.engine.turns import cooperative
from udfs.engine.widest_first import widest_first

T = TypeVar("T")

SETTLED = (NotFoundError, TierError, InvalidRequestError)
"""Refusals that stay true for a while: what rests on one of them is as good as it can be."""

MOST_TRIED_AT_ONCE = 16
"""Names asked for together before the next ones: as many as the client sends at a time."""


class Reader(Protocol):
    """What a batch needs of a client."""

    def peek(self, resource: Resource[T], *, max_age_s: float | None = None) -> Answer[T] | None:
        """The answer in memory: a fresh one, or with `max_age_s` one that is not older."""

    async def last_known(self, resource: Resource[T]) -> Answer[T] | None:
        """The answer in any cache, however old."""

    async def doubts(self, names: int) -> Doubt:
        """Whether `names` signals, which nothing at hand vouches for, are to be looked up in the catalogue first."""

    async def read(
        self, resource: Resource[T], *, known_miss: Miss[T] | None = None, meter: Meter | None = None
    ) -> Answer[T]:
        """The answer, from the service if need be; with `known_miss` no store is looked into again.

        `meter` counts what it spends, also where it raises.
        """


class Learned(msgspec.Struct, frozen=True, eq=False):
    """The reply to a question, and what it means for every function that goes on with it."""

    replies: tuple[Reply]
    fresh_until: float = EVER
    """Until when the answer counts as fresh; one that was accepted at any age, up to that age."""
    stale: Answer[Any] | None = None
    """The answer, where it is a last known value in place of a fresh one."""
    failed: DataServiceError | None = None
    """What kept an answer away, unless asking again would change nothing."""

    @classmethod
    def of(cls, question: Question, reply: Reply) -> Learned:
        """What a function learns that asked `question`."""
        if not isinstance(reply, Answer):
            failed = isinstance(reply, DataServiceError) and not isinstance(reply, SETTLED)
            return cls((reply,), failed=reply if failed else None)  # type: ignore[arg-type]
        max_age_s = question.cached_max_age_s
        if max_age_s is not None:
            return cls((reply,), max(reply.fresh_until, reply.fetched_at + max_age_s))
        return cls((reply,), reply.fresh_until, None if reply.stale_because is None else reply)


class Run(msgspec.Struct, eq=False):
    """One function under way: what it asks now, what its result rests on so far, and how it ended."""

    asking: Asking[Any] | None
    """The function; None once it has ended, because its frame is larger than all else here."""
    result: Any = None
    error: Exception | None = None
    questions: Sequence[Question] = ()
    fresh_until: float = EVER
    """Until when all its answers count as fresh; one that was accepted at any age, up to that age."""
    stale: Answer[Any] | None = None
    """The oldest last known value that it received in place of a fresh one."""
    failed: DataServiceError | None = None
    """Why a part of what it asked for is missing now and may come later."""
    requests: int = 0
    """Requests that were made for this function, answered or not; those of what several functions share are charged to
    the first that used it."""
    used: dict[Resource[Any], Answer[Any]] | None = None
    """The answers that went into its result; None where nobody wants to know them."""

    def step(self, replies: Sequence[Reply] | None) -> None:
        """Go on with `replies` up to the next questions or the end."""
        if self.asking is None:
            return
        try:
            self.questions = self.asking.send(replies)  # type: ignore[arg-type]  # None begins it
            return
        except StopIteration as end:
            self.result = end.value
        except Exception as error:  # noqa: BLE001 - whatever it is, it becomes this one cell's error
            self.error = error
        self.asking, self.questions = None, ()

    def note(self, learned: Learned) -> None:
        """Note what the result rests on, before going on with it."""
        if learned.fresh_until < self.fresh_until:
            self.fresh_until = learned.fresh_until
        stale = learned.stale
        if stale is not None and (self.stale is None or stale.fetched_at < self.stale.fetched_at):
            self.stale = stale
        if learned.failed is not None:
            self.failed = learned.failed

    def close(self) -> None:
        """End the function where it stands."""
        if self.asking is not None:
            self.asking.close()
        self.asking, self.questions = None, ()


class Batch:
    """Functions side by side, begun at `now`: each resource is looked up and read at most once, the widest first."""

    def __init__(self, reader: Reader, now: float) -> None:
        self._reader = reader
        self._now = now
        self._learned: dict[Question, Learned] = {}
        self._misses: dict[Resource[Any], Miss[Any]] = {}
        """What no cache holds a fresh answer to: looked up once, and then read without another look."""
        self._meters: dict[Question, Meter] = {}
        """The requests of each read that no function was charged with yet."""
        self._waiting: list[Run] = []
        self._looked_up: dict[Resource[Any], Reply] = {}
        self._tried_at_once = 1
        """How many names are asked for before it is known whether names like these exist."""

    def begin(self, run: Run) -> None:
        """Let `run` go as far as memory can answer; most end here."""
        run.step(None)
        self._advance(run)
        if run.questions:
            self._waiting.append(run)

    async def end(self) -> None:
        """Bring all that have begun to their end."""
        while self._waiting:
            asking = [run for run in self._waiting if run.questions is not PAUSE]
            missing = {q: None for run in asking for q in run.questions if q not in self._learned}
            for part in widest_first(question for question in missing if question.instead_of is None):
                replies = await side_by_side(self._reply, part)
                for question, reply in zip(part, replies, strict=True):
                    self._learn(question, reply)
            await self._decide([question for question in missing if question.instead_of is not None])
            await asyncio.sleep(0)  # other tasks go first before each turn of a function with much to do
            async for run in cooperative(self._waiting):
                if run.questions is PAUSE:
                    run.step(())
                self._advance(run)
            self._waiting = [run for run in self._waiting if run.questions]

    def _advance(self, run: Run) -> None:
        """Go on as far as the replies so far and memory can answer, or to the next pause."""
        learned = self._learned
        while questions := run.questions:
            if questions is PAUSE:
                return
            found = []
            for question in questions:
                each = learned.get(question) or self._from_memory(question)
                if each is None:
                    return
                found.append(each)
            for each in found:
                run.note(each)
            if run.used is not None:
                replies = zip(questions, (each.replies[0] for each in found), strict=True)
                run.used |= {question.resource: reply for question, reply in replies if isinstance(reply, Answer)}
            if self._meters:
                run.requests += sum([self._meters.pop(q).requests for q in questions if q in self._meters])
            run.step(found[0].replies if len(found) == 1 else [each.replies[0] for each in found])

    def _from_memory(self, question: Question) -> Learned | None:
        """What memory holds, where that is enough."""
        found = _peek(question, self._reader) if question.instead_of is None else None
        return None if found is None else self._learn(question, found)

    async def _decide(self, questions: Sequence[Question]) -> None:
        """Reply to those who ask for a resource instead of another: with its answer, or None to go on without.

        As long as nothing speaks against their names, they go on in growing groups: should the first names not exist,
        the others are looked up together.
        """
        doubtful = [question for question in questions if not self._is_known(question)]
        is_settled = any(question.resource in self._looked_up for question in doubtful)
        doubt = await self._reader.doubts(len(doubtful)) if doubtful and not is_settled else Doubt.NONE
        if doubt is Doubt.MANY:
            asked = Question(doubtful[0].resource)
            if asked not in self._learned:
                self._misses.pop(asked.resource, None)  # it was looked up before the first names were tried
                self._learn(asked, await self._reply(asked))
                self._meters[doubtful[0]] = self._meters.pop(asked)
            self._looked_up[asked.resource] = self._learned[asked].replies[0]
        elif doubt is Doubt.SOME:
            waiting = set(doubtful[self._tried_at_once :])
            self._tried_at_once = min(MOST_TRIED_AT_ONCE, 2 * self._tried_at_once)
            questions = [question for question in questions if question not in waiting]
        for question in questions:
            found = self._looked_up.get(question.resource)
            self._learn(question, _accepted(question, found if isinstance(found, Answer) else None, self._now))

    def _is_known(self, question: Question) -> bool:
        """Whether an old answer shows that what the question wants to avoid does exist."""
        miss = self._misses.get(question.instead_of) if question.instead_of is not None else None
        return miss is not None and miss.last_known is not None

    def _learn(self, question: Question, reply: Reply) -> Learned:
        learned = self._learned[question] = Learned.of(question, reply)
        return learned

    async def _reply(self, question: Question) -> Reply:
        """The reader's answer; an exception is one too, so that one bad resource never harms the batch."""
        try:
            if question.cached_max_age_s is None:
                meter = self._meters[question] = Meter()
                known_miss = self._misses.get(question.resource)
                return await self._reader.read(question.resource, known_miss=known_miss, meter=meter)
            return _accepted(question, await self._last_known(question), self._now)
        except Exception as error:  # noqa: BLE001 - it becomes the error of the cells that asked
            return error if question.cached_max_age_s is None else None

    async def _last_known(self, question: Question) -> Answer[Any] | None:
        """The answer in any cache; a miss is remembered for the length of the batch."""
        miss = self._misses.get(question.resource)
        if miss is not None:
            return _peek(question, self._reader) or miss.last_known  # the batch itself may have fetched it meanwhile
        found = await self._reader.last_known(question.resource)
        if found is None or not found.is_fresh(self._now):
            self._misses[question.resource] = Miss(found)
        return found


async def answer(runs: Sequence[Run], reader: Reader, now: float) -> None:
    """Bring all `runs`, begun at `now`, to their end."""
    batch = Batch(reader, now)
    for run in runs:
        batch.begin(run)
    await batch.end()


async def needed(runs: Sequence[Run], reader: Reader, now: float) -> set[Resource[Any]]:
    """The resources that a `Batch` would have to fetch at `now`; nothing is fetched.

    A function goes on with the last known value, where there is one, so that what it asks next is counted too.
    """
    missing: set[Resource[Any]] = set()
    for run in runs:
        run.step(None)
        while run.questions:
            if run.questions is PAUSE:
                await asyncio.sleep(0)
                run.step(())
                continue
            replies = [await _cached(question, reader, now) for question in run.questions]
            asked = [(q, r) for q, r in zip(run.questions, replies, strict=True) if q.cached_max_age_s is None]
            missing.update(q.resource for q, r in asked if r is None or not r.is_fresh(now))
            if any(r is None for _, r in asked):
                run.close()
            else:
                run.step(replies)
    return missing


async def _cached(question: Question, reader: Reader, now: float) -> Answer[Any] | None:
    """The answer in a cache that the question accepts; any one for a question that would else be fetched."""
    found = _peek(question, reader) or reader.peek(question.resource, max_age_s=question.cached_max_age_s or EVER)
    return _accepted(question, found or await reader.last_known(question.resource), now)


def _accepted(question: Question, found: Answer[Any] | None, now: float) -> Answer[Any] | None:
    """What was found, if it is not older than the question allows."""
    max_age_s = question.cached_max_age_s
    if found is None or max_age_s is None:
        return found
    fits = found.is_fresh(now) if max_age_s == FRESH else found.age_s(now) <= max_age_s
    return found if fits else None


def _peek(question: Question, reader: Reader) -> Answer[Any] | None:
    return reader.peek(question.resource, max_age_s=question.cached_max_age_s or None)
