"""The resources of the service, as values: what can be requested, and which answer holds which other one.

A request is what costs, so the client thinks in resources: two cells that need the same resource share one answer,
whichever fields they show. A resource knows nothing of keys, caches or HTTP.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from itertools import combinations
from typing import Any, ClassVar, Generic, TypeVar

from dataservice.client.contract.dates import date_in
from dataservice.client.contract.results import Catalogue, Page, SignalDetail, published_since
from dataservice.client.contract.windows import Window, utc_day_of
from dataservice.key_text import quoted
from dataservice.models import Current, Index, Post, WireItem
from dataservice.observations import Observations

T_co = TypeVar("T_co", covariant=True)


CATALOGUE_AGE_S = 86_400.0
"""A catalogue up to a day old settles names and searches without a request: signals come and go rarely."""


@dataclass(frozen=True, slots=True)
class Resource(Generic[T_co]):
    """Something the service can be asked whose answer is a `T_co`; equal resources share one answer."""

    priority: ClassVar[int] = 0
    """What goes first when requests are short: values (0), histories (1), posts (2), the wire (3)."""
    is_requested: ClassVar[bool] = True
    """Whether a request can answer it; else only what earlier answers showed."""

    @property
    def family(self) -> Hashable:
        """Return what this resource shares with all that could cover it or be covered by it."""
        return self

    def covers(self, other: Resource[object]) -> bool:
        """Return whether a complete answer to this one holds the whole answer to `other`."""
        return self == other


@dataclass(frozen=True, slots=True)
class CatalogueResource(Resource[Catalogue]):
    """The whole catalogue of signals: `ceil(total / 500)` requests (GET /v1/signals)."""


CATALOGUE = CatalogueResource()


@dataclass(frozen=True, slots=True)
class SignalResource(Resource[SignalDetail]):
    """One signal with its latest value and the widest recent history, in one request (GET /v1/signals/{slug})."""

    slug: str

    @property
    def may_be_refused(self) -> bool:
        """Whether it may be a 404 though there is such a signal: of windows alone we know that slugs may have dots."""
        return "." in self.slug


@dataclass(frozen=True, slots=True)
class HistoryResource(Resource[Observations]):
    """A signal's observations from `start` to `end`, both included, None an open end (GET …/observations).

    Text such as 2024-12-31 counts as its day. The answer may reach further than asked; cut it with
    `Observations.between`.
    """

    slug: str
    start: date | None = None
    end: date | None = None

    priority: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _by_days(self, "start", "end")

    @property
    def family(self) -> Hashable:
        """All windows of one signal."""
        return windows_of(self.slug)

    @property
    def days(self) -> Window:
        """The days from `start` to `end`; an open end reaches as far as dates do."""
        return Window(_from(self.start), _to(self.end))

    def covers(self, other: Resource[object]) -> bool:
        """Return whether the window of `other` lies inside this one's."""
        return (
            isinstance(other, HistoryResource)
            and other.slug == self.slug
            and _from(self.start) <= _from(other.start)
            and _to(self.end) >= _to(other.end)
        )


@dataclass(frozen=True, slots=True)
class IndicesResource(Resource[tuple[Index, ...]]):
    """All indices with components and readings, in one request (GET /v1/indices)."""


@dataclass(frozen=True, slots=True)
class CurrentsResource(Resource[tuple[Current, ...]]):
    """All currents with their scores, in one request (GET /v1/currents)."""


@dataclass(frozen=True, slots=True)
class PostsResource(Resource[Page[Post]]):
    """The newest posts that pass the service's own filters, at most 200 (GET /v1/codex; /v1/almanac with a beat)."""

    story_type: str | None = None
    handle: str | None = None
    since: date | None = None
    beat: str | None = None

    priority: ClassVar[int] = 2

    def __post_init__(self) -> None:
        _by_texts(self, "story_type", "handle", "beat")
        _by_days(self, "since")

    @property
    def family(self) -> Hashable:
        """All selections of posts."""
        return PostsResource

    def covers(self, other: Resource[object]) -> bool:
        """Return whether every filter here is also one of `other`, or a looser one."""
        return (
            isinstance(other, PostsResource)
            and self.story_type in (None, other.story_type)
            and self.handle in (None, other.handle)
            and self.beat in (None, other.beat)
            and _from(self.since) <= _from(other.since)
        )

    def selects(self, post: Post) -> bool:
        """Return whether the service's filters let `post` pass."""
        return (
            self.story_type in (None, post.story_type)
            and self.handle in (None, post.byline.get("handle"))
            and self.beat in (None, post.byline.get("topic_beat"))
            and published_since(post, self.since)
        )


@dataclass(frozen=True, slots=True)
class WireResource(Resource[Page[WireItem]]):
    """The newest wire items that pass the service's own filters, the widest page (GET /v1/wire, Pro and above)."""

    ticker: str | None = None
    kind: str | None = None
    min_importance: int = 0
    since: date | None = None
    beat: str | None = None
    source: str | None = None

    priority: ClassVar[int] = 3

    def __post_init__(self) -> None:
        _by_texts(self, "ticker", "kind", "beat", "source")
        if not isinstance(self.min_importance, int | float):
            raise TypeError(f"min_importance is a number from 0 to 100, not {quoted(self.min_importance)}")
        if not 0 <= self.min_importance <= 100:
            raise ValueError(f"min_importance is a number from 0 to 100, not {quoted(self.min_importance)}")
        _by_days(self, "since")

    @property
    def family(self) -> Hashable:
        """All selections of items."""
        return WireResource

    def covers(self, other: Resource[object]) -> bool:
        """Return whether every filter here is also one of `other`, or a looser one."""
        return (
            isinstance(other, WireResource)
            and self.ticker in (None, other.ticker)
            and self.kind in (None, other.kind)
            and self.beat in (None, other.beat)
            and self.source in (None, other.source)
            and self.min_importance <= other.min_importance
            and _from(self.since) <= _from(other.since)
        )

    def selects(self, item: WireItem) -> bool:
        """Return whether the service's filters let `item` pass."""
        return (
            self.kind in (None, item.kind)
            and self.beat in (None, item.beat)
            and self.source in (None, item.source)
            and (self.ticker is None or self.ticker in item.tickers)
            and (item.importance_score or 0.0) >= self.min_importance
            and published_since(item, self.since)
        )


def windows_of(slug: str) -> Hashable:
    """The family of all windows of a signal."""
    return HistoryResource, slug


def narrowed(resource: Resource[Any], wide: Resource[Any], value: Any) -> Any | None:
    """The value of `resource` taken from the `value` of `wide`; None where that does not hold all of it."""
    if not wide.covers(resource):
        return None
    match resource, value:
        case HistoryResource(_, start, end), Observations():
            return value.between(start, end)
        case ((PostsResource() | WireResource()), Page(complete=True)):
            found = value.selected(resource.selects)
            return found if len(found) or not _is_of_almanac(resource, wide) else None
        case ((PostsResource() | WireResource()), Page()) if _differ_in_since_only(resource, wide):
            return value.selected(resource.selects)  # the newest since a day are the newest since a later one, too
        case _:
            return None


def _is_of_almanac(resource: Resource[Any], wide: Resource[Any]) -> bool:
    """Whether the almanac answers `resource` and the codex `wide`: one may know beats that the other does not tell."""
    return getattr(resource, "beat", None) is not None and isinstance(wide, PostsResource) and wide.beat is None


def _differ_in_since_only(one: PostsResource | WireResource, other: Any) -> bool:
    return bool(replace(one, since=None) == replace(other, since=None))


@dataclass(frozen=True, slots=True)
class KnownDaysResource(Resource[Sequence[Window]]):
    """The windows of the signal `slug` of which observations are known, however old; no request answers it.

    It is one question in place of one for each day that a sheet asks for.
    """

    slug: str

    is_requested: ClassVar[bool] = False


def wider(resource: Resource[Any]) -> Iterator[Resource[Any]]:
    """The selections without some of the filters of `resource`, those without the most first."""
    if not isinstance(resource, PostsResource | WireResource):
        return
    filters = {field.name: getattr(resource, field.name) for field in fields(resource)}
    given = [field.name for field in fields(resource) if filters[field.name] != field.default]
    for count in range(len(given)):
        for names in combinations(given, count):
            yield type(resource)(**{name: filters[name] for name in names})


def _by_texts(resource: Resource[Any], *names: str) -> None:
    """Raise `TypeError` for a filter that is neither text nor None, such as a list: each has one value."""
    for name in names:
        given = getattr(resource, name)
        if given is not None and not isinstance(given, str):
            raise TypeError(f"{name} is one text, not {quoted(given)}")


def _by_days(resource: Resource[Any], *names: str) -> None:
    """Make times and texts their UTC days; raises `ValueError` for what is no date."""
    for name in names:
        given = getattr(resource, name)
        if given is not None and type(given) is not date:
            found = date_in(given)
            if not isinstance(found, date):
                raise ValueError(f"{name} {quoted(given)} is not a date; it takes a date, or text such as 2024-12-31")
            object.__setattr__(resource, name, utc_day_of(found))


def _from(start: date | None) -> date:
    return start or date.min


def _to(end: date | None) -> date:
    return end or date.max
