"""The detail of a signal, after as many requests as it takes to show one source."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from functools import partial

import msgspec

from dataservice.client.cache.answer import Answer
from dataservice.client.cache.codec import pack
from dataservice.client.cache.notes.window_only import DetailState, in_place_of_detail
from dataservice.client.cache.recent import newest_alone, settled, with_history
from dataservice.client.cache.sources import agreement
from dataservice.client.cache.spans import History
from dataservice.client.contract import decode
from dataservice.client.contract.aliases import is_alias, is_named
from dataservice.client.contract.body import version_in
from dataservice.client.contract.completeness.density import (
    after_detail,
    are_moved,
    check_window,
    detail_may_be_thin,
    is_sparse,
    same_days,
)
from dataservice.client.contract.completeness.evidence import Evidences
from dataservice.client.contract.completeness.sources import Agreement
from dataservice.client.contract.completeness.thinning import leaves_out, tells_alike
from dataservice.client.contract.requests import HISTORY_LIMIT, first_request
from dataservice.client.contract.resources import CATALOGUE, HistoryResource, SignalResource
from dataservice.client.contract.results import Catalogue, SignalDetail
from dataservice.client.network.call_context import CallContext
from dataservice.client.series.doubts import ask_in_parts, look
from dataservice.client.series.histories import fetch_history
from dataservice.client.series.pull import SeriesPull
from dataservice.client.series.tools import FetchTools, listed_as
from dataservice.errors import DataServiceError, MalformedAnswerError, NotFoundError
from dataservice.models import Signal


class DetailFetch:
    """One call for the detail of a signal."""

    def __init__(self, tools: FetchTools, resource: SignalResource, context: CallContext) -> None:
        self._tools = tools
        self._cache = tools.cache
        self._signals = tools.cache.signals
        self._resource = resource
        self._slug = resource.slug
        self._context = context

    async def run(self) -> Answer[SignalDetail]:
        """The detail after as many requests as it takes, compared with what windows told, and kept as it is shown."""
        value, payload = await (self._detail_or_window() if self._resource.may_be_refused else self._detail())
        if (told := self._signals.history_without_detail(self._slug)).spans:
            await self._check_windows(value, told)
        if is_sparse(value.history):
            if told.spans or detail_may_be_thin(value.history, self._tools.evidence.now):
                value, payload = await self._relied_on(value, payload)
        else:
            self._tools.evidence.now = after_detail(self._tools.evidence.now, value.history)
        if self._signals.sources.is_apart(self._slug):
            value = await self._of_windows(value)  # it is kept as it came: others compare it with windows
        ending = self._context.hand_over
        answer = await self._cache.keep_detail(self._resource, value, payload, self._tools.clock(), ending=ending)
        await self._tools.note_sources()
        return answer

    async def _detail(self) -> tuple[SignalDetail, bytes]:
        """The detail, which is about the very signal that was asked for."""
        request, asked = first_request(self._resource), self._slug
        read = partial(_arrived, self._tools.evidence, self._tools.today)
        value, payload = await self._tools.sender.fetch(request, self._context, read)
        signal = value.signal
        if signal.slug == asked:
            return value, payload
        if is_named(signal, asked) or ((listed := await self._listed()) and is_alias(signal, asked, listed)):
            return _as_asked(value, asked, payload)
        mixed_up = MalformedAnswerError(f"an answer about {signal.slug[:60]!r}, asked for {asked!r}")
        raise self._tools.sender.refused(mixed_up, request, self._context)

    async def _detail_or_window(self) -> tuple[SignalDetail, bytes]:
        """The detail; or what a window tells of a signal that has none, which is noted: that 404 is paid for once."""
        slug, notes, rules, now = (
            self._slug,
            self._signals.window_only,
            self._cache.answers.rules,
            self._tools.clock,
        )
        signal = await self._signal_at_hand() if await notes.lacks_detail(slug, now(), rules) else None
        if signal is None:
            try:
                found = await self._detail()
            except NotFoundError:
                state = await notes.state(slug, now(), rules, others_have=self._tools.evidence.now.details_of_dots)
                signal = None if state is DetailState.ANSWERED else listed_as(slug, await self._listed())
                if signal is None:
                    await self._note_gone(state)
                    raise
                self._tools.sender.pardon(first_request(self._resource), self._context)
            else:
                await notes.answered(slug, now())
                if not self._tools.evidence.now.details_of_dots:
                    await self._tools.note(details_of_dots=True)
                return found
        try:
            detail = await self._detail_of_window(signal)
        except NotFoundError:
            await self._note_gone(DetailState.LACKING)
            raise
        await notes.note(slug, now())
        return detail, pack(detail)

    async def _note_gone(self, state: DetailState) -> None:
        """Note that nothing answered where something did: whoever asks next asks for all there may be."""
        if state is not DetailState.UNKNOWN:
            await self._signals.window_only.note(self._slug, self._tools.clock(), is_doubtful=True)

    async def _signal_at_hand(self) -> Signal | None:
        """The signal as its last known detail or the last known catalogue tells it."""
        known = await self._cache.last_known(self._resource, self._tools.clock())
        listed = None if known else await self._cache.last_known(CATALOGUE, self._tools.clock())
        return known.value.signal if known else listed_as(self._slug, listed.value if listed else None)

    async def _listed(self) -> Catalogue | None:
        """A catalogue at hand, or asked for, as whoever asked for a name will do next; None where there is none."""
        listed = await self._cache.last_known(CATALOGUE, self._tools.clock())
        if listed is None:
            with suppress(DataServiceError):
                listed = await self._tools.read(CATALOGUE, self._context.meter)
        return None if listed is None else listed.value

    async def _of_windows(self, detail: SignalDetail) -> SignalDetail:
        """A detail that just arrived with what a window of a year tells, where these were seen to differ.

        As it is, once they agree.
        """
        since = self._tools.today - timedelta(days=HISTORY_LIMIT)
        with suppress(DataServiceError):
            await fetch_history(self._tools, HistoryResource(self._slug, since), self._context)
            told = self._signals.history_without_detail(self._slug)
            if agreement(detail, self._tools.clock(), told, self._cache.answers.rules) is Agreement.ALIKE:
                self._signals.sources.learn(self._slug, Agreement.ALIKE)
                return detail
        return self._signals.of_windows(self._slug, detail)

    async def _relied_on(self, detail: SignalDetail, payload: bytes) -> tuple[SignalDetail, bytes]:
        """A sparse detail that just arrived, without a history that leaves out known days, or may do so."""
        known = await self._signals.history_at_hand(self._slug, self._tools.clock())
        if leaves_out(detail.history, known.observations):
            await self._tools.distrust_details()
            value = newest_alone(detail)
        elif tells_alike(detail.history, known.observations):
            value = detail
        else:
            value = self._tools.details.relied_on(detail, self._tools.evidence.now)
        return (detail, payload) if value is detail else (value, pack(value))

    async def _check_windows(self, detail: SignalDetail, known: History) -> None:
        """Forget what windows told whose rows stand on other days than those of a detail, if shorter ones tell others.

        A service that puts rows at the start of their period does so in long windows alone; what stands on other days
        in all of them is another source.
        """
        recent, told = detail.history, known.observations
        is_compared = self._signals.sources.is_known(self._slug)
        if is_compared or not (is_sparse(recent) and is_sparse(told) and are_moved(told, recent)):
            return
        days = check_window(told)
        with suppress(DataServiceError):
            pull = SeriesPull(self._tools, HistoryResource(self._slug), self._context, known)
            await look(pull, days)
            if not same_days(told, pull.history.observations, days):
                await ask_in_parts(self._tools, (told.last_day - told.first_day).days)
                await pull.forget()

    async def _detail_of_window(self, signal: Signal) -> SignalDetail:
        """The detail of a signal out of the window of a year; out of all that there is where nothing is known of it.

        Of one that was known and has nothing in the year of its last observation, nothing is left.
        """
        resource = SignalResource(signal.slug)
        known = await self._cache.last_known(resource, self._tools.clock())
        year = in_place_of_detail(signal.slug, known.value if known else None, self._tools.today)
        found = (await fetch_history(self._tools, year, self._context)).value
        if not len(found) and known is None:
            found = (await fetch_history(self._tools, HistoryResource(signal.slug), self._context)).value
        return with_history(SignalDetail(signal, None), found[-HISTORY_LIMIT:])


def _as_asked(detail: SignalDetail, asked: str, payload: bytes) -> tuple[SignalDetail, bytes]:
    """A detail under the slug that it was asked by: under another one the service may know no window of it."""
    if detail.signal.slug.casefold() == asked.casefold():
        return detail, payload
    detail = replace(detail, signal=msgspec.structs.replace(detail.signal, slug=asked))
    return detail, pack(detail)


@decode.readable
def _arrived(evidence: Evidences, today: date, body: bytes) -> tuple[SignalDetail, bytes]:
    """What a body says of a signal, and the bytes to keep."""
    if (version := version_in(body)) != evidence.now.version:
        evidence.heed(version)
    value = settled(decode.signal_detail(body, evidence.now.day_first), today)
    if evidence.now.thin_details:
        value = newest_alone(value)
    return value, pack(value)
