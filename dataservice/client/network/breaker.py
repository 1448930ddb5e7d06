"""The circuit breaker: what not to ask again for a while, after refusals of a key, endpoint or resource, and outages.

Nothing here touches a known value: what is blocked is answered with the last known one, or with the error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

import httpx
from cachetools import LRUCache

from dataservice.client.contract.quota import Quota
from dataservice.client.contract.requests import Endpoint
from dataservice.client.contract.resources import HistoryResource, Resource, SignalResource
from dataservice.client.contract.windows import utc_day
from dataservice.client.network.error_mapping import RETRIED_STATUSES, tier_error
from dataservice.errors import (
    AuthenticationError,
    ConnectionFailedError,
    DataServiceError,
    DeadlineExceededError,
    InterceptedError,
    MalformedAnswerError,
    MissingKeyError,
    NotFoundError,
    QuotaExceededError,
    RejectedError,
    ServerFailedError,
    TierError,
    TooManyPagesError,
    UnavailableError,
)

NO_KEY = "no API key is configured; put it into DATA_SERVICE_API_KEY or run `addin key set`"

NEGATIVE_TTL_S = 300.0
"""An unknown name may be created any time: five minutes save the requests of a hundred equal cells."""

OUTAGE_S = 5.0
"""For so long after a failed call the service is not asked; the time doubles with every further failure."""

MAX_OUTAGE_S = 60.0
FAILING_IN_A_ROW = 3  # resources: one or two may be broken by themselves

MAX_RESOURCES = 10_000  # with an open breaker of their own; the least recently used are dropped first


@dataclass(frozen=True, slots=True)
class OpenBreaker:
    """An error that stands for the service's answer until a time; `strikes` counts failures in a row."""

    error: DataServiceError
    until: float
    strikes: int = 1


UNAUTHORIZED, UNAUTHORIZED_WHERE_ANSWERED = 2, 4
"""So many different resources refused with 401, and none answered between them, show that it is about the key."""

KEY_REFUSED = "the API key was refused"

PATIENCE = 8
"""So many resources of an endpoint may end badly in a row, before the others are asked one here and there."""

PATIENCE_WHERE_ANSWERED = 32
"""The same where the endpoint has answered before: then it rather is about the resources."""

TRY_AGAIN_S = 300.0


@dataclass(slots=True)
class _Row:
    """The failures of an endpoint since its last good answer."""

    bad: set[str | Resource[Any] | None] = field(default_factory=set)
    error: DataServiceError | None = None
    turned_away: int = 0
    try_at: float = 0.0


class RepeatedFailureGuard:
    """A guard on endpoints that gave only bad answers lately, one resource after another; reads no clock.

    A refusal such as 403 may concern one signal, or the key with all its signals. Each answer costs a request, so after
    several with no good one between them only a few more are tried: the 1st, 2nd, 4th, 8th … that comes, and one every
    few minutes. As soon as one is good, all may be asked again.
    """

    def __init__(self) -> None:
        self._rows: dict[Endpoint, _Row] = {}
        self._has_answered: set[Endpoint] = set()

    def note(self, error: DataServiceError, resource: Resource[Any] | None, endpoint: Endpoint, now: float) -> None:
        """Remember that `resource` ended in `error`."""
        row = self._rows.setdefault(endpoint, _Row())
        if len(row.bad) < PATIENCE_WHERE_ANSWERED:
            row.bad.add(resource.slug if isinstance(resource, SignalResource | HistoryResource) else resource)
        row.error, row.try_at = error, now + TRY_AGAIN_S

    def answered(self, endpoint: Endpoint) -> None:
        """The endpoint gave a good answer."""
        self._rows.pop(endpoint, None)
        self._has_answered.add(endpoint)

    def turn_away(self, endpoint: Endpoint, now: float) -> DataServiceError | None:
        """Return why the next request to `endpoint` is not sent; None where it is. Each call is counted."""
        row = self._rows.get(endpoint)
        if row is None or row.error is None:
            return None
        patience = PATIENCE_WHERE_ANSWERED if endpoint in self._has_answered else PATIENCE
        if len(row.bad) < patience:
            return None
        if now >= row.try_at:
            row.try_at = now + TRY_AGAIN_S
            return None
        row.turned_away += 1
        if row.turned_away.bit_count() == 1:  # a power of two
            return None
        error = row.error.afresh()  # of its kind: what lasts is not advised to be asked again in a minute
        error.message = f"not asked, as {patience} or more others in a row failed: {row.error.message}"
        error.args = (error.message,)
        return error

    def reset(self) -> None:
        """Let all be asked again; that an endpoint has answered before stays known."""
        self._rows.clear()


class CircuitBreaker:
    """The breaker of one client; without a key it stays open for ever."""

    def __init__(self, *, has_key: bool = True) -> None:
        self._no_key = None if has_key else OpenBreaker(MissingKeyError(NO_KEY), float("inf"))
        self._key: OpenBreaker | None = None
        self._outage: OpenBreaker | None = None
        self._endpoints: dict[Endpoint, OpenBreaker] = {}
        self._failing: set[Resource[Any] | None] = set()
        self._unauthorized: set[Resource[Any] | Endpoint] = set()
        """What was refused with 401 since the last good answer."""
        self._unauthorized_at: set[Endpoint] = set()
        """The endpoints that did so."""
        self._opened: set[Endpoint] = set()
        """Those that the key was seen to open."""
        self._resources: LRUCache[Resource[Any], OpenBreaker] = LRUCache(MAX_RESOURCES)
        self.alike = RepeatedFailureGuard()
        """Turns a request away whose turn has come, where too many others ended alike."""
        self._tier: str | None = None
        """The tier that was told last."""
        self._wire: OpenBreaker | None = None
        self.is_wire_open = False
        """Whether the key's tier is known to open the wire."""

    def tier_told(self, quota: Quota) -> None:
        """Learn the key's tier, which any answer tells: on Free the wire is locked, and asking would be for nothing."""
        if quota.tier == self._tier:
            return
        self._tier, self.is_wire_open = quota.tier, not quota.is_free
        self._wire = OpenBreaker(tier_error("the wire", quota), float("inf")) if quota.is_free else None

    def blocking_error(self, resource: Resource[Any] | None, endpoint: Endpoint, now: float) -> DataServiceError | None:
        """The error that stands for the answer now, the widest first; None when the service may be asked."""
        wire = self._wire if endpoint is Endpoint.WIRE else None
        wide = (self._no_key, self._key, wire, self._endpoints.get(endpoint), self._outage)
        for found in (*wide, *self._of_resource(resource)) if self._resources else wide:
            if found is not None and now < found.until:
                return found.error
        return None

    def _of_resource(self, resource: Resource[Any] | None) -> Iterator[OpenBreaker | None]:
        """The breakers that concern one resource; a signal that does not exist has no history either."""
        if resource is None:
            return
        yield self._resources.get(resource)
        if isinstance(resource, HistoryResource):
            yield self._resources.get(HistoryResource(resource.slug))
            detail = self._resources.get(SignalResource(resource.slug))
            yield detail if detail is not None and isinstance(detail.error, NotFoundError) else None

    def note(self, error: DataServiceError, resource: Resource[Any] | None, endpoint: Endpoint, now: float) -> None:
        """Remember that the service answered `error` to `resource`."""
        error = error.afresh()
        if isinstance(error, RejectedError) and error.status == httpx.codes.UNAUTHORIZED:
            self._unauthorized_once_more(error, resource, endpoint, now)
        elif isinstance(error, QuotaExceededError):
            self._key = OpenBreaker(error, next_utc_day(now))
        else:
            self._failed(error, resource, endpoint, now)
        if _says_something_of_others(error):
            self.alike.note(error, resource, endpoint, now)

    def _failed(self, error: DataServiceError, resource: Resource[Any] | None, endpoint: Endpoint, now: float) -> None:
        """Open the narrowest breaker that an error is about."""
        match error:
            case TooManyPagesError() if resource is not None:
                self._resources[resource] = OpenBreaker(error, next_utc_day(now))
            case TierError() if (one := _signal_of(resource)) is not None:  # others may be open to the key
                self._resources[one] = OpenBreaker(error, next_utc_day(now))
            case TierError():
                self._endpoints[endpoint] = OpenBreaker(error, next_utc_day(now))
            case ConnectionFailedError() | DeadlineExceededError() | InterceptedError():
                self._outage = _struck(self._outage, error, now)
            case NotFoundError() if (one := _signal_of(resource)) is not None:
                self._resources[one] = OpenBreaker(error, now + NEGATIVE_TTL_S)
            case RejectedError() if resource is not None:
                self._resources[resource] = OpenBreaker(error, now + NEGATIVE_TTL_S)
            case UnavailableError() if resource is not None:
                self._resources[resource] = _struck(self._resources.get(resource), error, now)
            case _:
                pass

    def _unauthorized_once_more(
        self, error: DataServiceError, resource: Resource[Any] | None, endpoint: Endpoint, now: float
    ) -> None:
        """A 401 may be about one signal: several in a row of different ones are about the key, as is that of a list.

        They are about their endpoint where that is the only one, and the key opened others but never this one.
        """
        one, is_new_key = _signal_of(resource), isinstance(error, AuthenticationError)
        about = SignalResource(one.slug) if isinstance(one, SignalResource | HistoryResource) else endpoint
        self._unauthorized.add(about)
        self._unauthorized_at.add(endpoint)
        is_alone = self._unauthorized_at == {endpoint}
        is_of_endpoint = is_alone and bool(self._opened) and endpoint not in self._opened
        enough = UNAUTHORIZED if is_new_key else UNAUTHORIZED_WHERE_ANSWERED
        if len(self._unauthorized) >= enough and is_of_endpoint:
            told = f"HTTP 401 for all of {endpoint}: the key does not open it"
            self._endpoints[endpoint] = OpenBreaker(RejectedError(told, status=401, path=error.path), next_utc_day(now))
        elif len(self._unauthorized) >= enough or (is_new_key and one is None and endpoint is not Endpoint.WIRE):
            self._key = OpenBreaker(AuthenticationError(KEY_REFUSED, status=401, path=error.path), next_utc_day(now))
        elif one is not None:
            self._resources[one] = OpenBreaker(error, now + NEGATIVE_TTL_S)
        else:
            self._endpoints[endpoint] = OpenBreaker(error, now + NEGATIVE_TTL_S)

    def _key_opens_others(self) -> None:
        """Tell what was refused with 401 before a good answer came as refused by itself: it was not about the key."""
        for about in self._unauthorized:
            for one in (about, HistoryResource(about.slug)) if isinstance(about, SignalResource) else ():
                if (found := self._resources.get(one)) is not None and isinstance(found.error, AuthenticationError):
                    told = RejectedError(f"HTTP 401 for signal {one.slug!r}: the key does not open it", status=401)
                    self._resources[one] = replace(found, error=told.at(found.error.path))
        self._unauthorized.clear()
        self._unauthorized_at.clear()

    def attempt_failed(self, error: DataServiceError, resource: Resource[Any] | None, now: float) -> None:
        """Remember that the service failed on `resource`, which may be tried again.

        Failures on several resources with no answer between them are an outage: each try may count against the month.
        """
        if isinstance(error, ServerFailedError):
            self._failing.add(resource)
        if len(self._failing) >= FAILING_IN_A_ROW:
            self._outage = _struck(self._outage, error.afresh(), now)

    def answered(self, resource: Resource[Any] | None = None, endpoint: Endpoint | None = None) -> None:
        """The service answered: there is no outage, and `resource` is fine."""
        self._outage = None
        self._failing.clear()
        if self._unauthorized_at:
            self._key_opens_others()
        if endpoint is not None:
            self._opened.add(endpoint)
            self.alike.answered(endpoint)
        if resource is not None and self._resources:
            self._resources.pop(resource, None)
            if isinstance(resource, HistoryResource):  # where one window is answered, there is such a series
                self._resources.pop(HistoryResource(resource.slug), None)

    def reset(self) -> None:
        """Let everything be asked again."""
        self._key = self._outage = self._wire = self._tier = None
        self.is_wire_open = False
        self._failing.clear()
        self._unauthorized.clear()
        self._unauthorized_at.clear()
        self._endpoints.clear()
        self._resources.clear()
        self.alike.reset()


def _signal_of(resource: Resource[Any] | None) -> Resource[Any] | None:
    """Return what stands for all that this endpoint has of a signal; None for other resources."""
    match resource:
        case SignalResource():
            return resource
        case HistoryResource(slug):
            return HistoryResource(slug)
        case _:
            return None


def _says_something_of_others(error: DataServiceError) -> bool:
    """Return whether the next resource of the endpoint may well end alike, and nothing else sees to that."""
    match error:
        case InterceptedError() | NotFoundError() | AuthenticationError() | QuotaExceededError():
            return False
        case ServerFailedError(status=status):
            return status not in RETRIED_STATUSES
        case _:
            return isinstance(error, RejectedError | MalformedAnswerError)


def _struck(before: OpenBreaker | None, error: DataServiceError, now: float) -> OpenBreaker:
    """The open breaker after one more failure; those of calls under way together count once."""
    if before is None:
        return OpenBreaker(error, now + OUTAGE_S)
    if now < before.until:
        return replace(before, error=error)
    outage_s = min(MAX_OUTAGE_S, OUTAGE_S * 2.0**before.strikes)
    return OpenBreaker(error, now + outage_s, before.strikes + 1)


def next_utc_day(now: float) -> float:
    """The first second of the next UTC day: a new day, and with it a new month, may bring another answer."""
    tomorrow = utc_day(now) + timedelta(days=1)
    return datetime.combine(tomorrow, time.min, UTC).timestamp()
