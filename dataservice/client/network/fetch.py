"""From a resource to its value over the network: how many requests that takes, and in which order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from dataservice.client.contract import decode
from dataservice.client.contract.paging import Pulled, next_offset
from dataservice.client.contract.requests import catalogue_request, first_request, observations_request
from dataservice.client.contract.resources import (
    CatalogueResource,
    CurrentsResource,
    IndicesResource,
    PostsResource,
    Resource,
    SignalResource,
    WireResource,
)
from dataservice.client.contract.results import Catalogue
from dataservice.client.contract.windows import Window
from dataservice.client.network.sender import CallContext, RequestSender
from dataservice.models import Signal


async def fetch(sender: RequestSender, resource: Resource[Any], context: CallContext) -> Any:
    """The value of any resource but a history."""
    if isinstance(resource, CatalogueResource):
        found: dict[str, Signal] = {}  # a signal may come twice when the catalogue grows between two pages
        async for page in catalogue_pages(sender, lambda: context):
            found.update((signal.slug, signal) for signal in page.signals)
        return Catalogue(tuple(found.values()))
    return await sender.fetch(first_request(resource), context, _decoder(resource))


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
    sender: RequestSender, context: Callable[[], CallContext], category: str | None = None
) -> AsyncIterator[decode.CataloguePage]:
    """The pages of the catalogue, one request each, on the `context` it is given before each."""
    offset: int | None = 0
    while offset is not None:
        page = await sender.fetch(catalogue_request(offset, category), context(), decode.catalogue_page)
        yield page
        offset = next_offset(offset, page)


async def observation_pages(
    sender: RequestSender, context: Callable[[], CallContext], slug: str, window: Window
) -> AsyncIterator[Pulled]:
    """What has arrived of a window of observations after each of its pages, one request each."""
    pulled = Pulled.begin(window)
    while (start := pulled.next_start) is not None:
        request = observations_request(slug, _unless(start, Window().start), _unless(window.end, Window().end))
        pulled = await sender.fetch(request, context(), partial(_with_page, pulled))
        yield pulled


def _with_page(pulled: Pulled, body: bytes) -> Pulled:
    return pulled.with_page(decode.observations_page(body))


def _unless(day: Any, open_end: Any) -> Any:
    return None if day == open_end else day
