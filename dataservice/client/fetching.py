"""From a resource to its value over the network: how many requests that takes, and in which order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from dataservice.client import decode
from dataservice.client.collections import Catalogue
from dataservice.client.courier import Courier, Errand
from dataservice.client.paging import Pulled, next_offset
from dataservice.client.requests import catalogue_request, first_request, observations_request
from dataservice.client.resources import (
    CatalogueResource,
    CurrentsResource,
    IndicesResource,
    PostsResource,
    Resource,
    SignalResource,
    WireResource,
)
from dataservice.client.spans import Window
from dataservice.models import Signal

__all__ = ["catalogue_pages", "fetch", "observation_pages"]


async def fetch(courier: Courier, resource: Resource[Any], errand: Errand) -> Any:
    """The value of any resource but a history."""
    if isinstance(resource, CatalogueResource):
        found: dict[str, Signal] = {}  # a signal may come twice when the catalogue grows between two pages
        async for page in catalogue_pages(courier, lambda: errand):
            found.update((signal.slug, signal) for signal in page.signals)
        return Catalogue(tuple(found.values()))
    return await courier.fetch(first_request(resource), errand, _decoder(resource))


def _decoder(resource: Resource[Any]) -> Callable[[bytes], Any]:
    match resource:
        case SignalResource():
            return decode.signal_detail
        case IndicesResource():
            return decode.indices
        case CurrentsResource():
            return decode.currents
        case PostsResource():
            return decode.posts
        case WireResource():
            return decode.wire
        case _:
            raise TypeError(f"no request answers {resource!r}")


async def catalogue_pages(
    courier: Courier, errand: Callable[[], Errand], category: str | None = None
) -> AsyncIterator[decode.CataloguePage]:
    """The pages of the catalogue, one request each, on the `errand` it is given before each."""
    offset: int | None = 0
    while offset is not None:
        page = await courier.fetch(catalogue_request(offset, category), errand(), decode.catalogue_page)
        yield page
        offset = next_offset(offset, page)


async def observation_pages(
    courier: Courier, errand: Callable[[], Errand], slug: str, window: Window
) -> AsyncIterator[Pulled]:
    """What has arrived of a window of observations after each of its pages, one request each."""
    pulled = Pulled.begin(window)
    while (start := pulled.next_start) is not None:
        request = observations_request(slug, _unless(start, Window().start), _unless(window.end, Window().end))
        pulled = await courier.fetch(request, errand(), partial(_with_page, pulled))
        yield pulled


def _with_page(pulled: Pulled, body: bytes) -> Pulled:
    return pulled.with_page(decode.observations_page(body))


def _unless(day: Any, open_end: Any) -> Any:
    return None if day == open_end else day
