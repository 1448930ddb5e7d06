"""The client for programs without an event loop: scripts, notebooks, classic spreadsheet hosts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from types import TracebackType
from typing import Any, Self, TypeVar

from dataservice.client.async_client import AsyncClient
from dataservice.client.cache.answer import Answer
from dataservice.client.contract.quota import Quota
from dataservice.client.contract.resources import Resource
from dataservice.client.contract.results import Catalogue, Currents, Indices, Page, SignalDetail
from dataservice.client.event_loop import BackgroundLoop
from dataservice.client.status import ResourceState
from dataservice.models import Post, Signal, WireItem
from dataservice.observations import Observations

T = TypeVar("T")


class Client:
    """`AsyncClient` with methods that wait: same arguments, same answers, same errors, usable from any thread.

    >>> with Client("https://data.example", "ds_" + 40 * "0") as client:
    ...     client.quota_now is None
    True
    """

    def __init__(self, base_url: str | None = None, api_key: str | None = None, **options: Any) -> None:
        self._client = AsyncClient(base_url, api_key, **options)
        self._loop = BackgroundLoop("dataservice-client")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r}, key_id={self.key_id!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what is under way and close the connections; a `store` that was given stays open for its owner."""
        if not self._loop.closed:
            self._loop.run(self._client.aclose())
            self._loop.close()

    @property
    def base_url(self) -> str:
        """Where the service is."""
        return self._client.base_url

    @property
    def key_id(self) -> str:
        """A name for the key in this process; never the key."""
        return self._client.key_id

    @property
    def quota_now(self) -> Quota | None:
        """The quota as the headers of the last answer told it."""
        return self._client.quota_now

    @property
    def requests_sent(self) -> int:
        """The requests this client spent so far."""
        return self._client.requests_sent

    def peek(self, resource: Resource[T], *, max_age_s: float | None = None) -> Answer[T] | None:
        """The answer in memory, at once."""
        return self._client.peek(resource, max_age_s=max_age_s)

    def have(self, resource: Resource[T], *, max_age_s: float) -> Answer[T] | None:
        """The answer in any cache tier, if it is not older than `max_age_s` seconds; never a request."""
        return self._loop.run(self._client.have(resource, max_age_s=max_age_s))

    def read(self, resource: Resource[T]) -> Answer[T]:
        """The answer: fresh from a cache, else from the service, else the last known one with `stale_because`."""
        return self._loop.run(self._client.read(resource))

    def cost(self, resources: Iterable[Resource[Any]]) -> int:
        """How many requests reading all of `resources` now would spend at most."""
        return self._loop.run(self._client.cost(resources))

    def refresh(self, *, force: bool = False) -> None:
        """Begin a new generation: refusals and outages are forgotten; `force`: nothing counts as fresh."""
        self._loop.run(self._client.refresh(force=force))

    def forget(self) -> int:
        """Forget everything kept for this key at this service, in every tier; how many entries there were."""
        return self._loop.run(self._client.forget())

    def signal_pages(self, category: str | None = None) -> Iterator[Sequence[Signal]]:
        """The catalogue page by page, past all caches: one request a page of up to 500."""
        return self._loop.iterate(self._client.signal_pages(category))

    def observation_pages(
        self, slug: str, start: date | None = None, end: date | None = None
    ) -> Iterator[Observations]:
        """A signal's observations page by page, past all caches: one request a page of up to 1,000, none twice."""
        return self._loop.iterate(self._client.observation_pages(slug, start, end))

    def states(self) -> list[ResourceState]:
        """What this process knows of every resource it was asked for."""
        return self._loop.call(self._client.states)

    def quota(self) -> Quota:
        """The quota last seen; only if none was ever seen, one request for the indices."""
        return self._loop.run(self._client.quota())

    def signals(self, category: str | None = None) -> Catalogue:
        """The catalogue of signals, or those of one category (GET /v1/signals)."""
        return self._loop.run(self._client.signals(category))

    def signal(self, slug: str) -> SignalDetail:
        """One signal with its latest value and recent history (GET /v1/signals/{slug})."""
        return self._loop.run(self._client.signal(slug))

    def observations(self, slug: str, start: date | None = None, end: date | None = None) -> Observations:
        """A signal's observations from `start` to `end`, both days included (GET /v1/signals/{slug}/observations)."""
        return self._loop.run(self._client.observations(slug, start, end))

    def indices(self) -> Indices:
        """All indices with components and readings (GET /v1/indices)."""
        return self._loop.run(self._client.indices())

    def currents(self) -> Currents:
        """All currents with their scores (GET /v1/currents)."""
        return self._loop.run(self._client.currents())

    def codex(
        self, *, story_type: str | None = None, handle: str | None = None, since: date | None = None
    ) -> Page[Post]:
        """The newest 200 research posts that pass the filters (GET /v1/codex)."""
        return self._loop.run(self._client.codex(story_type=story_type, handle=handle, since=since))

    def almanac(
        self,
        *,
        story_type: str | None = None,
        handle: str | None = None,
        since: date | None = None,
        beat: str | None = None,
    ) -> Page[Post]:
        """As `codex`, also by the author's beat (GET /v1/almanac)."""
        return self._loop.run(self._client.almanac(story_type=story_type, handle=handle, since=since, beat=beat))

    def wire(
        self,
        *,
        ticker: str | None = None,
        kind: str | None = None,
        min_importance: int = 0,
        since: date | None = None,
        beat: str | None = None,
        source: str | None = None,
    ) -> Page[WireItem]:
        """The newest 200 wire items that pass the filters (GET /v1/wire, Pro and above)."""
        asked = self._client.wire(
            ticker=ticker, kind=kind, min_importance=min_importance, since=since, beat=beat, source=source
        )
        return self._loop.run(asked)
