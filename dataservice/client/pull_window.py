"""One pull of a window over the network: what arrived is compared with what is known, and kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from enum import Enum, auto
from functools import partial
from typing import Any

from dataservice.client.cache.answer import Answer
from dataservice.client.cache.answer_cache import CATALOGUE, AnswerCache
from dataservice.client.cache.codec import pack
from dataservice.client.cache.history import after_pull, doubted, is_told_lately, told_lately
from dataservice.client.cache.recent import DoubtfulDetails, with_history
from dataservice.client.cache.spans import History, Span
from dataservice.client.contract.completeness.density import (
    after_dense_window,
    check_window,
    same_days,
    window_may_be_thin,
)
from dataservice.client.contract.completeness.evidence import Evidence, Evidences
from dataservice.client.contract.completeness.longest import (
    left_out,
    looks_cut,
)
from dataservice.client.contract.completeness.sources import SEVERAL
from dataservice.client.contract.completeness.thinning import (
    LEAST_ROWS,
    SHORTEST_PART_DAYS,
    days_of,
    leaves_out,
    likely_start,
    overlapping,
    parts_of,
    shorter_parts,
)
from dataservice.client.contract.paging import MAX_PAGES, Pulled, too_many_pages
from dataservice.client.contract.requests import first_request
from dataservice.client.contract.resources import HistoryResource, Resource, SignalResource
from dataservice.client.contract.results import Catalogue, SignalDetail
from dataservice.client.contract.windows import NO_DAYS, Window, day_after, day_before, utc_day
from dataservice.client.network.call_context import CallContext, Meter
from dataservice.client.network.sender import RequestSender
from dataservice.client.pages import pages_of_window
from dataservice.errors import (
    DataServiceError,
    MalformedAnswerError,
    NotFoundError,
)
from dataservice.models import Signal
from dataservice.observations import Observations


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchTools:
    """What a fetch sends its requests through, and where it keeps and looks up answers.

    What pages show of the service's ways is remembered in `evidence`; `learn` keeps it.
    """

    sender: RequestSender
    cache: AnswerCache
    read: Callable[[Resource[Any], Meter], Awaitable[Answer[Any]]]
    learn: Callable[[Evidence], Awaitable[None]]
    clock: Callable[[], float]
    max_pages: int = MAX_PAGES
    evidence: Evidences = field(default_factory=Evidences)


class Purpose(Enum):
    """What a pull is for."""

    WINDOW = auto()
    """What is asked for."""
    CHECK = auto()
    """Days that a longer window tells, too: no look of its own."""
    BESIDE = auto()
    """Days beside others that were asked for: where nothing comes, nothing is known of them."""
    SHORTER = auto()
    """A part of a window that was refused: an open end is asked as a closed one."""


class WindowPuller:
    """Pulls windows of histories, and keeps what arrives."""

    def __init__(self, tools: FetchTools) -> None:
        self._sender = tools.sender
        self._cache = tools.cache
        self._read = tools.read
        self._learn = tools.learn
        self._evidence = tools.evidence
        self._clock = tools.clock
        self._max_pages = tools.max_pages
        self._details = DoubtfulDetails()
        self._looked_cut: dict[str, bool] = {}
        """Whether the last window of a signal looked as if it was cut."""

    async def _learn_sources(self) -> None:
        """Keep of which signals detail and windows were seen to differ."""
        sources = self._cache.sources
        if not sources.is_news:
            return
        sources.is_news = False
        seen = self._evidence.now
        told = replace(seen, apart=sources.apart, looks_agree=sources.all_alike)
        self._evidence.now = told
        if (told.apart, told.looks_agree) != (seen.apart, seen.looks_agree):
            await self._learn(told)

    async def _distrust_details(self) -> None:
        """Let no recent history count from now on: the service leaves days out of them."""
        self._evidence.now = replace(self._evidence.now, thin_details=True, looks_agree=False)
        self._cache.distrust_details()
        await self._learn(self._evidence.now)

    async def _part_windows(self, asked_days: int) -> None:
        """Ask for windows in parts from now on: one of so many days was thinned out."""
        seen = self._evidence.now
        self._evidence.now = replace(seen, thin_over=shorter_parts(asked_days, seen.thin_over), looks_agree=False)
        await self._learn(self._evidence.now)

    def _looks_cut(self, history: History, window: Window, found: Observations, arrived: Observations) -> bool:
        """Return whether what was found of a window looks as if it was cut, alone or with what is known behind it."""
        if self._evidence.now.cuts_windows or looks_cut(arrived.between(None, utc_day(self._clock()))):
            return True
        is_known = self._is_told_behind(history, window)
        return looks_cut(found.merged(history.observations.between(day_after(window.end))) if is_known else found)

    def _is_told_behind(self, history: History, window: Window) -> bool:
        """Return whether it is known what follows right behind a window."""
        return window.end < date.max and any(day_after(window.end) in span.window for span in history.spans)

    def _told(self, slug: str) -> Observations:
        """What windows told of a signal so far."""
        return self._cache.history_without_detail(slug).observations

    async def _pull_in_parts(
        self, resource: HistoryResource, history: History, window: Window, context: CallContext, first: date | None
    ) -> History:
        """The history with `window` pulled part by part, of a series that was shown from the day `first` on."""
        start = window.start if first is None else max(window.start, likely_start(first))
        today = utc_day(self._clock())
        rest = Window(start, window.end)
        while rest:
            parts = parts_of(rest, today, self._evidence.now.thin_over)
            if len(parts) > self._max_pages:
                what, request = f"the observations of {resource.slug}", first_request(resource)
                error = too_many_pages(what, self._max_pages, "long windows are thinned out; ask for a shorter one")
                raise self._sender.refused(error, request, context)
            since = window.start if parts[0].start == start else parts[0].start
            history = await self._pull_at_once(resource, history, parts[0], context, since)
            rest = Window(start, day_before(parts[0].start)) if parts[0].start > start else NO_DAYS
        return history

    async def _checked(
        self, resource: HistoryResource, history: History, arrived: Pulled, context: CallContext
    ) -> tuple[History, bool]:
        """The history with a look at the last days of a window that looks as if it left days out; whether it does so.

        Others are compared with what is known of their days otherwise.
        """
        found = arrived.observations.between(None, utc_day(self._clock()))
        is_doubtful = window_may_be_thin(found, history.observations, self._evidence.now)
        if not (len(found) and (arrived.begins_early or is_doubtful)) or self._details.proves(resource.slug, found):
            return history, await self._is_thinned_out(resource.slug, history, arrived)
        days = check_window(found)
        known = self._cache.history_without_detail(resource.slug)
        if not is_told_lately(known, days, self._clock(), self._cache.rules):
            history = await self._pull_at_once(resource, history, days, context, purpose=Purpose.CHECK)
        return history, await self._is_thinned_out(resource.slug, history, arrived, days)

    async def _is_thinned_out(self, slug: str, history: History, arrived: Pulled, days: Window | None = None) -> bool:
        """Compare a window with what is known of its days otherwise; whether it was thinned out.

        Of the `days` that were just asked for again, every row must be the same one.
        Where what is known was, by a detail, no detail counts from now on but for its newest row.
        """
        now, seen = self._clock(), self._evidence.now
        found = arrived.observations.between(None, utc_day(now))
        known = told_lately(history, arrived.window, now, self._cache.rules)
        if leaves_out(found, known) or (days and not same_days(found, known, days)):
            asked = days_of(arrived.window, utc_day(now))
            await self._part_windows(asked)
            if asked <= SHORTEST_PART_DAYS:
                raise MalformedAnswerError(
                    f"{len(found)} observations from {arrived.window.start} on, where {len(known)} are known"
                )
            return True
        self._evidence.now = seen = after_dense_window(seen, found)
        detail = self._cache.memory.get(SignalResource(slug))
        is_denser = detail is not None and leaves_out(detail.value.history, found)
        if (self._details.contradicted(slug, found) or is_denser) and not seen.thin_details:
            await self._distrust_details()
        await self._rely_again(slug)
        return False

    async def _rely_again(self, slug: str) -> None:
        """Let a recent history count after all that a window has proven: rhythms are the same in any order then."""
        resource = SignalResource(slug)
        known, told = self._cache.memory.get(resource), self._details.proven(slug)
        if known is not None and len(told) > len(known.value.history):
            detail = with_history(known.value, told)
            await self._cache.keep_detail(resource, detail, pack(detail), known.fetched_at)

    async def _pull_at_once(
        self,
        resource: HistoryResource,
        history: History,
        window: Window,
        context: CallContext,
        since: date | None = None,
        purpose: Purpose = Purpose.WINDOW,
    ) -> History:
        """The history with `window` pulled; if a pull breaks off, what arrived is kept and not asked for again.

        Nothing lies between the day `since` and the window. Where the window was thinned out, it is pulled in parts.
        """
        seen, slug = self._evidence.now, resource.slug
        asked = self._days_to_ask(slug, history, window, purpose)
        begin = pulled = self._begin(slug, asked)
        first: date | None = None
        try:
            async for arrived in pages_of_window(
                *(self._sender, context, slug, begin, self._evidence),
                max_pages=self._max_pages,
                exists=partial(self._exists, slug),
                is_closed=purpose is Purpose.SHORTER,
            ):
                await self._check_empty(resource, arrived, asked, context)
                if purpose is Purpose.WINDOW:
                    history = await self._check_edge(resource, history, arrived, context)
                pulled = begin  # nothing is kept of what contradicts itself, or cannot be checked
                if arrived.problem:
                    continue
                if arrived.complete and purpose is not Purpose.CHECK:
                    history, is_thin = await self._checked(resource, history, arrived, context)
                    if is_thin:
                        first = arrived.observations.first_day
                        continue
                pulled = arrived
            await self._compare_newest(slug, pulled, context)
            if self._evidence.now.keeps_last is False and seen.keeps_last is not False:
                self._cache.distrust_lists()
                await self._learn(self._evidence.now)
        finally:
            if self._evidence.now.thin_details and not seen.thin_details:
                history = self._cache.history_without_detail(slug)
            history = await self._keep_pulled(resource, history, window, pulled, since, purpose)
        return history if first is None else await self._pull_in_parts(resource, history, window, context, first)

    def _days_to_ask(self, slug: str, history: History, window: Window, purpose: Purpose) -> Window:
        """The window, and days behind it that only a detail told: they show whether windows tell the same of them."""
        seen = self._evidence.now
        is_settled = seen.looks_agree or seen.longest_days or self._cache.sources.is_alike(slug)
        if is_settled or purpose in (Purpose.BESIDE, Purpose.SHORTER):
            return window
        if self._is_told_behind(self._cache.history_without_detail(slug), window):
            return window
        return overlapping(window, history.observations, seen)

    async def _keep_pulled(
        self,
        resource: HistoryResource,
        history: History,
        window: Window,
        pulled: Pulled,
        since: date | None,
        purpose: Purpose,
    ) -> History:
        """The history with what has arrived of a window, which is kept; a look is noted in the archive."""
        asked = pulled.known_window()
        days = asked.within(window)
        days = Window(min(days.start, since or days.start), days.end)
        if not pulled.pages or not days:
            return history
        now = self._cache.rules.arrival(self._clock())
        found = pulled.observations.between(days.start, days.end).between(None, utc_day(now))
        detail = self._cache.memory.get(SignalResource(resource.slug))
        if detail is not None:
            self._cache.compare(
                resource.slug, History(pulled.arrived.between(None, utc_day(now)), (Span(asked, now, now),)), detail
            )
            await self._learn_sources()
        if pulled.complete:
            lacks_last = self._evidence.now.keeps_last is False
            found = self._cache.shown_by_detail(resource.slug, days, found, now, lacks_last=lacks_last)
        if purpose is Purpose.BESIDE and not len(found):
            return history
        is_cut = self._looks_cut(history, days, found, pulled.arrived)
        self._looked_cut[resource.slug] = is_cut
        if is_cut:
            told = self._told(resource.slug)
            for rest in left_out(days, found, told.merged(found), utc_day(now)):
                days = Window(
                    *(found.first_day, days.end) if rest.start == days.start else (days.start, found.last_day)
                )
                if len(told.between(rest.start, rest.end)):
                    history = await self._cache.learn(resource, history, partial(doubted, window=rest), now)
        return await self._keep(resource, history, days, found, is_look=purpose is not Purpose.CHECK)

    async def _keep(
        self,
        resource: HistoryResource,
        history: History,
        days: Window,
        found: Observations,
        *,
        is_look: bool = True,
    ) -> History:
        """The history with `found` as all observations of these days, which is kept; a look is noted in the archive."""
        now = self._cache.rules.arrival(self._clock())
        if is_look:
            await self._cache.archive.look(resource.slug, days, found, now)
        return await self._cache.learn(resource, history, partial(after_pull, pulled=days, found=found, now=now), now)

    async def _compare_newest(self, slug: str, pulled: Pulled, context: CallContext) -> None:
        """Learn the newest observation from the detail where nothing shows that the last row of a window is there."""
        is_up_to_today = pulled.complete and pulled.window.end == date.max
        if not (is_up_to_today and len(pulled.arrived) and self._evidence.now.may_lack_last):
            return
        if isinstance(context.resource, SignalResource):
            return  # the detail itself is what the window was asked for
        with suppress(DataServiceError):  # of some names a service has no detail
            detail = (await self._read(SignalResource(slug), context.meter)).value
            if detail.last_day == pulled.arrived.last_day:
                self._evidence.now = replace(self._evidence.now, keeps_last=True)

    async def _check_empty(
        self, resource: HistoryResource, pulled: Pulled, window: Window, context: CallContext
    ) -> None:
        """Raise where a window is said to be empty of which the detail shows several observations at this time.

        One that is no longer fresh is asked for again: the service may have emptied the series since.
        """
        known = self._cache.memory.get(SignalResource(resource.slug))
        if len(pulled.observations) or not pulled.complete or known is None:
            return
        if not known.is_fresh(self._clock()) and _several_in(window, known):
            known = await self._detail_now(resource.slug, context)
        if known is not None and (shown := _several_in(window, known)):
            problem = f"no observations from {shown.first_day} on, where its detail shows {len(shown)}"
            raise self._sender.refused(MalformedAnswerError(problem), first_request(resource), context)

    async def _check_edge(
        self, resource: HistoryResource, history: History, pulled: Pulled, context: CallContext
    ) -> History:
        """The history with a look at the first days of a detail, where nothing came right before them.

        The day behind a window is asked for with it, and the detail has a row of it: it was due, too. Raises
        `MalformedAnswerError` where windows do not reach so far: what lies before is not known to be empty.
        """
        known, due = self._cache.memory.get(SignalResource(resource.slug)), pulled.window.end
        if len(pulled.arrived) or not pulled.complete or known is None or due == date.max:
            return history
        behind = known.value.history.between(due := day_after(due))[:LEAST_ROWS]
        if len(behind) < SEVERAL or behind.first_day != due:
            return history
        try:
            return await self._pull_at_once(
                resource, history, Window(due, behind.last_day), context, purpose=Purpose.CHECK
            )
        except MalformedAnswerError:
            self._evidence.now = replace(self._evidence.now, hides_past=True)
            await self._learn(self._evidence.now)
            raise

    async def _detail_now(self, slug: str, context: CallContext) -> Answer[SignalDetail] | None:
        """The detail of a signal as it is now; None where there is none any more, or it is what is asked for."""
        if isinstance(context.resource, SignalResource):
            return None  # the window is asked for in its place
        try:
            found: Answer[SignalDetail] = await self._read(SignalResource(slug), context.meter)
        except NotFoundError:
            return None
        if found.stale_because is not None:
            raise found.stale_because.afresh()
        return found

    async def _exists(self, slug: str) -> bool:
        """Return whether a detail or a catalogue at hand shows that there is such a signal."""
        if self._cache.memory.get(SignalResource(slug)) is not None:
            return True
        listed = await self._cache.last_known(CATALOGUE, self._clock())
        return listed is not None and listed_as(slug, listed.value) is not None

    def _begin(self, slug: str, window: Window) -> Pulled:
        """Nothing yet of a window, and what a detail at hand says of where the series ends."""
        now = self._clock()
        known = self._cache.memory.get(SignalResource(slug))
        newest = None if known is None else known.value.last_day
        is_sure = known is not None and newest is not None and known.is_fresh(now)
        return Pulled.begin(window, newest, newest if is_sure else utc_day(now))


def listed_as(slug: str, catalogue: Catalogue | None) -> Signal | None:
    """The signal of exactly this name in the catalogue."""
    signal = None if catalogue is None else catalogue.find(slug)
    return signal if signal is not None and signal.slug == slug else None


def _several_in(window: Window, detail: Answer[SignalDetail]) -> Observations | None:
    """The observations of a window that a detail shows, where they are several."""
    shown: Observations = detail.value.history.between(window.start, window.end)
    return shown if len(shown) >= SEVERAL else None
