"""The observations of a signal over the network: its detail, and the windows of its history."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from typing import Any

import msgspec

from dataservice.client.cache.answer import Answer
from dataservice.client.cache.answer_cache import CATALOGUE
from dataservice.client.cache.codec import pack
from dataservice.client.cache.history import gaps, is_told_lately, pulls_needed, told_lately, window_of
from dataservice.client.cache.notes.window_only import DetailState, in_place_of_detail
from dataservice.client.cache.recent import newest_alone, settled, with_history
from dataservice.client.cache.sources import agreement
from dataservice.client.cache.spans import History
from dataservice.client.contract import decode
from dataservice.client.contract.aliases import is_alias, is_named
from dataservice.client.contract.completeness.density import (
    after_detail,
    are_moved,
    check_window,
    detail_may_be_thin,
    is_sparse,
    same_days,
)
from dataservice.client.contract.completeness.evidence import Evidence, Evidences
from dataservice.client.contract.completeness.longest import (
    QUIET_DAYS,
    SHORT_DAYS,
    left_out,
    lengths_to_try,
    names_a_length,
    part_before,
)
from dataservice.client.contract.completeness.sources import SEVERAL, Agreement, valued
from dataservice.client.contract.completeness.thinning import (
    days_of,
    leaves_out,
    tells_alike,
)
from dataservice.client.contract.paging import too_many_pages
from dataservice.client.contract.requests import HISTORY_LIMIT, first_request
from dataservice.client.contract.resources import HistoryResource, SignalResource
from dataservice.client.contract.results import Catalogue, SignalDetail
from dataservice.client.contract.windows import NO_DAYS, Window, day_before, days_in, utc_day
from dataservice.client.network.call_context import CallContext
from dataservice.client.pull_window import Purpose, WindowPuller, listed_as
from dataservice.errors import (
    DataServiceError,
    DeadlineExceededError,
    InvalidRequestError,
    MalformedAnswerError,
    NotFoundError,
)
from dataservice.models import Signal
from dataservice.observations import Observations

MOST_EMPTY_DAYS = 15 * 366
"""Parts of windows that are asked for without any observation: who wants older ones tells when they end."""

FEW_PARTS = 2
"""A window of so many parts is not asked for as a whole before."""


MOST_ROUNDS = 3
"""So often as many days may be left as before: a series that changes each time is not shown as one."""


class SeriesFetcher(WindowPuller):
    """Fetches details and histories: which windows a history takes, and which answers show one source."""

    async def detail(self, resource: SignalResource, context: CallContext) -> Answer[SignalDetail]:
        """The detail of a signal, after as many requests as it takes to show one source."""
        asked = self._detail_or_window if resource.may_be_refused else self._detail
        value, payload = await asked(resource, context)
        if self._cache.holds_windows(resource.slug):
            await self._check_windows(resource.slug, value.history, context)
        if is_sparse(value.history):
            value, payload = await self._relied_on(resource.slug, value, payload)
        else:
            self._evidence.now = after_detail(self._evidence.now, value.history)
        if self._cache.sources.is_apart(resource.slug):
            value = await self._of_windows(resource.slug, value, context)
            payload = pack(value)
        answer = await self._cache.keep_detail(resource, value, payload, self._clock(), ending=context.hand_over)
        if self._cache.sources.is_news:
            await self._learn_sources()
        return answer

    async def _detail(self, resource: SignalResource, context: CallContext) -> tuple[SignalDetail, bytes]:
        """The detail, which is about the very signal that was asked for."""
        request = first_request(resource)
        value, payload = await self._sender.fetch(
            request, context, partial(_arrived, self._evidence, utc_day(self._clock()))
        )
        asked, signal = resource.slug, value.signal
        if signal.slug == asked:
            return value, payload
        if is_named(signal, asked) or ((listed := await self._listed(context)) and is_alias(signal, asked, listed)):
            return _as_asked(value, asked, payload)
        mixed_up = MalformedAnswerError(f"an answer about {signal.slug[:60]!r}, asked for {asked!r}")
        raise self._sender.refused(mixed_up, request, context)

    async def _detail_or_window(self, resource: SignalResource, context: CallContext) -> tuple[SignalDetail, bytes]:
        """The detail; or what a window tells of a signal that has none, which is noted: that 404 is paid for once."""
        slug, notes, rules = resource.slug, self._cache.window_only, self._cache.rules
        signal = await self._signal_at_hand(resource) if await notes.lacks_detail(slug, self._clock(), rules) else None
        if signal is None:
            try:
                found = await self._detail(resource, context)
            except NotFoundError:
                others_have = self._evidence.now.details_of_dots
                state = await notes.state(slug, self._clock(), rules, others_have=others_have)
                signal = None if state is DetailState.ANSWERED else listed_as(slug, await self._listed(context))
                if signal is None:
                    await self._note_gone(slug, state)
                    raise
                self._sender.pardon(first_request(resource), context)
            else:
                await notes.answered(slug, self._clock())
                if not self._evidence.now.details_of_dots:
                    self._evidence.now = replace(self._evidence.now, details_of_dots=True)
                    await self._learn(self._evidence.now)
                return found
        try:
            detail = await self._detail_of_window(signal, context)
        except NotFoundError:
            await self._note_gone(slug, DetailState.LACKING)
            raise
        await notes.note(slug, self._clock())
        return detail, pack(detail)

    async def _note_gone(self, slug: str, state: DetailState) -> None:
        """Note that nothing answered where something did: whoever asks next asks for all there may be."""
        if state is not DetailState.UNKNOWN:
            await self._cache.window_only.note(slug, self._clock(), is_doubtful=True)

    async def _signal_at_hand(self, resource: SignalResource) -> Signal | None:
        """The signal as its last known detail or the last known catalogue tells it."""
        known = await self._cache.last_known(resource, self._clock())
        listed = None if known else await self._cache.last_known(CATALOGUE, self._clock())
        return known.value.signal if known else listed_as(resource.slug, listed.value if listed else None)

    async def _listed(self, context: CallContext) -> Catalogue | None:
        """A catalogue at hand, or asked for, as whoever asked for a name will do next; None where there is none."""
        listed = await self._cache.last_known(CATALOGUE, self._clock())
        if listed is None:
            with suppress(DataServiceError):
                listed = await self._read(CATALOGUE, context.meter)
        return None if listed is None else listed.value

    async def _of_windows(self, slug: str, detail: SignalDetail, context: CallContext) -> SignalDetail:
        """A detail that just arrived with what a window of a year tells, where these were seen to differ.

        As it is, once they agree.
        """
        sources, now = self._cache.sources, self._clock()
        with suppress(DataServiceError):
            await self.history(HistoryResource(slug, utc_day(now) - timedelta(days=HISTORY_LIMIT)), context)
            told = self._cache.history_without_detail(slug)
            if agreement(detail, now, told, self._cache.rules) is Agreement.ALIKE:
                sources.learn(slug, Agreement.ALIKE)
                return detail
        return self._cache.of_windows(slug, detail)

    async def _relied_on(self, slug: str, detail: SignalDetail, payload: bytes) -> tuple[SignalDetail, bytes]:
        """A sparse detail that just arrived, without a history that leaves out known days, or may do so."""
        known = self._cache.history_without_detail(slug)
        if known.spans or detail_may_be_thin(detail.history, self._evidence.now):  # else no look into the store
            known = await self._cache.history_at_hand(slug, self._clock())
        if leaves_out(detail.history, known.observations):
            await self._distrust_details()
            value = newest_alone(detail)
        elif tells_alike(detail.history, known.observations):
            value = detail
        else:
            value = self._details.relied_on(detail, self._evidence.now)
        return (detail, payload) if value is detail else (value, pack(value))

    async def _check_windows(self, slug: str, recent: Observations, context: CallContext) -> None:
        """Forget what windows told whose rows stand on other days than those of a detail, if shorter ones tell others.

        A service that puts rows at the start of their period does so in long windows alone; what stands on other days
        in all of them is another source.
        """
        told = self._told(slug)
        if self._cache.sources.is_known(slug) or not (
            is_sparse(recent) and is_sparse(told) and are_moved(told, recent)
        ):
            return
        resource = HistoryResource(slug)
        days = check_window(told)
        with suppress(DataServiceError):
            history = self._cache.history_without_detail(slug)
            history = await self._pull_at_once(resource, history, days, context, purpose=Purpose.CHECK)
            if not same_days(told, history.observations, days):
                await self._part_windows((told.last_day - told.first_day).days)
                await self._cache.learn(resource, history, lambda _: History.nothing(), self._clock())

    async def _detail_of_window(self, signal: Signal, context: CallContext) -> SignalDetail:
        """The detail of a signal out of the window of a year; out of all that there is where nothing is known of it.

        Of one that was known and has nothing in the year of its last observation, nothing is left.
        """
        now, resource = self._clock(), SignalResource(signal.slug)
        known = await self._cache.last_known(resource, now)
        year = in_place_of_detail(signal.slug, known.value if known else None, utc_day(now))
        found = (await self.history(year, context)).value
        if not len(found) and known is None:
            found = (await self.history(HistoryResource(signal.slug), context)).value
        return with_history(SignalDetail(signal, None), found[-HISTORY_LIMIT:])

    async def history(self, resource: HistoryResource, context: CallContext) -> Answer[Any]:
        was_thin = self._evidence.now.thin_details
        history = await self._cache.history_at_hand(resource.slug, self._clock())
        now, wanted = self._time_and_window(resource)
        for pull in pulls_needed(history, wanted, now, self._cache.rules, rows_at_once=self._evidence.now.rows_at_once):
            history = await self._pull(resource, history, pull, context)
        if self._evidence.now.thin_details and not was_thin:
            return await self.history(resource, context)
        now, wanted = self._time_and_window(resource)
        history = await self._completed(resource, history, wanted, context)
        answer = self._cache.from_history(resource, history, self._clock())
        if answer is None or gaps(history, wanted, now):
            raise DeadlineExceededError("the history could not be completed")
        return answer

    async def _completed(
        self, resource: HistoryResource, history: History, wanted: Window, context: CallContext
    ) -> History:
        """The history with what is still unknown of a window pulled, as long as each round leaves fewer days.

        Of a window that is cut little comes at a time; a pull that finds a revision makes others doubtful.
        """
        now, pulls, futile = self._clock(), 0, 0
        left = gaps(history, wanted, now)
        while left and futile < MOST_ROUNDS and pulls < self._max_pages:
            for gap in left:
                history = await self._pull(resource, history, gap, context)
            pulls, before = pulls + len(left), left
            left = gaps(history, wanted, now)
            futile += days_in(left) >= days_in(before)
        return history

    def _time_and_window(self, resource: HistoryResource) -> tuple[float, Window]:
        now = self._clock()
        return now, window_of(resource.start, resource.end, utc_day(now))

    async def _pull(self, resource: HistoryResource, history: History, window: Window, context: CallContext) -> History:
        """The history with `window` pulled, in parts where longer windows are known to be thinned out.

        A window of many parts is asked for as a whole first: it tells where the series begins, and whether it is one
        that has so few rows by itself.
        """
        days, seen = days_of(window, utc_day(self._clock())), self._evidence.now
        if seen.longest_days and days > seen.longest_days:
            return await self._pull_back(resource, history, window, context)
        try:
            if not seen.thin_over or days > FEW_PARTS * seen.thin_over:
                purpose = Purpose.BESIDE if seen.hides_past else Purpose.WINDOW
                history = await self._pull_at_once(resource, history, window, context, purpose=purpose)
            else:
                history = await self._pull_in_parts(resource, history, window, context, None)
        except InvalidRequestError as error:
            return await self._pull_shorter(resource, history, window, context, error, seen)
        return await self._asked_beside(resource, history, window, context)

    async def _pull_shorter(
        self,
        resource: HistoryResource,
        history: History,
        window: Window,
        context: CallContext,
        error: InvalidRequestError,
        seen: Evidence,
    ) -> History:
        """The history with a window pulled that was refused, in shorter ones, if its length was why.

        Where the refusal does not say so, a short window tells whether it was.
        """
        today = utc_day(self._clock())
        lengths = lengths_to_try(days_of(window, today), error.message)
        if not lengths:
            raise error
        request = first_request(resource)
        self._evidence.now = replace(self._evidence.now, bounds=seen.bounds)
        if not names_a_length(error.message):
            lengths = (SHORT_DAYS, *lengths)
        for length in lengths:
            self._sender.pardon(request, context)
            part = part_before(window, length, today)
            try:
                history = await self._pull_at_once(resource, history, part, context, purpose=Purpose.SHORTER)
            except InvalidRequestError:
                if length == SHORT_DAYS:
                    break
            else:
                if length != SHORT_DAYS:
                    self._evidence.now = replace(self._evidence.now, longest_days=length)
                    await self._learn(self._evidence.now)
                    return await self._pull_back(resource, history, window, context)
        raise error

    async def _pull_back(
        self, resource: HistoryResource, history: History, window: Window, context: CallContext
    ) -> History:
        """The history with `window` pulled in parts of the longest that the service allows, the newest first.

        Those that a shorter window told just now are known; others are asked for, as a refresh looks for revisions.
        An open start ends where nothing came for so long that the series begins there.
        """
        today, longest = utc_day(self._clock()), self._evidence.now.longest_days
        rest, first = window, min(window.end, today)
        is_begun, sent = False, 0
        while rest:
            part = part_before(rest, longest, today)
            if sent >= self._max_pages or (not is_begun and (first - part.start).days > MOST_EMPTY_DAYS):
                what = f"the observations of {resource.slug}"
                told = too_many_pages(what, self._max_pages, f"a window spans at most {longest} days")
                raise self._sender.refused(told, first_request(resource), context)
            if not is_told_lately(history, part, self._clock(), self._cache.rules):
                history, sent = await self._pull_at_once(resource, history, part, context), sent + 1
            found = self._told(resource.slug).between(part.start, part.end)
            if len(found):
                is_begun, first = True, found.first_day
            rest = Window(rest.start, day_before(part.start)) if part.start > rest.start else NO_DAYS
            if rest and is_begun and (first - part.start).days > QUIET_DAYS:
                return await self._keep(resource, history, rest, found[:0])
        return history

    async def _asked_beside(
        self, resource: HistoryResource, history: History, window: Window, context: CallContext
    ) -> History:
        """The history with what lies beside a window that looks as if it was cut, until nothing does.

        Raises `MalformedAnswerError` where the detail shows several observations before all that windows show.
        """
        today, is_cut = utc_day(self._clock()), self._looked_cut.pop(resource.slug, False)
        empty: set[Window] = set()
        for _ in range(self._max_pages):
            told = self._told(resource.slug)
            found = told.between(window.start, window.end)
            rests = [each for each in left_out(window, found, told, today) if each not in empty]
            if not rests or not (is_cut or self._evidence.now.cuts_windows):
                break
            history = await self._pull_at_once(resource, history, rests[0], context, purpose=Purpose.BESIDE)
            if len(self._told(resource.slug).between(window.start, window.end)) > len(found):
                self._evidence.now = replace(self._evidence.now, cuts_windows=True)
                await self._learn(self._evidence.now)
            else:
                empty.add(rests[0])
        await self._compare_reach(resource, window, context, may_ask=bool(empty))
        is_untold = gaps(history, window, self._clock()) == [window]
        if self._evidence.now.hides_past and (is_untold or any(rest.start == window.start for rest in empty)):
            problem = f"nothing came from {window.start} on, and windows of others left out what was older"
            raise self._sender.refused(MalformedAnswerError(problem), first_request(resource), context)
        for rest in empty:
            if not len(told_lately(history, rest, self._clock(), self._cache.rules)):  # what came may have been known
                history = await self._keep(resource, history, rest, found[:0], is_look=False)
        return history

    async def _compare_reach(
        self, resource: HistoryResource, window: Window, context: CallContext, *, may_ask: bool
    ) -> None:
        """Raise where the detail shows several observations of a window before the first one that came.

        The detail is asked for where the window looked as if it was cut; an old one may show what is gone by now.
        """
        signal, found = SignalResource(resource.slug), self._told(resource.slug).between(window.start, window.end)
        known = self._cache.memory.get(signal)
        if known is None and may_ask and not isinstance(context.resource, SignalResource):
            with suppress(DataServiceError):
                known = await self._read(signal, context.meter)
        if known is None or not known.is_fresh(self._clock()) or not len(found) or found.first_day <= window.start:
            return
        shown = valued(known.value.history.between(window.start, day_before(found.first_day)))
        if len(shown) >= SEVERAL:
            self._evidence.now = replace(self._evidence.now, hides_past=True)
            await self._learn(self._evidence.now)
            problem = f"windows begin on {found.first_day}, and the detail shows {len(shown)} observations before"
            raise self._sender.refused(MalformedAnswerError(problem), first_request(resource), context)


def _as_asked(detail: SignalDetail, asked: str, payload: bytes) -> tuple[SignalDetail, bytes]:
    """A detail under the slug that it was asked by: under another one the service may know no window of it."""
    if detail.signal.slug.casefold() == asked.casefold():
        return detail, payload
    detail = replace(detail, signal=msgspec.structs.replace(detail.signal, slug=asked))
    return detail, pack(detail)


@decode.readable
def _arrived(evidence: Evidences, today: date, body: bytes) -> tuple[SignalDetail, bytes]:
    """What a body says of a signal, and the bytes to keep."""
    evidence.heed(body)
    value = settled(decode.signal_detail(body, evidence.now.day_first), today)
    if evidence.now.thin_details:
        value = newest_alone(value)
    return value, pack(value)
