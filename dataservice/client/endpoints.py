"""The endpoints of the contract as methods that return values: all of them ways to call `read`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dataservice.client.archive.vintages import Vintages
from dataservice.client.cache.answer import Answer, Miss
from dataservice.client.contract.dates import DateLike, days_of, hours_back, moment_of, moments_of
from dataservice.client.contract.requests import text_slug
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
from dataservice.client.contract.results import Catalogue, Currents, Indices, Page, SignalDetail, published_since
from dataservice.client.contract.windows import Window, day_after, utc_day, utc_day_of
from dataservice.client.network.call_context import Meter
from dataservice.models import Post, WireItem
from dataservice.observations import Observations

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


class Endpoints(ABC):
    """The endpoints for which `AsyncClient` has a method."""

    _clock: Callable[[], float]

    @abstractmethod
    async def read(
        self, resource: Resource[T], *, known_miss: Miss[T] | None = None, meter: Meter | None = None
    ) -> Answer[T]:
        """The answer to a resource."""

    @abstractmethod
    async def _named(self, resource: SignalResource | HistoryResource) -> Answer[Any]:
        """The answer about a signal, asked by a name that may not exist."""

    @abstractmethod
    async def vintages(self, slug: str) -> Vintages:
        """Return what was known of a signal, and when."""

    async def signals(self, category: str | None = None) -> Catalogue:
        """The catalogue of signals, or those of one category; ceil(total / 500) requests (GET /v1/signals)."""
        catalogue = (await self.read(CatalogueResource())).value
        if category is None:
            return catalogue
        of_category = tuple(signal for signal in catalogue if signal.category == category)
        return Catalogue(of_category, may_be_cut=catalogue.may_be_cut)

    async def signal(self, slug: str) -> SignalDetail:
        """One signal with its latest value and up to 365 observations, oldest first (GET /v1/signals/{slug})."""
        detail: SignalDetail = (await self._named(SignalResource(text_slug(slug)))).value
        return detail

    async def observations(
        self, slug: str, start: DateLike | None = None, end: DateLike | None = None, *, as_of: DateLike | None = None
    ) -> Observations:
        """A signal's observations from `start` to `end`, both included: dates or times, or text such as -5Y, YTD, -6H.

        With `as_of`, as they were known here at the end of that day (UTC): no request, and a relative start or end
        counts back from that day. Today is the present, and is asked for. Raises `NoVintageError` if not all days of
        the window had been looked at by then, `ValueError` for a day in the future.
        """
        slug, today = text_slug(slug), utc_day(self._clock())
        then = utc_day_of(moment_of(as_of, "as_of", today))
        if then is not None and then > day_after(today):
            raise ValueError(f"as_of {then} lies in the future: nobody knows what will be known then")
        is_past, today = then is not None and then < today, today if then is None else min(then, today)
        start = hours_back(start, today if is_past and end is None else end, self._clock())
        first, last = days_of(start, end, today)
        if is_past:
            window = Window(first or date.min, last or date.max)
            found: Observations = (await self.vintages(slug)).known_on(slug, today, window)
        else:
            found = (await self._named(HistoryResource(slug, first, last))).value
        return found.between(*moments_of(start, end, today))

    async def revisions(
        self, slug: str, observed_at: DateLike | None = None, start: DateLike | None = None
    ) -> pd.DataFrame:
        """Return what changed of a signal between two looks, as `Vintages.revisions` gives it; no request.

        All of it, or of the observations of the day `observed_at`, or of those from the day `start` on. The frame has
        the columns observed_at, value_before, value, first_seen, not_before, oldest observation first.
        """
        today = utc_day(self._clock())
        day = utc_day_of(moment_of(observed_at, "observed_at", today))
        first = utc_day_of(moment_of(start, "start", today))
        return (await self.vintages(slug)).revisions(day, first)

    async def indices(self) -> Indices:
        """All indices with components and readings (GET /v1/indices)."""
        return cast("Indices", (await self.read(IndicesResource())).value)

    async def currents(self) -> Currents:
        """All currents with their scores (GET /v1/currents)."""
        return cast("Currents", (await self.read(CurrentsResource())).value)

    async def codex(
        self, *, story_type: str | None = None, handle: str | None = None, since: DateLike | None = None
    ) -> Page[Post]:
        """The newest 200 research posts that pass the filters, newest first (GET /v1/codex)."""
        return await self.almanac(story_type=story_type, handle=handle, since=since)  # the same without a beat

    async def almanac(
        self,
        *,
        story_type: str | None = None,
        handle: str | None = None,
        since: DateLike | None = None,
        beat: str | None = None,
    ) -> Page[Post]:
        """As `codex`, also by the author's beat (GET /v1/almanac)."""
        first = moment_of(hours_back(since, None, self._clock()), "since", utc_day(self._clock()))
        page = (await self.read(PostsResource(story_type, handle, first, beat))).value
        return page.selected(lambda post: published_since(post, first)) if isinstance(first, datetime) else page

    async def wire(
        self,
        *,
        ticker: str | None = None,
        kind: str | None = None,
        min_importance: int = 0,
        since: DateLike | None = None,
        beat: str | None = None,
        source: str | None = None,
    ) -> Page[WireItem]:
        """The newest 200 wire items that pass the filters, newest first (GET /v1/wire, Pro and above).

        `since` is a day or a time (in UTC where it names no zone), or text such as -14D, -6H; `min_importance` is 0 to
        100.
        """
        first = moment_of(hours_back(since, None, self._clock()), "since", utc_day(self._clock()))
        page = (await self.read(WireResource(ticker, kind, min_importance, first, beat, source))).value
        return page.selected(lambda item: published_since(item, first)) if isinstance(first, datetime) else page
