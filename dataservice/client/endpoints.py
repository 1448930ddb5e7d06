"""The contract's endpoints as methods, on top of `read`: typed values in, values out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TypeVar

from dataservice.client.cache.answer import Answer
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
from dataservice.client.contract.results import Catalogue, Currents, Indices, Page, SignalDetail
from dataservice.client.contract.timestamps import instant
from dataservice.models import Post, Record, WireItem
from dataservice.observations import Observations

T = TypeVar("T")
R = TypeVar("R", bound=Record)


class Endpoints(ABC):
    """What the service offers, by the names of the contract.

    Each method gives the value itself: a fresh one, or the last known one while the service cannot answer. Who needs
    to know how old it is asks `read` for the same resource. All raise `DataServiceError` where there is no value.
    """

    @abstractmethod
    async def read(self, resource: Resource[T]) -> Answer[T]:
        """The answer to a resource."""

    async def signals(self, category: str | None = None) -> Catalogue:
        """The catalogue of signals, or those of one category; ceil(total / 500) requests (GET /v1/signals)."""
        catalogue = (await self.read(CatalogueResource())).value
        if category is None:
            return catalogue
        return Catalogue(tuple(signal for signal in catalogue if signal.category == category))

    async def signal(self, slug: str) -> SignalDetail:
        """One signal with its latest value and up to 365 observations, oldest first (GET /v1/signals/{slug})."""
        return (await self.read(SignalResource(slug))).value

    async def observations(self, slug: str, start: date | None = None, end: date | None = None) -> Observations:
        """A signal's observations from `start` to `end`, both days included (GET /v1/signals/{slug}/observations)."""
        first, last = _day(start), _day(end)
        return (await self.read(HistoryResource(slug, first, last))).value.between(first, last)

    async def indices(self) -> Indices:
        """All indices with components and readings (GET /v1/indices)."""
        return Indices((await self.read(IndicesResource())).value)

    async def currents(self) -> Currents:
        """All currents with their scores (GET /v1/currents)."""
        return Currents((await self.read(CurrentsResource())).value)

    async def codex(
        self, *, story_type: str | None = None, handle: str | None = None, since: date | None = None
    ) -> Page[Post]:
        """The newest 200 research posts that pass the filters, newest first (GET /v1/codex)."""
        return _since(since, (await self.read(PostsResource(story_type, handle, _day(since)))).value)

    async def almanac(
        self,
        *,
        story_type: str | None = None,
        handle: str | None = None,
        since: date | None = None,
        beat: str | None = None,
    ) -> Page[Post]:
        """As `codex`, also by the author's beat (GET /v1/almanac)."""
        return _since(since, (await self.read(PostsResource(story_type, handle, _day(since), beat))).value)

    async def wire(
        self,
        *,
        ticker: str | None = None,
        kind: str | None = None,
        min_importance: int = 0,
        since: date | None = None,
        beat: str | None = None,
        source: str | None = None,
    ) -> Page[WireItem]:
        """The newest 200 wire items that pass the filters, newest first (GET /v1/wire, Pro and above).

        `since` is a day or a time, in UTC where it names no zone; `min_importance` runs from 0 to 100.
        """
        asked = WireResource(ticker, kind, min_importance, _day(since), beat, source)
        return _since(since, (await self.read(asked)).value)


def _day(moment: date | None) -> date | None:
    """The UTC day of a date or date-time: what resources are asked by, so that a minute makes no new question."""
    if not isinstance(moment, datetime):
        return moment
    return (moment.astimezone(UTC) if moment.tzinfo else moment).date()


def _since(moment: date | None, page: Page[R]) -> Page[R]:
    """The page from `moment` on, where that is a time within a day."""
    if not isinstance(moment, datetime):
        return page
    first = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    items = tuple(item for item in page.items if instant(item.field("published_at")) >= first)
    return replace(page, items=items)
