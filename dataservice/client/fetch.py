"""From a resource to its answer over the network: which requests that takes, and where their answers are kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import count
from typing import Any, cast

import msgspec

from dataservice.client.cache.answer import Answer
from dataservice.client.cache.answer_cache import CATALOGUE, AnswerCache
from dataservice.client.cache.codec import pack
from dataservice.client.cache.history import after_pull, gaps, pulls_needed, told_lately, window_of
from dataservice.client.cache.recent import DoubtfulDetails, newest_alone, settled, with_history
from dataservice.client.cache.spans import History
from dataservice.client.cache.window_only import DetailState, in_place_of_detail
from dataservice.client.contract import decode
from dataservice.client.contract.aliases import is_alias, is_named
from dataservice.client.contract.completeness.catalogue import PulledCatalogue
from dataservice.client.contract.completeness.density import (
    after_dense_window,
    after_detail,
    check_window,
    detail_may_be_thin,
    is_sparse,
    same_days,
    window_may_be_thin,
)
from dataservice.client.contract.completeness.evidence import NOTHING_SEEN, Evidence, Evidences
from dataservice.client.contract.completeness.lists import ListKind, PulledList
from dataservice.client.contract.completeness.looks import SEVERAL
from dataservice.client.contract.completeness.thinning import (
    SHORTEST_PART_DAYS,
    days_of,
    leaves_out,
    likely_start,
    overlapping,
    parts_of,
    shorter_parts,
    tells_alike,
)
from dataservice.client.contract.paging import (
    MAX_PAGES,
    Pulled,
    too_many_pages,
)
from dataservice.client.contract.requests import (
    HISTORY_LIMIT,
    LIST_LIMIT,
    first_request,
)
from dataservice.client.contract.resources import (
    CatalogueResource,
    CurrentsResource,
    HistoryResource,
    IndicesResource,
    PostsResource,
    Resource,
    SignalResource,
    WireResource,
)
from dataservice.client.contract.results import Catalogue, Currents, Indices, Page, SignalDetail, newest_first
from dataservice.client.contract.windows import NO_DAYS, Window, day_before, utc_day
from dataservice.client.network.call_context import CallContext, Meter
from dataservice.client.network.sender import RequestSender
from dataservice.client.pages import pages_of_catalogue, pages_of_window
from dataservice.errors import (
    DataServiceError,
    DeadlineExceededError,
    MalformedAnswerError,
    NotFoundError,
)
from dataservice.models import Post, Signal, WireItem
from dataservice.observations import Observations


def _collection(kind: type[Indices | Currents]) -> Callable[[PulledList], Any]:
    def whole(pulled: PulledList) -> Indices | Currents:
        found = kind(pulled.records)
        found.odd, found.may_be_cut = pulled.odd, pulled.may_be_cut or not pulled.is_complete
        return found

    return whole


def _page(kind: type[Post | WireItem]) -> Callable[[PulledList], Page[Any]]:
    return lambda pulled: Page(
        newest_first(pulled.records), pulled.is_complete, kind, pulled.odd, may_be_cut=pulled.may_be_cut
    )


LISTS: dict[type[Resource[Any]], ListKind] = {
    IndicesResource: ListKind("indices", decode.indices_page, _collection(Indices), lambda index: index.slug),
    CurrentsResource: ListKind("currents", decode.currents_page, _collection(Currents), lambda current: current.slug),
    PostsResource: ListKind("posts", decode.posts_page, _page(Post), lambda post: post.slug, LIST_LIMIT),
    WireResource: ListKind("wire", decode.wire_page, _page(WireItem), lambda item: item.id, LIST_LIMIT),
}


FEW_PARTS = 2
"""A window of so many parts is not asked for as a whole before."""


class Fetcher:
    """Fetches resources through `sender` and keeps what arrives in `cache`.

    What pages show of the service's ways is remembered in `evidence`.
    """

    def __init__(
        self,
        sender: RequestSender,
        cache: AnswerCache,
        read: Callable[[Resource[Any], Meter], Awaitable[Answer[Any]]],
        learn: Callable[[Evidence], Awaitable[None]],
        *,
        clock: Callable[[], float],
        max_pages: int = MAX_PAGES,
    ) -> None:
        self._sender = sender
        self._read = read
        self._learn = learn
        self._details = DoubtfulDetails()
        self._max_pages = max_pages
        self._cache = cache
        self._clock = clock
        self.evidence = Evidences()

    async def fetch(self, resource: Resource[Any], context: CallContext) -> Answer[Any]:
        """The answer to `resource`, after as many requests as it takes."""
        if isinstance(resource, HistoryResource):
            return await self._history(resource, context)
        value, payload = await self._value(resource, context)
        if isinstance(resource, SignalResource):
            value, payload = await self._relied_on(resource.slug, value, payload)
        return await self._cache.keep(resource, value, payload, self._clock(), ending=context.hand_over)

    async def _value(self, resource: Resource[Any], context: CallContext) -> tuple[Any, bytes]:
        """The value and its bytes: what cannot be kept is refused like what cannot be read."""
        if isinstance(resource, CatalogueResource):
            pulled = PulledCatalogue()
            async for step in pages_of_catalogue(self._sender, context, max_pages=self._max_pages):
                pulled = step
            may_lack_last = self.evidence.now.keeps_last is False and not pulled.told
            catalogue = Catalogue(tuple(pulled.found.values()), pulled.odd, pulled.may_be_cut or may_lack_last)
            return catalogue, pack(catalogue)
        if (kind := LISTS.get(type(resource))) is not None:
            return await self._list(kind, resource, context)
        if isinstance(resource, SignalResource) and resource.may_be_refused:
            return await self._detail_or_window(resource, context)
        return await self._detail(resource, context)

    async def _detail(self, resource: Resource[Any], context: CallContext) -> tuple[Any, bytes]:
        """The detail, which is about the very signal that was asked for."""
        request = first_request(resource)
        value, payload = await self._sender.fetch(request, context, partial(_arrived, resource, self.evidence))
        asked, signal = resource.slug if isinstance(resource, SignalResource) else "", value.signal
        if signal.slug == asked:
            return value, payload
        if is_named(signal, asked) or ((listed := await self._listed(context)) and is_alias(signal, asked, listed)):
            return _as_asked(value, asked, payload)
        mixed_up = MalformedAnswerError(f"an answer about {signal.slug[:60]!r}, asked for {asked!r}")
        raise self._sender.refused(mixed_up, request, context)

    async def _detail_or_window(self, resource: SignalResource, context: CallContext) -> tuple[Any, bytes]:
        """The detail; or what a window tells of a signal that has none, which is noted: that 404 is paid for once."""
        slug, notes, rules = resource.slug, self._cache.window_only, self._cache.rules
        signal = await self._signal_at_hand(resource) if await notes.lacks_detail(slug, self._clock(), rules) else None
        if signal is None:
            try:
                found = await self._detail(resource, context)
            except NotFoundError:
                state = await notes.state(slug, self._clock(), rules)
                signal = None if state is DetailState.ANSWERED else _listed_as(slug, await self._listed(context))
                if signal is None:
                    await self._note_gone(slug, state)
                    raise
                self._sender.pardon(first_request(resource), context)
            else:
                await notes.answered(slug, self._clock())
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
        return known.value.signal if known else _listed_as(resource.slug, listed.value if listed else None)

    async def _listed(self, context: CallContext) -> Catalogue | None:
        """A catalogue at hand, or asked for, as whoever asked for a name will do next; None where there is none."""
        listed = await self._cache.last_known(CATALOGUE, self._clock())
        if listed is None:
            with suppress(DataServiceError):
                listed = await self._read(CATALOGUE, context.meter)
        return None if listed is None else listed.value

    async def _relied_on(self, slug: str, detail: SignalDetail, payload: bytes) -> tuple[SignalDetail, bytes]:
        """A detail that just arrived, without a history that leaves out days which are known, or may do so."""
        if not is_sparse(detail.history):
            self.evidence.now = after_detail(self.evidence.now, detail.history)
            return detail, payload
        known = self._cache.history_without_detail(slug)
        if known.spans or detail_may_be_thin(detail.history, self.evidence.now):  # else no look into the store
            known = await self._cache.history_at_hand(slug, self._clock())
        if leaves_out(detail.history, known.observations):
            await self._distrust_details()
            value = newest_alone(detail)
        elif tells_alike(detail.history, known.observations):
            value = detail
        else:
            value = self._details.relied_on(detail, self.evidence.now)
        return (detail, payload) if value is detail else (value, pack(value))

    async def _distrust_details(self) -> None:
        """Let no recent history count from now on: the service leaves days out of them."""
        self.evidence.now = replace(self.evidence.now, thin_details=True, looks_agree=False)
        self._cache.distrust_details()
        await self._learn(self.evidence.now)

    async def _detail_of_window(self, signal: Signal, context: CallContext) -> SignalDetail:
        """The detail of a signal out of the window of a year; out of all that there is where nothing is known of it.

        Of one that was known and has nothing in the year of its last observation, nothing is left.
        """
        now, resource = self._clock(), SignalResource(signal.slug)
        known = await self._cache.last_known(resource, now)
        year = in_place_of_detail(signal.slug, known.value if known else None, utc_day(now))
        found = (await self._history(year, context)).value
        if not len(found) and known is None:
            found = (await self._history(HistoryResource(signal.slug), context)).value
        return with_history(SignalDetail(signal, None), found[-HISTORY_LIMIT:])

    async def _list(self, kind: ListKind, resource: Resource[Any], context: CallContext) -> tuple[Any, bytes]:
        """A list, page by page; another page is asked for only where others follow, or the list may have been cut."""
        request = first_request(resource)
        filters = len(request.params) - bool(kind.most)
        pulled, left = PulledList(kind, filters), 0  # what is left is believed from the second page on, as of signals
        for pages in count():
            if max(pages + 1, pages + left if pages > 1 and not kind.most else 0) > self._max_pages:
                what = request.path.rpartition("/")[2]
                raise self._sender.refused(
                    too_many_pages(f"the {what}", self._max_pages, "there are too many"), request, context
                )
            page = await self._sender.fetch(
                request.further(pulled.further), context, partial(_packable, kind, self.evidence)
            )
            pulled, left = pulled.with_page(page, self.evidence.now), page.pages
            self.evidence.now = self.evidence.now.after_list(
                kind.name, pulled.most_rows, is_filtered=bool(filters), went_on=pulled.went_on
            )
            if not pulled.further:
                break
        if self.evidence.now.keeps_last is False and not pulled.told:
            pulled = replace(pulled, is_complete=False, may_be_cut=True)
        value = kind.whole(pulled)
        if isinstance(value, Indices) and self.evidence.now.reading:
            value = value.read_from(self.evidence.now.reading)
        if isinstance(resource, PostsResource | WireResource):
            value = _passing(resource, value)
        return value, pack(value)

    async def _history(self, resource: HistoryResource, context: CallContext) -> Answer[Any]:
        was_thin = self.evidence.now.thin_details
        history = await self._cache.history_at_hand(resource.slug, self._clock())
        now, wanted = self._time_and_window(resource)
        for pull in pulls_needed(history, wanted, now, self._cache.rules, rows_at_once=self.evidence.now.rows_at_once):
            history = await self._pull(resource, history, pull, context)
        if self.evidence.now.thin_details and not was_thin:
            return await self._history(resource, context)
        now, wanted = self._time_and_window(resource)
        for gap in gaps(history, wanted, now):  # a check may have found a revision: pull what it made doubtful
            history = await self._pull(resource, history, gap, context)
        answer = self._cache.from_history(resource, history, self._clock())
        if answer is None:
            raise DeadlineExceededError("the history could not be completed")
        return answer

    def _time_and_window(self, resource: HistoryResource) -> tuple[float, Window]:
        now = self._clock()
        return now, window_of(resource.start, resource.end, utc_day(now))

    async def _pull(self, resource: HistoryResource, history: History, window: Window, context: CallContext) -> History:
        """The history with `window` pulled, in parts where longer windows are known to be thinned out.

        A window of many parts is asked for as a whole first: it tells where the series begins, and whether it is one
        that has so few rows by itself.
        """
        most_days = self.evidence.now.thin_over
        if not most_days or days_of(window, utc_day(self._clock())) > FEW_PARTS * most_days:
            return await self._pull_at_once(resource, history, window, context)
        return await self._pull_in_parts(resource, history, window, context, None)

    async def _pull_in_parts(
        self, resource: HistoryResource, history: History, window: Window, context: CallContext, first: date | None
    ) -> History:
        """The history with `window` pulled part by part, of a series that was shown from the day `first` on."""
        start = window.start if first is None else max(window.start, likely_start(first))
        today = utc_day(self._clock())
        rest = Window(start, window.end)
        while rest:
            parts = parts_of(rest, today, self.evidence.now.thin_over)
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
        found = arrived.observations
        is_doubtful = window_may_be_thin(found, history.observations, self.evidence.now)
        if not (arrived.begins_early or is_doubtful) or self._details.proves(resource.slug, found):
            return history, await self._is_thinned_out(resource.slug, history, arrived)
        days = check_window(found)
        history = await self._pull_at_once(resource, history, days, context, is_check=True)
        is_thin = await self._is_thinned_out(resource.slug, history, arrived, days)
        if not is_thin:
            self.evidence.now = replace(self.evidence.now, natural=self.evidence.now.natural + 1)
            await self._learn(self.evidence.now)
        return history, is_thin

    async def _is_thinned_out(self, slug: str, history: History, arrived: Pulled, days: Window | None = None) -> bool:
        """Compare a window with what is known of its days otherwise; whether it was thinned out.

        Of the `days` that were just asked for again, every row must be the same one.
        Where what is known was, by a detail, no detail counts from now on but for its newest row.
        """
        now, found, seen = self._clock(), arrived.observations, self.evidence.now
        known = told_lately(history, arrived.window, now, self._cache.rules)
        if leaves_out(found, known) or (days and not same_days(found, known, days)):
            asked = days_of(arrived.window, utc_day(now))
            self.evidence.now = replace(seen, thin_over=shorter_parts(asked, seen.thin_over), looks_agree=False)
            await self._learn(self.evidence.now)
            if asked <= SHORTEST_PART_DAYS:
                raise MalformedAnswerError(
                    f"{len(found)} observations from {arrived.window.start} on, where {len(known)} are known"
                )
            return True
        self.evidence.now = seen = after_dense_window(seen, found)
        detail = self._cache.memory.get(SignalResource(slug))
        is_denser = detail is not None and leaves_out(detail.value.history, found)
        if self._details.contradicted(slug, found) or is_denser:
            if not seen.thin_details:
                await self._distrust_details()
        elif tells_alike(known, found):
            self.evidence.now = replace(seen, looks_agree=True)
        await self._rely_again(slug)
        return False

    async def _rely_again(self, slug: str) -> None:
        """Let a recent history count after all that a window has proven: rhythms are the same in any order then."""
        resource = SignalResource(slug)
        known, told = self._cache.memory.get(resource), self._details.proven(slug)
        if known is not None and len(told) > len(known.value.history):
            detail = with_history(known.value, told)
            await self._cache.keep(resource, detail, pack(detail), known.fetched_at)

    async def _pull_at_once(
        self,
        resource: HistoryResource,
        history: History,
        window: Window,
        context: CallContext,
        since: date | None = None,
        *,
        is_check: bool = False,
    ) -> History:
        """The history with `window` pulled; if a pull breaks off, what arrived is kept and not asked for again.

        Nothing lies between the day `since` and the window. Some days more are asked for that are known already: they
        show whether a service tells the same of them.
        """
        seen = self.evidence.now
        asked = window if seen.looks_agree else overlapping(window, history.observations, seen)
        begin = pulled = self._begin(resource.slug, asked)
        first: date | None = None
        try:
            async for arrived in pages_of_window(
                self._sender, context, resource.slug, begin, self.evidence, max_pages=self._max_pages
            ):
                await self._check_empty(resource, arrived, window, context)
                if arrived.complete and not arrived.problem and not is_check:
                    pulled = begin
                    history, is_thin = await self._checked(resource, history, arrived, context)
                    if is_thin:
                        first = arrived.observations.first_day
                        continue  # it was the last page
                pulled = begin if arrived.problem else arrived
            await self._compare_newest(resource.slug, pulled, context)
            if self.evidence.now.keeps_last is False and seen.keeps_last is not False:
                self._cache.distrust_lists()
                await self._learn(self.evidence.now)
        finally:
            if self.evidence.now.thin_details and not seen.thin_details:
                history = self._cache.history_without_detail(resource.slug)
            history = await self._keep_pulled(resource, history, window, pulled, since)
        if first is not None:
            return await self._pull_in_parts(resource, history, window, context, first)
        return history

    async def _keep_pulled(
        self, resource: HistoryResource, history: History, window: Window, pulled: Pulled, since: date | None
    ) -> History:
        """The history with what has arrived of a window, which is kept, and noted in the archive."""
        days = pulled.known_window().within(window)
        days = Window(min(days.start, since or days.start), days.end)
        if not pulled.pages or not days:
            return history
        now = self._cache.rules.arrival(self._clock())
        found = pulled.observations.between(days.start, days.end)
        if pulled.complete:
            found = self._cache.shown_by_detail(resource.slug, days, found, now)
        await self._cache.archive.look(resource.slug, days, found, now)
        return await self._cache.learn(resource, history, partial(after_pull, pulled=days, found=found, now=now), now)

    async def _compare_newest(self, slug: str, pulled: Pulled, context: CallContext) -> None:
        """Learn the newest observation from the detail where nothing shows that the last row of a window is there."""
        is_up_to_today = pulled.complete and pulled.window.end == date.max
        if not (is_up_to_today and len(pulled.arrived) and self.evidence.now.may_lack_last):
            return
        if isinstance(context.resource, SignalResource):
            return  # the detail itself is what the window was asked for
        with suppress(DataServiceError):  # of some names a service has no detail
            detail = (await self._read(SignalResource(slug), context.meter)).value
            if detail.last_day == pulled.arrived.last_day:
                self.evidence.now = replace(self.evidence.now, keeps_last=True)

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

    def _begin(self, slug: str, window: Window) -> Pulled:
        """Nothing yet of a window, and what a detail at hand says of where the series ends."""
        now = self._clock()
        known = self._cache.memory.get(SignalResource(slug))
        newest = None if known is None else known.value.last_day
        is_sure = known is not None and newest is not None and known.is_fresh(now)
        return Pulled.begin(window, newest, newest if is_sure else utc_day(now))


def _several_in(window: Window, detail: Answer[SignalDetail]) -> Observations | None:
    """The observations of a window that a detail shows, where they are several."""
    shown: Observations = detail.value.history.between(window.start, window.end)
    return shown if len(shown) >= SEVERAL else None


def _listed_as(slug: str, catalogue: Catalogue | None) -> Signal | None:
    """The signal of exactly this name in the catalogue."""
    signal = None if catalogue is None else catalogue.find(slug)
    return signal if signal is not None and signal.slug == slug else None


def _as_asked(detail: SignalDetail, asked: str, payload: bytes) -> tuple[SignalDetail, bytes]:
    """A detail under the slug that it was asked by: under another one the service may know no window of it."""
    if detail.signal.slug.casefold() == asked.casefold():
        return detail, payload
    detail = replace(detail, signal=msgspec.structs.replace(detail.signal, slug=asked))
    return detail, pack(detail)


def _passing(resource: PostsResource | WireResource, page: Page[Any]) -> Page[Any]:
    """The page without the records that the filters should have kept out, of a service that ignores some of these."""
    found = page.selected(lambda record: _told_filters(resource, record).selects(record))
    return page if len(found) == len(page) else replace(found, complete=False)


def _told_filters(resource: PostsResource | WireResource, record: Post | WireItem) -> PostsResource | WireResource:
    """The filters of which the record tells anything: a service may leave out what all records of an answer share.

    What a beat is, only the service tells.
    """
    since = resource.since if record.published_at else None
    if isinstance(resource, PostsResource):
        told = cast("Post", record)
        story_type = resource.story_type if told.story_type else None
        handle = resource.handle if told.byline.get("handle") else None
        return replace(resource, beat=None, since=since, story_type=story_type, handle=handle)
    item = cast("WireItem", record)
    return replace(
        resource,
        beat=None,
        since=since,
        kind=resource.kind if item.kind else None,
        source=resource.source if item.source else None,
        ticker=resource.ticker if item.tickers else None,
        min_importance=0 if item.importance_score is None else resource.min_importance,
    )


@decode.readable
def _packable(kind: ListKind, evidence: Evidences, body: bytes) -> decode.ListPage[Any]:
    evidence.heed(body)
    page = kind.read(body)
    pack(kind.whole(PulledList(kind).with_page(page, NOTHING_SEEN)))  # refused here if it could not be kept
    return page


@decode.readable
def _arrived(resource: Resource[Any], evidence: Evidences, body: bytes) -> tuple[Any, bytes]:
    """What a body says of a signal, and the bytes to keep."""
    evidence.heed(body)
    value = settled(decode.signal_detail(body, evidence.now.day_first))
    if evidence.now.thin_details:
        value = newest_alone(value)
    if not isinstance(resource, SignalResource):
        raise TypeError(f"no request answers {resource!r}")
    return value, pack(value)
