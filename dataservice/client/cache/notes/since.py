"""Lists since a day: `-7D` is another day tomorrow, and finds what was fetched since an earlier one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import Any

import msgspec

from dataservice.client.contract.resources import PostsResource, Resource, WireResource

MAX_DAYS = 64
"""Days noted for one set of filters: formulas use few."""

CANDIDATES = 3
"""Earlier days that are looked up: the nearest one holds the fewest items besides, and is rarely gone."""

NOTE = "#since"  # no request has a fragment, so no answer is kept under this name

_days = msgspec.msgpack.Decoder(tuple[date, ...]).decode
_encode = msgspec.msgpack.Encoder().encode


def since_of(resource: Resource[Any]) -> date | None:
    """The day that the resource begins with, if it is such a list."""
    return resource.since if isinstance(resource, WireResource | PostsResource) else None


def from_any_day(resource: Resource[Any]) -> Resource[Any]:
    """The same list without its first day."""
    return replace(resource, since=None) if isinstance(resource, WireResource | PostsResource) else resource


def noted(payload: bytes) -> tuple[date, ...]:
    """The days in a note, the last noted first; none where it cannot be read."""
    try:
        return _days(payload)
    except (msgspec.MsgspecError, ValueError):
        return ()


def with_day(days: Iterable[date], day: date) -> bytes:
    """The note with one more day."""
    return _encode(tuple(dict.fromkeys([day, *days]))[:MAX_DAYS])


def earlier(resource: Resource[Any], days: Iterable[date]) -> list[Resource[Any]]:
    """The same list since earlier days, the nearest first: each holds what is newer than a later day."""
    if not isinstance(resource, WireResource | PostsResource) or resource.since is None:
        return []
    before = sorted((day for day in days if day < resource.since), reverse=True)
    return [replace(resource, since=day) for day in before[:CANDIDATES]]
