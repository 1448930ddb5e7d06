"""The vintages of all signals: looked up, extended by looks, and kept as logs of the store.

A look that changes nothing is only remembered, if its answer is kept anyway and tells its time. Any other look
appends a part. Parts are sets of facts: in whatever order processes append them, they say the same together.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import quote, unquote
from weakref import WeakValueDictionary

import msgspec
from cachetools import LRUCache

from dataservice.client.archive.codec import FEW, NewerFormatError, pack_first_look, pack_vintages, unpack_vintages
from dataservice.client.archive.coverage import NEVER_YET, Coverage, micros
from dataservice.client.archive.facts import Facts
from dataservice.client.archive.looks import Look, of_one_source
from dataservice.client.archive.vintages import DROPPED, Vintages
from dataservice.client.contract.windows import Window
from dataservice.observations import Observations
from dataservice.stores import LogSize, Part, Put, ResilientStore, Unpacked

FOLD_PARTS = 16
FACTS_A_PART = 1_000
"""A log is folded into one part when it has 16 parts and one more for every 1,000 facts: it is read as a whole once a
process, and written as a whole so rarely that a change costs little however long the log is."""

CLOCK_STEP_US = 86_400_000_000
"""A clock that is set back by up to a day, or is behind another machine's, does not turn round the order of looks."""

HELD_BYTES = 1_000  # of objects around the columns

ATTEMPTS = 100
"""A log that others fold or append to meanwhile is read again, and what was to be done is done to that."""

_logger = logging.getLogger("dataservice.client")


@dataclass(frozen=True, slots=True)
class Held:
    """A log as this process knows it: what its parts say together, and their numbers.

    `saved` are the looks that the parts tell of, `unsaved` facts that the store did not accept yet; `vintages` has all.
    Where parts of it cannot be read (`is_damaged`), it says nothing of when days were looked at; those of a later
    version (`has_newer`) stay as they are.
    `looked_again` are the days of the last look since that changed nothing: kept answers tell its time.
    """

    vintages: Vintages
    numbers: tuple[int, ...]
    saved: Coverage
    unsaved: Facts
    looked_again: Window | None = None
    is_damaged: bool = False
    has_newer: bool = False

    @property
    def after(self) -> int:
        """The number of the last part that was read."""
        return self.numbers[-1] if self.numbers else 0


class FirstLook(msgspec.Struct, frozen=True):
    """A log whose only part, numbered `number`, tells of one look: columns are made of it when they are needed."""

    found: Observations
    window: Window
    moment: int
    by_detail: bool
    number: int = 0

    def held(self) -> Held:
        """The same as any other log."""
        facts = Facts.found(self.found, self.found.times[:0], self.moment, by_detail=self.by_detail)
        looked = Coverage.of(self.window, self.moment)
        return Held(Vintages(facts, looked), (self.number,), looked, Facts.none())


NOTHING_HELD = Held(Vintages.nothing(), (), Coverage.never(), Facts.none())


async def one_source(_: str) -> bool:
    """Take what details and windows tell for one series."""
    return True


class Archive:
    """The record of what was known of each signal, and when; `scope` names the key, None before the store is open.

    `kept_look` tells of the last look at a signal whose answer the store keeps anyway: its days and its time.
    `kept_state` tells what kept answers say of a signal whose archive is empty: they are older than the archive.
    `is_new` tells of which signals the store was found to have neither a detail nor a history, `are_alike` whether a
    signal's detail and windows were seen to tell one series: else what the one says is no change of the other.
    """

    def __init__(
        self,
        store: ResilientStore,
        *,
        max_bytes: int,
        scope: str | None = None,
        kept_look: Callable[[str], Awaitable[tuple[Window, float] | None]],
        kept_state: Callable[[str], Awaitable[Vintages]],
        is_new: Callable[[str], bool] = lambda _: False,
        are_alike: Callable[[str], Awaitable[bool]] = one_source,
    ) -> None:
        self._store = store
        self.scope = scope
        self._kept_look = kept_look
        self._kept_state = kept_state
        self._is_new = is_new
        self._are_alike = are_alike
        self.opening: Callable[[], Awaitable[None]] | None = None
        """Opens the store before it is first asked about the archive."""
        self._held: LRUCache[str, Held | FirstLook] = LRUCache(max_bytes, getsizeof=_size)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def held_bytes(self) -> int:
        """About how much memory it takes."""
        return int(self._held.currsize)

    async def vintages(self, slug: str) -> Vintages:
        """Return what was known of a signal, and when."""
        await self._opened()
        async with self._lock(slug):
            return (await self._begun(slug, await self._current(slug))).vintages

    async def look(
        self,
        slug: str,
        window: Window,
        found: Observations,
        at: float,
        *,
        is_kept: bool = False,
        by_detail: bool = False,
        then: Callable[[], Put] | None = None,
    ) -> bool:
        """Learn that the service gave `found` as all observations of `window`, at the time `at`.

        If the answer is kept (`is_kept`), that tells the time of this look; nothing is saved if it changed nothing.
        `by_detail`: the signal's detail gave them, else a window. What is to be put `then` is put together with what is
        saved; whether it was.
        """
        if not window:
            return False
        is_first = slug not in self._held and slug not in self._locks and self._is_new(slug)
        first = FirstLook(found, window, micros(at), by_detail) if is_first and 0 < len(found) <= FEW else None
        if first is not None and await self._begin(slug, first, then):
            return then is not None
        async with self._lock(slug):
            for _ in range(ATTEMPTS):
                current = await self._current(slug)
                held = await self._begun(slug, current, before=micros(at))
                moment = _moment_of(held.vintages.looked, window, micros(at))
                seen = await self._after_look(slug, held, window, found, moment, by_detail=by_detail)
                if is_kept and _is_nothing_new(held, seen, window, moment):
                    self._hold(slug, replace(seen, looked_again=window))
                    return False
                number = await self._append(slug, seen, then)
                if number != 0:
                    return number is not None and then is not None
        return False

    async def _begin(self, slug: str, first: FirstLook, then: Callable[[], Put] | None) -> bool:
        """Return whether the log began with this look: none is looked for where there likely is none."""
        name = self._name_of(slug)
        if name is None:
            return False
        pack = partial(pack_first_look, first.found, first.moment, first.window, by_detail=first.by_detail)
        payload = Unpacked(pack, first.found.nbytes)
        number = await self._store.append(name, payload, 0, then=None if then is None else then())
        if number and slug not in self._held:
            self._hold(slug, msgspec.structs.replace(first, number=number))
        return bool(number)

    async def _after_look(
        self, slug: str, held: Held, window: Window, found: Observations, moment: int, *, by_detail: bool
    ) -> Held:
        """The log together with what one look showed; if that is a change, the times of earlier looks are looked up."""
        known, look = held.vintages, Look(window, found, by_detail)
        news = look.news(known, moment)
        if len(news.facts) and known.looked.first_look != NEVER_YET:
            kept = await self._kept_look(slug)
            if kept is not None and kept[0] and micros(kept[1]) <= moment + CLOCK_STEP_US:
                known = replace(known, looked=known.looked.confirmed(kept[0], micros(kept[1])))
                moment = max(moment, micros(kept[1])) if kept[0].meets(window) else moment
            moment += known.looked.last_look_at(window) == moment  # two states have two times
            news = look.news(known, moment)
        if len(news.changes) and look.crosses_sources(known):
            news = of_one_source(news, known, moment, behind=found[-1:] if await self._are_alike(slug) else None)
        facts = news.facts
        seen = replace(known, looked=known.looked.at(window, moment))
        if not len(facts):
            return replace(held, vintages=seen)
        vintages = seen.union(Vintages(facts, Coverage.never()))
        return replace(held, vintages=vintages, unsaved=Facts.together([held.unsaved, facts]))

    async def slugs(self) -> list[str]:
        """The signals of this key with an archive, by name."""
        return [slug_in(log.name) for log in await self.logs()]

    async def logs(self) -> list[LogSize]:
        """The logs of this key and their sizes in the store."""
        scope = await self._opened()
        return [] if scope is None else await self._store.logs(f"{scope}/")

    async def prune(self, slug: str, before: float) -> bool:
        """Forget what was known of a signal before the time `before`, but for its last state; whether that was done."""
        if await self._opened() is None:
            return False
        async with self._lock(slug):
            for _ in range(ATTEMPTS):
                held = await self._current(slug)
                pruned = held.vintages.pruned(micros(before))
                if pruned is held.vintages or await self._fold(slug, replace(held, vintages=pruned)):
                    return True
        return False

    async def clear(self) -> int:
        """Delete the logs of this key; how many there were."""
        self._held.clear()
        scope = await self._opened()
        return 0 if scope is None else await self._store.delete_logs(f"{scope}/")

    async def _opened(self) -> str | None:
        """The name of the key in the store, which is opened; None where that cannot be."""
        if self.scope is None and self.opening is not None:
            await self.opening()
        return self.scope

    async def _current(self, slug: str) -> Held:
        """The log as it is now: parts that were appended since it was last read are read."""
        held, name = self._held.get(slug, NOTHING_HELD), self._name_of(slug)
        if isinstance(held, FirstLook):
            held = held.held()
            self._hold(slug, held)
        log = None if name is None else await self._store.parts(name, held.after)
        if log is None or (log.is_continued and not log.parts):
            return held
        if not log.is_continued:  # it was folded, or deleted
            held = NOTHING_HELD
        for part in log.parts:
            held = _with_part(held, part)
        if held.is_damaged:
            held = replace(held, vintages=held.vintages.damaged(), saved=Coverage.never())
            if await self._fold(slug, held):  # whoever reads it next finds what is left as one
                return await self._current(slug)
        self._hold(slug, held)
        return held

    async def _begun(self, slug: str, held: Held, before: int = NEVER_YET) -> Held:
        """The log, begun with what kept answers say if nothing was ever added to it."""
        if held.numbers or held.vintages.looked.first_look != NEVER_YET:
            return held
        kept = await self._kept_state(slug)
        if kept.looked.first_look > before:  # a clock that was ahead dated it, or there is nothing
            return held
        return replace(held, vintages=kept, unsaved=kept.facts)

    async def _append(self, slug: str, held: Held, then: Callable[[], Put] | None) -> int | None:
        """Append what is new in `held`, and put what is to be put `then`: the number of the part, None without a store.

        0 if the log was changed meanwhile, so that all is to be done again.
        """
        name, number = self._name_of(slug), None
        if name is not None:
            news = Vintages(held.unsaved, held.vintages.looked.news_since(held.saved))
            payload = pack_vintages(news)
            number = await self._store.append(name, payload, held.after, then=None if then is None else then())
            if number == 0:
                return 0
            if number is not None:
                numbers = (*held.numbers, number)
                held = replace(
                    held, numbers=numbers, saved=held.vintages.looked, unsaved=Facts.none(), looked_again=None
                )
        self._hold(slug, held)
        if len(held.numbers) > FOLD_PARTS + len(held.vintages.facts) // FACTS_A_PART:
            await self._fold(slug, held)
        return number

    async def _fold(self, slug: str, held: Held) -> bool:
        """Put one part in the place of all that were read; the log is then read again when it is needed."""
        name = self._name_of(slug)
        if held.has_newer:
            return False
        self._held.pop(slug, None)
        return name is not None and await self._store.fold(name, held.numbers, pack_vintages(held.vintages))

    def _hold(self, slug: str, held: Held | FirstLook) -> None:
        self._held.pop(slug, None)
        if _size(held) <= self._held.maxsize:
            self._held[slug] = held

    def _name_of(self, slug: str) -> str | None:
        return None if self.scope is None else f"{self.scope}/{quote(slug, safe='')}"

    def _lock(self, slug: str) -> asyncio.Lock:
        return self._locks.setdefault(slug, asyncio.Lock())


def slug_in(log: str) -> str:
    """The signal whose log has this name."""
    return unquote(log.rpartition("/")[2])


def _moment_of(looked: Coverage, window: Window, moment: int) -> int:
    """The time of a look that the clock dates `moment`: not before the last look at these days, which it came after.

    Clocks are corrected, and those of two machines differ. One that was ahead by more is not believed again.
    """
    last = looked.last_look_at(window)
    return last if moment < last <= moment + CLOCK_STEP_US else moment


def _is_nothing_new(held: Held, seen: Held, window: Window, moment: int) -> bool:
    """Whether a look needs not be saved: it changed nothing, and no other days were looked at since that was saved."""
    same_days = held.looked_again is None or window.covers(held.looked_again)
    return not len(seen.unsaved) and same_days and held.vintages.looked.covers(window, moment)


def _with_part(held: Held, part: Part) -> Held:
    """The log with one more part."""
    if part.is_damaged:
        return replace(held, numbers=(*held.numbers, part.number), is_damaged=True)
    if not part.payload:
        dropped = Vintages(Facts.none(), Coverage.never(), DROPPED)
        return Held(dropped, (part.number,), dropped.looked, Facts.none())
    numbers = (*held.numbers, part.number)
    try:
        found = unpack_vintages(part.payload)
    except (msgspec.MsgspecError, ValueError) as error:
        _logger.warning("a part of the archive could not be read: %s", type(error).__name__)
        is_newer = isinstance(error, NewerFormatError)
        return replace(held, numbers=numbers, is_damaged=True, has_newer=held.has_newer or is_newer)
    vintages, saved = held.vintages.union(found), held.saved.union(found.looked)
    return replace(held, vintages=vintages, numbers=numbers, saved=saved)


def _size(held: Held | FirstLook) -> int:
    return HELD_BYTES + (held.found.nbytes if isinstance(held, FirstLook) else held.vintages.nbytes)
