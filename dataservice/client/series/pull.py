"""One signal's past as it is pulled: pages of windows arrive, and what is known grows with each of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from enum import Enum, auto
from functools import partial

from dataservice.client.cache.answer import Answer
from dataservice.client.cache.history import after_pull, doubted, gaps, told_lately
from dataservice.client.cache.spans import History, Span
from dataservice.client.contract.completeness.evidence import Evidence
from dataservice.client.contract.completeness.longest import lacks_told, left_out, looks_cut
from dataservice.client.contract.completeness.thinning import overlapping
from dataservice.client.contract.paging import Pulled
from dataservice.client.contract.requests import first_request
from dataservice.client.contract.resources import CATALOGUE, HistoryResource, SignalResource
from dataservice.client.contract.results import SignalDetail
from dataservice.client.contract.windows import Window, day_after
from dataservice.client.network.call_context import CallContext
from dataservice.client.pages import pages_of_window
from dataservice.client.series.tools import FetchTools, listed_as
from dataservice.errors import DataServiceError
from dataservice.observations import Observations


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


class SeriesPull:
    """What is known of one signal's past while windows of it are pulled for one call.

    `looks_cut`: whether the last window looked as if the service had cut it.
    """

    def __init__(self, tools: FetchTools, resource: HistoryResource, context: CallContext, history: History) -> None:
        self.tools = tools
        self.resource = resource
        self.slug = resource.slug
        self.signal = SignalResource(resource.slug)
        self.context = context
        self.history = history
        self.looks_cut = False
        self._distrusts_details = self.seen.thin_details

    @property
    def seen(self) -> Evidence:
        """What answers have shown of the service's ways so far."""
        return self.tools.evidence.now

    @property
    def detail_at_hand(self) -> Answer[SignalDetail] | None:
        """The signal's detail in memory, however old."""
        return self.tools.cache.answers.memory.get(self.signal)

    @property
    def by_windows(self) -> History:
        """What windows told of the signal so far, and nothing of its detail."""
        return self.tools.cache.signals.history_without_detail(self.slug)

    @property
    def is_in_place_of_detail(self) -> bool:
        """Return whether the windows are asked for in place of the detail: then there is none to ask for."""
        return isinstance(self.context.resource, SignalResource)

    def told(self, window: Window) -> Observations:
        """The observations of a window that windows told so far."""
        return self.by_windows.inside(window)

    def lately(self, window: Window) -> Observations:
        """The observations of a window as they were told so lately that they count as fresh."""
        return told_lately(self.history, window, self.tools.clock(), self.tools.cache.answers.rules)

    def unknown(self, window: Window) -> list[Window]:
        """The days of a window that are still to be pulled."""
        return gaps(self.history, window, self.tools.clock())

    def up_to_today(self, found: Observations) -> Observations:
        """What was found, without the days to come."""
        return found.between(None, self.tools.today)

    def refused(self, error: DataServiceError) -> DataServiceError:
        """Return the error to raise where what came cannot be relied on."""
        return self.tools.sender.refused(error, first_request(self.resource), self.context)

    async def read_detail(self) -> Answer[SignalDetail]:
        """The signal's detail; what it tells of the past is known from then on."""
        found: Answer[SignalDetail] = await self.tools.read(self.signal, self.context.meter)
        self.history = await self.tools.cache.signals.history_at_hand(self.slug, self.tools.clock())
        return found

    async def arrive(self, window: Window, since: date | None, purpose: Purpose) -> Pulled:
        """The pages of a window, and of some days behind it; if they break off, what arrived is kept."""
        seen, is_whole = self.seen, False
        pulled = self._begin(self._days_to_ask(window, purpose))
        try:
            async for arrived in pages_of_window(
                *(self.tools.sender, self.context, self.slug, pulled, self.tools.evidence),
                max_pages=self.tools.max_pages,
                exists=self._exists,
                is_closed=purpose is Purpose.SHORTER,
            ):
                pulled = self._begin(arrived.window) if arrived.problem else arrived  # nothing is kept of the first
            is_whole = True
        finally:
            if not is_whole:
                await self.keep_pulled(window, pulled, since, purpose)
        if self.seen.is_reached_by(pulled.arrived, self.tools.today):
            await self.tools.note(hidden_until=None)
        if self.seen.keeps_last is False and seen.keeps_last is not False:
            self.tools.cache.distrust_lists()
            await self.tools.learn(self.seen)
        return pulled

    def _begin(self, window: Window) -> Pulled:
        """Nothing yet of a window, and what a detail at hand says of where the series ends."""
        known = self.detail_at_hand
        newest = None if known is None else known.value.last_day
        is_sure = known is not None and newest is not None and known.is_fresh(self.tools.clock())
        return Pulled.begin(window, newest, newest if is_sure else self.tools.today)

    def _days_to_ask(self, window: Window, purpose: Purpose) -> Window:
        """The window, and days behind it that only a detail told: they show whether windows tell the same of them."""
        is_settled = self.seen.longest_days or self.tools.cache.signals.sources.is_alike(self.slug)
        is_alone = is_settled or purpose in (Purpose.BESIDE, Purpose.SHORTER)
        if is_alone or _is_told_behind(self.by_windows, window):
            return window
        return overlapping(window, self.history.observations, self.seen)

    async def _exists(self) -> bool:
        """Return whether a detail or a catalogue at hand shows that there is such a signal."""
        if self.detail_at_hand is not None:
            return True
        listed = await self.tools.cache.last_known(CATALOGUE, self.tools.clock())
        return listed is not None and listed_as(self.slug, listed.value) is not None

    async def keep_pulled(self, window: Window, pulled: Pulled, since: date | None, purpose: Purpose) -> None:
        """Keep what has arrived of a window; nothing lies between the day `since` and the window."""
        if self.seen.thin_details and not self._distrusts_details:
            self._distrusts_details, self.history = True, self.by_windows
        days = pulled.known_window().within(window)
        days = Window(min(days.start, since or days.start), days.end)
        if not pulled.pages or not days:
            return
        found = await self._compared(pulled, days)
        if len(found) or purpose is not Purpose.BESIDE:
            shown = await self._shown_of(days, found, pulled, purpose)
            behind = pulled if shown.end == window.end else None
            await self.keep(shown, found, is_look=purpose is not Purpose.CHECK, pulled=behind)

    async def _compared(self, pulled: Pulled, days: Window) -> Observations:
        """What arrived of these days, after it was compared with the detail at hand."""
        cache, now = self.tools.cache, self._arrival()
        if (detail := self.detail_at_hand) is not None:
            span = Span(pulled.known_window(), now, now)
            cache.signals.compare(self.slug, History(self.up_to_today(pulled.arrived), (span,)), detail)
            await self.tools.note_sources()
        found = self.up_to_today(pulled.observations.between(days.start, days.end))
        if not pulled.complete:
            return found
        return cache.signals.shown_by_detail(self.slug, days, found, now, lacks_last=self.seen.keeps_last is False)

    async def _shown_of(self, days: Window, found: Observations, pulled: Pulled, purpose: Purpose) -> Window:
        """The days that are known by what was found of them: where it looks cut, what was left out is not.

        What came beside a window that looked so shows that it was, and may be cut itself.
        What is known of the days that were left out is doubtful from now on. Behind the last row nothing was where a
        page was asked for from there on.
        """
        self.looks_cut = purpose is Purpose.BESIDE or self._is_cut(days, found, pulled.arrived)
        if not self.looks_cut:
            return days
        told = self.by_windows.observations
        for rest in left_out(days, found, told.merged(found), self.tools.today):
            is_before = rest.start == days.start
            if not is_before and pulled.is_end_shown:
                continue
            days = Window(found.first_day, days.end) if is_before else Window(days.start, found.last_day)
            if len(told.between(rest.start, rest.end)):
                await self._learn(partial(doubted, window=rest))
        return days

    def _is_cut(self, days: Window, found: Observations, arrived: Observations) -> bool:
        """Return whether what was found looks as if it was cut, alone or with what is known right behind it.

        The same where it lacks what windows told at its beginning or end.
        """
        if self.seen.cuts_windows or looks_cut(self.up_to_today(arrived)) or lacks_told(found, self.told(days)):
            return True
        if _is_told_behind(self.history, days):
            found = found.merged(self.history.observations.between(day_after(days.end)))
        return looks_cut(found)

    async def keep(
        self, days: Window, found: Observations, *, is_look: bool = True, pulled: Pulled | None = None
    ) -> None:
        """Keep `found` as all observations of these days.

        A look is noted in the archive, with what was `pulled` of the days behind them to be compared.
        """
        now = self._arrival()
        if is_look:
            await self.tools.cache.past.archive.look(self.slug, *_looked_at(days, found, pulled), now)
        await self._learn(partial(after_pull, pulled=days, found=found, now=now))

    async def forget(self) -> None:
        """Forget what windows told."""
        await self._learn(lambda _: History.nothing())

    async def _learn(self, change: Callable[[History], History]) -> None:
        self.history = await self.tools.cache.signals.learn(self.resource, self.history, change, self._arrival())

    def _arrival(self) -> float:
        return self.tools.cache.answers.rules.arrival(self.tools.clock())


def _looked_at(days: Window, found: Observations, pulled: Pulled | None) -> tuple[Window, Observations]:
    """The days and what was found of them, and of those behind them that were asked for as well."""
    if pulled is None or (end := pulled.known_window().end) <= days.end:
        return days, found
    return Window(days.start, end), found.merged(pulled.observations.between(day_after(days.end), end))


def _is_told_behind(history: History, window: Window) -> bool:
    """Return whether it is known what follows right behind a window."""
    return window.end < date.max and any(day_after(window.end) in span.window for span in history.spans)
