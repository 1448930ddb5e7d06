"""The client for programs without an event loop: scripts, notebooks, classic spreadsheet hosts."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from datetime import date
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack

import httpx

from dataservice.client.archive.vintages import Vintages
from dataservice.client.async_client import AsyncClient
from dataservice.client.cache.answer import Answer, Miss
from dataservice.client.contract.dates import DateLike
from dataservice.client.contract.profile import Profile
from dataservice.client.contract.quota import Quota
from dataservice.client.contract.resources import Resource
from dataservice.client.contract.results import Catalogue, Currents, Indices, Page, SignalDetail
from dataservice.client.cost import Cost, Refresh
from dataservice.client.network.budget import Budget
from dataservice.client.network.call_context import Meter
from dataservice.client.status import ResourceState
from dataservice.client.unknown_names import CatalogueCheck
from dataservice.errors import DataServiceError, MissingAddressError
from dataservice.models import Post, Signal, WireItem
from dataservice.observations import Observations
from dataservice.stores import Store

if TYPE_CHECKING:
    import pandas as pd
    from anyio.from_thread import BlockingPortal

T = TypeVar("T")


class Options(TypedDict, total=False):
    """The options of `AsyncClient`."""

    store: Store | None
    ttl_s: float
    deadline_s: float
    budget: Budget | None
    max_memory_bytes: int
    max_answer_bytes: int
    max_pages: int
    allow_plain_http: bool
    transport: httpx.AsyncBaseTransport | None
    user_agent: str | None
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[Any]]
    jitter: Callable[[], float]


class EventLoopThread:
    """An event loop in a thread of its own, for callers without one; it starts with the first call.

    `at_end` is awaited on the loop before it stops: in `close`, or at the end of the process if nobody calls that.
    """

    def __init__(self, name: str, *, at_end: Callable[[], Awaitable[Any]] | None = None) -> None:
        self._name = name
        self._at_end = at_end
        self._starting = threading.Lock()
        self._portal: BlockingPortal | None = None
        self._running = ExitStack()
        self._process = os.getpid()
        self._stop = weakref.finalize(self, _close_in, self._process, self._running)  # also where nobody calls `close`

    @property
    def closed(self) -> bool:
        """Return whether `close` was called."""
        return not self._stop.alive

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`; raises what it raises, and `RuntimeError` after `close`.

        What the service is to blame for says all in its message, and shows no frame in which it was found.
        """
        future = self.start(work)
        try:
            return future.result()
        except DataServiceError as error:
            raise error.with_traceback(None) from error.__cause__
        except BaseException:
            future.cancel()  # a caller that is interrupted leaves no work behind
            raise

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin `work`; cancelling the future cancels it. Raises `RuntimeError` after `close`."""
        try:
            return self._started().start_task_soon(lambda: work)
        except RuntimeError:
            work.close()
            raise

    def call(self, work: Callable[[], T]) -> T:
        """The result of `work`, done in the loop's own thread, where nothing else changes meanwhile."""
        return self._started().call(work)

    def close(self) -> None:
        """Stop the loop and its thread; may be called twice."""
        with self._starting:
            self._stop()

    def _started(self) -> BlockingPortal:
        if self._process != os.getpid():  # a fork copies no threads: a call would wait for ever
            raise RuntimeError("this client was made before the process was forked; make one in each process")
        with self._starting:
            if self.closed:
                raise RuntimeError("this client is closed")
            if self._portal is None:
                from anyio.from_thread import start_blocking_portal  # for the first call: it takes long to load

                self._portal = self._running.enter_context(start_blocking_portal(name=self._name))
                self._running.callback(self._portal.call, self._portal.stop, True)  # noqa: FBT003 - cancel what is left
                if self._at_end is not None:
                    self._running.callback(self._portal.call, self._at_end)
            return self._portal


def _close_in(process: int, running: ExitStack) -> None:
    """Close what runs in `process`; a fork of it has nothing to close."""
    if process == os.getpid():
        running.close()


class Client:
    """`AsyncClient` with methods that wait: same arguments, same answers, same errors, usable from any thread.

    >>> with Client("https://data.example", "ds_" + 40 * "0") as client:
    ...     client.quota_now is None
    True
    """

    def __init__(self, base_url: str | None = None, api_key: str | None = None, **options: Unpack[Options]) -> None:
        try:
            self._client = AsyncClient(base_url, api_key, **options)
        except MissingAddressError as error:
            raise error.with_traceback(None) from None
        self._loop = EventLoopThread("dataservice-client", at_end=self._client.aclose)

    def __repr__(self) -> str:
        if "_client" not in vars(self):  # its making raised, and a traceback shows it
            return f"{type(self).__name__}(unfinished)"
        return f"{type(self).__name__}({self.base_url!r}, key_id={self.key_id!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End what is under way and close the connections; a `store` that was given stays open for its owner."""
        self._loop.close()

    @property
    def base_url(self) -> str:
        """Return where the service is."""
        return self._client.base_url

    @property
    def key_id(self) -> str:
        """A name for the key in this process; never the key."""
        return self._client.key_id

    @property
    def quota_now(self) -> Quota | None:
        """The quota in the headers of the last answer."""
        return self._client.quota_now

    @property
    def requests_sent(self) -> int:
        """The requests this client has spent so far."""
        return self._client.requests_sent

    def peek(self, resource: Resource[T], *, max_age_s: float | None = None) -> Answer[T] | None:
        """The answer in memory, at once."""
        return self._client.peek(resource, max_age_s=max_age_s)

    def have(self, resource: Resource[T], *, max_age_s: float) -> Answer[T] | None:
        """The answer in any cache, if it is not older than `max_age_s` seconds; never a request."""
        return self._loop.run(self._client.have(resource, max_age_s=max_age_s))

    def last_known(self, resource: Resource[T]) -> Answer[T] | None:
        """The answer in any cache, fresh if any cache holds a fresh one, else the youngest; never a request."""
        return self._loop.run(self._client.last_known(resource))

    def read(
        self, resource: Resource[T], *, known_miss: Miss[T] | None = None, meter: Meter | None = None
    ) -> Answer[T]:
        """The answer: fresh from a cache, else from the service, else the last known one with `stale_because`."""
        return self._loop.run(self._client.read(resource, known_miss=known_miss, meter=meter))

    def cost(self, resources: Iterable[Resource[Any]]) -> int:
        """Return how many requests reading all of `resources` now would likely spend."""
        return self._loop.run(self._client.cost(resources))

    def cost_of(self, resource: Resource[Any], *, after: Refresh | None = None, shown_from: date | None = None) -> Cost:
        """From how many to how many requests reading `resource` now, or `after` a refresh, would spend.

        With `shown_from`: when the signal's next detail has arrived, which shows the days from then on.
        """
        return self._loop.run(self._client.cost_of(resource, after=after, shown_from=shown_from))

    def catalogue_check(self, names: int, *, waits: bool = True) -> CatalogueCheck:
        """Whether so many signals, which nothing at hand vouches for, are to be looked up in the catalogue first."""
        return self._loop.run(self._client.catalogue_check(names, waits=waits))

    def refresh(self, *, force: bool = False) -> None:
        """Begin a new generation: refusals and outages are forgotten; `force`: nothing counts as fresh."""
        self._loop.run(self._client.refresh(force=force))

    def forget(self) -> int:
        """Forget all answers kept for this key at this service; returns the number of entries. The archive stays."""
        return self._loop.run(self._client.forget())

    def signal_pages(self, category: str | None = None) -> Iterator[Sequence[Signal]]:
        """The catalogue page by page, past all caches: one request a page of up to 500."""
        return self._items(self._client.signal_pages(category))

    def observation_pages(
        self, slug: str, start: DateLike | None = None, end: DateLike | None = None
    ) -> Iterator[Observations]:
        """A signal's observations page by page, past all caches: one request a page of up to 1,000, none twice."""
        return self._items(self._client.observation_pages(slug, start, end))

    def states(self) -> list[ResourceState]:
        """Return what this process knows of every resource it was asked for."""
        return self._loop.call(self._client.states)

    def probe(self, slug: str | None = None) -> Profile:
        """Find out how the service answers where the contract leaves it open, in at most 11 requests, and keep that."""
        return self._loop.run(self._client.probe(slug))

    def profile(self) -> Profile | None:
        """The profile that a probe of this service made with this key, if it still holds; no request."""
        return self._loop.run(self._client.profile())

    def quota(self) -> Quota:
        """The quota last seen; only if none was ever seen, one request for the indices."""
        return self._loop.run(self._client.quota())

    def signals(self, category: str | None = None) -> Catalogue:
        """The catalogue of signals, or those of one category (GET /v1/signals)."""
        return self._loop.run(self._client.signals(category))

    def signal(self, slug: str) -> SignalDetail:
        """One signal with its latest value and recent history (GET /v1/signals/{slug})."""
        return self._loop.run(self._client.signal(slug))

    def vintages(self, slug: str) -> Vintages:
        """Return what was known of a signal, and when, as earlier answers showed it; never a request."""
        return self._loop.run(self._client.vintages(slug))

    def revisions(self, slug: str, observed_at: DateLike | None = None, start: DateLike | None = None) -> pd.DataFrame:
        """Return what changed of a signal between two looks; no request."""
        return self._loop.run(self._client.revisions(slug, observed_at, start))

    def observations(
        self, slug: str, start: DateLike | None = None, end: DateLike | None = None, *, as_of: DateLike | None = None
    ) -> Observations:
        """A signal's observations from `start` to `end`, both days included (GET /v1/signals/{slug}/observations).

        Both are dates or text: 2024-12-31, or -5Y back from the end. `as_of`: as known here at the end of that day.
        """
        return self._loop.run(self._client.observations(slug, start, end, as_of=as_of))

    def indices(self) -> Indices:
        """All indices with components and readings (GET /v1/indices)."""
        return self._loop.run(self._client.indices())

    def currents(self) -> Currents:
        """All currents with their scores (GET /v1/currents)."""
        return self._loop.run(self._client.currents())

    def codex(
        self, *, story_type: str | None = None, handle: str | None = None, since: DateLike | None = None
    ) -> Page[Post]:
        """The newest 200 research posts that pass the filters (GET /v1/codex)."""
        return self._loop.run(self._client.codex(story_type=story_type, handle=handle, since=since))

    def almanac(
        self,
        *,
        story_type: str | None = None,
        handle: str | None = None,
        since: DateLike | None = None,
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
        since: DateLike | None = None,
        beat: str | None = None,
        source: str | None = None,
    ) -> Page[WireItem]:
        """The newest 200 wire items that pass the filters (GET /v1/wire, Pro and above)."""
        page = self._client.wire(
            ticker=ticker, kind=kind, min_importance=min_importance, since=since, beat=beat, source=source
        )
        return self._loop.run(page)

    def _items(self, source: AsyncIterator[T]) -> Iterator[T]:
        """The items of `source`, each fetched when it is asked for."""
        while (item := self._loop.run(_next(source))) is not None:
            yield item


async def _next(source: AsyncIterator[T]) -> T | None:
    """The next item, or None behind the last."""
    return await anext(source, None)
