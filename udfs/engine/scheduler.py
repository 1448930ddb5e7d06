"""The scheduler of a batch: in which order a round asks, how many at a time, who goes on with each reply.

Long work on the event loop is done in turns: other tasks go first every hundredth of a second.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Hashable, Iterable, Sequence
from contextvars import ContextVar
from datetime import date
from typing import Any, Protocol, TypeVar

from dataservice.client import HistoryResource, Resource, SignalResource
from dataservice.client.contract import wider
from dataservice.client.unknown_names import tried_at_once
from udfs.engine.effects import Question
from udfs.engine.run import Run

T = TypeVar("T")

YIELD_AFTER_S = 0.01
"""Work for so long, then let other tasks go first: no one notices a hundredth of a second."""

ITEMS_A_LOOK = 4
"""Items between two looks at the clock: a look takes a tenth of the least that is done with so many items."""

LIGHT_ITEMS_A_LOOK = 64
"""The same for what takes a microsecond an item, and never more than some ten."""


class Turns(Protocol):
    """Who goes on next, where many callers share a loop."""

    def is_free(self) -> bool:
        """Return whether nobody waits for a turn."""

    def count(self, seconds: float) -> None:
        """Note for how long the caller's work held the loop."""

    async def next(self) -> None:
        """Wait for the next turn."""

    def in_background(self) -> Turns:
        """Return the turns of what goes on when the caller may have been answered."""


TURNS: ContextVar[Turns | None] = ContextVar("TURNS", default=None)
"""The turns of the caller for whom a task works; tasks that it begins inherit them. None where all share alike."""


async def next_turn() -> None:
    """Let other tasks go first."""
    turns = TURNS.get()
    await (asyncio.sleep(0) if turns is None else turns.next())


def in_background() -> None:
    """Let what this task works on go on behind callers who wait for an answer."""
    if (turns := TURNS.get()) is not None:
        TURNS.set(turns.in_background())


async def yielding(items: Iterable[T], *, timer: Callable[[], float] = time.perf_counter) -> AsyncIterator[T]:
    """The items one by one; every hundredth of a second all other tasks of the loop go first.

    >>> async def total(numbers):
    ...     return sum([number async for number in yielding(numbers)])
    >>> asyncio.run(total(range(10)))
    45
    """
    turns = TURNS.get()
    if turns is not None and not turns.is_free():
        await turns.next()
    began = timer()
    for item in items:
        if timer() - began > YIELD_AFTER_S:
            if turns is not None:
                turns.count(timer() - began)
            await next_turn()
            began = timer()
        yield item
    if turns is not None:
        turns.count(timer() - began)


async def in_turns(
    items: Sequence[T], size: int = ITEMS_A_LOOK, *, timer: Callable[[], float] = time.perf_counter
) -> AsyncIterator[Sequence[T]]:
    """The items, `size` together, for work that takes a few microseconds an item; other tasks go first as above.

    >>> async def parts(numbers):
    ...     return [list(part) async for part in in_turns(numbers, 4)]
    >>> asyncio.run(parts(range(10)))
    [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    """
    async for start in yielding(range(0, len(items), size), timer=timer):
        yield items[start : start + size]


R = TypeVar("R")

FEW = 64
"""So many selections are compared one by one; of more, only those that leave out whole filters are found."""

SORTED_AT_ONCE = 5_000
"""Questions put in order in one go, which takes a hundredth of a second."""

AT_A_TIME = 64
"""Questions asked at the same time: enough for every connection and store. More would hold the loop for longer when
their answers arrive together, and a hundred thousand tasks would take 1 GB."""


class Round:
    """What a round asks: of each signal its detail, or its windows, and never both side by side.

    `spared` are details in whose place a window is fetched that is enough; `later` are windows that wait for a detail
    of this round: it brings a part of them, and whoever asked for it may want a wider one. `later` are also details
    that wait for those who have `sought` such a window, and look for it in the caches. `known` are the families of
    windows of which something is known.
    """

    def __init__(
        self,
        questions: Iterable[Question],
        sought: Iterable[Resource[Any] | None] = (),
        known: Container[Hashable] = (),
    ) -> None:
        fetched = [each for each in questions if each.cached_max_age_s is None]
        windows: dict[str, list[Question]] = {}
        details: dict[str, list[Question]] = {}
        for each in fetched:
            if isinstance(each.resource, HistoryResource):
                windows.setdefault(each.resource.slug, []).append(each)
            elif isinstance(each.resource, SignalResource):
                details.setdefault(each.resource.slug, []).append(each)
        self.spared: set[Question] = set()
        self.later: set[Question] = set()
        for slug in details.keys() & windows.keys():
            if all(_is_brought(detail, windows[slug], known) for detail in details[slug]):
                self.spared.update(details[slug])
            else:
                self.later.update(windows[slug])
        for resource in sought:
            if isinstance(resource, HistoryResource) and resource.slug in details.keys() - windows.keys():
                waiting = details[resource.slug]
                if all(_is_brought(detail, [Question(resource)], known) for detail in waiting):
                    self.later.update(waiting)


def _is_brought(detail: Question, windows: Iterable[Question], known: Container[Hashable]) -> bool:
    """Return whether one of these windows makes a detail needless."""
    unless = detail.unless
    if unless is None or (detail.if_new and unless.family in known):
        return False
    return any(window.resource.covers(unless) for window in windows)


async def in_order(questions: Sequence[Question]) -> Sequence[Sequence[Question]]:
    """As `widest_first`; many are put in order by another thread, so that the loop goes on."""
    if len(questions) < 2:
        return (questions,)
    if len(questions) <= SORTED_AT_ONCE:
        return widest_first(questions)
    return await asyncio.to_thread(widest_first, questions)


def widest_first(questions: Iterable[Question]) -> tuple[list[Question], list[Question]]:
    """The questions in order of priority, apart those whose answer a fetch of this round may bring along."""
    asked = sorted(questions, key=lambda question: question.resource.priority)
    families: dict[Hashable, list[Resource[Any]]] = {}
    for question in asked:
        if question.cached_max_age_s is None:
            families.setdefault(question.resource.family, []).append(question.resource)
    fetched = {family: _family(resources) for family, resources in families.items()}
    wide: list[Question] = []
    narrow: list[Question] = []
    for question in asked:
        others = fetched.get(question.resource.family)
        is_fetched = question.cached_max_age_s is None
        held = others is not None and others.covers(question.resource, is_member=is_fetched)
        (narrow if held else wide).append(question)
    return wide, narrow


def _family(resources: Sequence[Resource[Any]]) -> _Windows | _Selections:
    windows = [resource for resource in resources if isinstance(resource, HistoryResource)]
    return _Windows(windows) if len(windows) == len(resources) else _Selections(resources)


class _Windows:
    """The windows of one signal: for each start, the two latest ends of those that begin no later."""

    def __init__(self, windows: Sequence[HistoryResource]) -> None:
        spans = sorted((_start(each), _end(each)) for each in windows)
        self._starts = [start for start, _ in spans]
        self._ends: list[tuple[date, date]] = []
        latest = second = date.min
        for _, end in spans:
            latest, second = (end, latest) if end > latest else (latest, max(second, end))
            self._ends.append((latest, second))

    def covers(self, resource: Resource[Any], *, is_member: bool) -> bool:
        """Return whether a window, other than `resource` itself if that is one of them, holds it."""
        if not isinstance(resource, HistoryResource):
            return False
        place = bisect_right(self._starts, _start(resource)) - 1
        if place < 0:
            return False
        latest, second = self._ends[place]
        return (second if is_member else latest) >= _end(resource)


class _Selections:
    """Any other resources of one family."""

    def __init__(self, resources: Sequence[Resource[Any]]) -> None:
        self._few = resources if len(resources) <= FEW else ()
        self._all = frozenset(resources)

    def covers(self, resource: Resource[Any], *, is_member: bool) -> bool:
        """Return whether another one, or `resource` itself if it is none of them, holds it."""
        if not is_member and resource in self._all:
            return True
        if self._few:
            return any(other != resource and other.covers(resource) for other in self._few)
        return any(other in self._all for other in wider(resource))


def _start(window: HistoryResource) -> date:
    return window.start or date.min


def _end(window: HistoryResource) -> date:
    return window.end or date.max


class WaitIndex:
    """Which functions of a round wait for which question, and which of them lack no reply any more."""

    def __init__(self, runs: Iterable[Run], missing: Container[Question]) -> None:
        self._by_question: dict[Question, list[Run]] = {}
        self._lacking: dict[int, int] = {}
        for run in runs:
            asked = {question for question in run.questions if question in missing}
            self._lacking[id(run)] = len(asked)
            for question in asked:
                self._by_question.setdefault(question, []).append(run)

    def of(self, question: Question) -> Sequence[Run]:
        """The functions that wait for a question."""
        return self._by_question.get(question, ())

    def add(self, question: Question, runs: Sequence[Run]) -> None:
        """Have these functions wait for one more question."""
        for run in runs:
            self._lacking[id(run)] = 1
        self._by_question.setdefault(question, []).extend(runs)

    def replied(self, question: Question) -> list[Run]:
        """The functions that have all their replies now that this question has its own."""
        complete = []
        for run in self.of(question):
            self._lacking[id(run)] -= 1
            if not self._lacking[id(run)]:
                complete.append(run)
        return complete


async def side_by_side(
    ask: Callable[[T], Awaitable[R]],
    questions: Sequence[T],
    *,
    at_a_time: int = AT_A_TIME,
    timer: Callable[[], float] = time.perf_counter,
) -> list[R]:
    """Return what `ask` gives for each of `questions`, in their order; they are begun in this order, too.

    >>> async def doubled(number):
    ...     return 2 * number
    >>> asyncio.run(side_by_side(doubled, range(5), at_a_time=2))
    [0, 2, 4, 6, 8]
    """
    answers: dict[int, R] = {}
    waiting = iter(enumerate(questions))
    slice_ends = timer() + YIELD_AFTER_S

    async def work() -> None:
        nonlocal slice_ends
        for place, question in waiting:  # all workers take from one iterator
            answers[place] = await ask(question)
            while timer() > (ended := slice_ends):
                await next_turn()
                if slice_ends == ended:  # the first that comes back begins the next slice; the others share it
                    slice_ends = timer() + YIELD_AFTER_S
                    break

    await asyncio.gather(*(work() for _ in range(min(at_a_time, len(questions)))))
    return [answers[place] for place in range(len(questions))]


async def ramp_up(
    ask: Callable[[T], Awaitable[bool | None]], names: Sequence[T], *, known: int = 0, not_known: int = 0
) -> int:
    """Ask for names that may not exist: the more of them do, the more at a time; how many are known to exist then.

    `ask` tells whether a name exists, None where that is not known yet. After the first that does not exist, and when
    too many are open, no more are asked for. `known` are those that exist already, `not_known` those that are open.
    """
    under_way = 0
    is_doubtful = False
    ended = asyncio.Event()

    async def one(name: T) -> None:
        nonlocal known, not_known, under_way, is_doubtful
        exists = None if is_doubtful else await ask(name)
        known, not_known = known + (exists is True), not_known + (exists is None)
        is_doubtful = is_doubtful or exists is False
        under_way -= 1
        ended.set()

    async with asyncio.TaskGroup() as tasks:
        for name in names:
            while under_way and under_way + not_known >= tried_at_once(known):
                ended.clear()
                await ended.wait()
            if is_doubtful or under_way + not_known >= tried_at_once(known):
                break
            under_way += 1
            tasks.create_task(one(name))
    return known
