"""Which request answers which resource: pure functions from resources to paths and parameters."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from msgspec.structs import replace

from dataservice.client.contract.body import Params
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
from dataservice.client.contract.results import WIDEST
from dataservice.errors import NotFoundError
from dataservice.key_text import KEY, quoted

CATALOGUE_LIMIT = 500  # "Per-parameter bounds": the widest page costs the same as the narrowest
HISTORY_LIMIT = 365
LIST_LIMIT = WIDEST
OBSERVATIONS_LIMIT = 1_000

MAX_REMEMBERED = 10_000  # requests worked out: each read needs its own several times

MAX_SLUG = 200  # no identifier is longer: a paragraph that ends up in a formula must not become an address


class Endpoint(StrEnum):
    """The endpoints of the contract, by their path."""

    SIGNALS = "/v1/signals"
    SIGNAL = "/v1/signals/{slug}"
    OBSERVATIONS = "/v1/signals/{slug}/observations"
    INDICES = "/v1/indices"
    CURRENTS = "/v1/currents"
    CODEX = "/v1/codex"
    ALMANAC = "/v1/almanac"
    WIRE = "/v1/wire"
    DESCRIPTION = "/openapi.json"


class Request(msgspec.Struct, frozen=True):
    """One GET: the endpoint, its path with the slug in place, the parameters, and who goes first."""

    endpoint: Endpoint
    path: str
    params: tuple[tuple[str, str], ...] = ()
    subject: str = ""
    """What is missing when the service answers 404."""
    priority: int = 0

    @property
    def target(self) -> str:
        """Path and query: what is sent."""
        return f"{self.path}?{_query(self.params)}" if self.params else self.path

    @property
    def entry(self) -> str:
        """The name its answer is kept under: all windows of a history are parts of one entry."""
        return self.path if self.endpoint is Endpoint.OBSERVATIONS else self.target

    def target_with(self, path_end: str) -> str:
        """The target at a service whose paths end in another way."""
        is_moved = self.endpoint is not Endpoint.DESCRIPTION
        return replace(self, path=f"{self.path}{path_end}").target if is_moved else self.target

    def further(self, params: Params) -> Request:
        """The same request with the parameters by which a service names its next page."""
        if not params:
            return self
        return replace(self, params=tuple({**dict(self.params), **dict(params)}.items()))


@lru_cache(maxsize=64)
def _query(params: Params) -> str:
    """The query of these parameters: those of all signals are the same."""
    return urlencode(params)


@lru_cache(maxsize=MAX_REMEMBERED)
def first_request(resource: Resource[Any]) -> Request:
    """The request that answers `resource`, or the first page of it.

    Raises `NotFoundError` where the slug is none that could exist, or an API key stands in its place or that of a
    filter, so that no request is spent on it.
    """
    match resource:
        case CatalogueResource():
            return catalogue_request(0)
        case SignalResource(slug):
            return _signal(Endpoint.SIGNAL, slug, _RECENT, resource.priority)
        case HistoryResource(slug, start, end):
            return observations_request(slug, start, end)  # names the entry; what is sent is wider by a day at each end
        case IndicesResource():
            return Request(Endpoint.INDICES, Endpoint.INDICES)
        case CurrentsResource():
            return Request(Endpoint.CURRENTS, Endpoint.CURRENTS)
        case PostsResource():
            return _posts(resource)
        case WireResource():
            return _wire(resource)
        case _:
            raise TypeError(f"no request answers {resource!r}")


def can_exist(resource: Resource[Any]) -> bool:
    """Return whether there is a request that could answer `resource` at all."""
    try:
        first_request(resource)
    except NotFoundError:
        return False
    return True


def catalogue_request(offset: int, category: str | None = None) -> Request:
    """The page of the catalogue, or of one category of it, that begins at `offset`."""
    params = _params({"limit": CATALOGUE_LIMIT, "offset": offset or None, "category": category})
    return Request(Endpoint.SIGNALS, Endpoint.SIGNALS, params)


def observations_request(slug: str, start: date | None, end: date | None) -> Request:
    """The first page of a signal's observations from `start` to `end`, both days included."""
    params = _params({"start": start, "end": end})
    return _signal(Endpoint.OBSERVATIONS, slug, params, HistoryResource.priority)


def text_slug(slug: str) -> str:
    """The slug as it is; raises `TypeError` for what is no text, such as a list or a signal."""
    if not isinstance(slug, str):
        raise TypeError(f"a signal's slug is text, not {quoted(slug)}")
    return slug


def _signal(endpoint: Endpoint, slug: str, params: Params, priority: int) -> Request:
    _refuse_key("the name of a signal", text_slug(slug))
    if not 0 < len(slug) <= MAX_SLUG or not slug.isprintable() or " " in slug or slug in {".", ".."}:
        raise NotFoundError(f"no signal {slug[:MAX_SLUG]!r}")
    path = endpoint.replace("{slug}", quote(slug, safe=""))
    return Request(endpoint, path, params, subject=f"signal {slug!r}", priority=priority)


def _posts(asked: PostsResource) -> Request:
    endpoint = Endpoint.CODEX if asked.beat is None else Endpoint.ALMANAC
    since: str | date | None = asked.since
    if endpoint is Endpoint.CODEX:  # a date-time here, a date at the almanac
        since = _midnight(asked.since)
    params = {
        "limit": LIST_LIMIT,
        "since": since,
        "handle": asked.handle,
        "story_type": asked.story_type,
        "beat": asked.beat,
    }
    return Request(endpoint, endpoint, _params(params), priority=asked.priority)


def _wire(asked: WireResource) -> Request:
    params = {
        "limit": LIST_LIMIT,
        "since": _midnight(asked.since),
        "min_importance": asked.min_importance or None,
        "kind": asked.kind,
        "beat": asked.beat,
        "ticker": asked.ticker,
        "source": asked.source,
    }
    return Request(Endpoint.WIRE, Endpoint.WIRE, _params(params), priority=asked.priority)


def _midnight(day: date | None) -> str | None:
    return None if day is None else f"{day.isoformat()}T00:00:00Z"


def _params(given: dict[str, Any]) -> Params:
    params = tuple((name, str(value)) for name, value in given.items() if value is not None)
    for name, value in params:
        _refuse_key(name, value)
    return params


def _refuse_key(name: str, value: str) -> None:
    """Raise `NotFoundError` for an API key in another's place: in an address every log on the way would show it."""
    if KEY.search(value):
        raise NotFoundError(f"{name} {quoted(value)} holds an API key: nothing is called so, and it was not sent")


_RECENT = _params({"history": HISTORY_LIMIT})
