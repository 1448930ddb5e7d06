"""Lists over the network, the catalogue among them: which requests they take, page by page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, cast

from dataservice.client.cache.answer import Answer
from dataservice.client.cache.codec import pack
from dataservice.client.contract import decode
from dataservice.client.contract.body import version_in
from dataservice.client.contract.completeness.catalogue import PulledCatalogue
from dataservice.client.contract.completeness.evidence import NOTHING_SEEN, Evidences
from dataservice.client.contract.completeness.lists import ListKind, PulledList
from dataservice.client.contract.paging import too_many_pages
from dataservice.client.contract.requests import (
    LIST_LIMIT,
    first_request,
)
from dataservice.client.contract.resources import (
    CATALOGUE,
    CurrentsResource,
    IndicesResource,
    PostsResource,
    Resource,
    WireResource,
)
from dataservice.client.contract.results import Catalogue, Currents, Indices, Page, newest_first
from dataservice.client.network.call_context import CallContext
from dataservice.client.pages import pages_of_catalogue
from dataservice.client.series.tools import FetchTools
from dataservice.models import Post, WireItem


def _collection(kind: type[Indices | Currents]) -> Callable[[PulledList], Any]:
    def whole(pulled: PulledList) -> Indices | Currents:
        found = kind(pulled.records)
        found.odd, found.may_be_cut = pulled.odd, pulled.may_be_cut or not pulled.is_complete
        return found

    return whole


def _page(kind: type[Post | WireItem]) -> Callable[[PulledList], Page[Any]]:
    return lambda pulled: Page(
        newest_first(pulled.records), pulled.is_complete, kind, pulled.odd, may_be_cut=pulled.may_be_cut
    )


LISTS: dict[type[Resource[Any]], ListKind] = {
    IndicesResource: ListKind("indices", decode.indices_page, _collection(Indices), lambda index: index.slug),
    CurrentsResource: ListKind("currents", decode.currents_page, _collection(Currents), lambda current: current.slug),
    PostsResource: ListKind("posts", decode.posts_page, _page(Post), lambda post: post.slug, LIST_LIMIT),
    WireResource: ListKind("wire", decode.wire_page, _page(WireItem), lambda item: item.id, LIST_LIMIT),
}


async def fetch_list(tools: FetchTools, resource: Resource[Any], context: CallContext) -> Answer[Any]:
    """The catalogue, or another list, after as many requests as it takes.

    What cannot be kept is refused like what cannot be read.
    """
    value = await (_catalogue(tools, context) if resource == CATALOGUE else _list(tools, resource, context))
    return await tools.cache.keep_list(resource, value, pack(value), tools.clock(), ending=context.hand_over)


async def _catalogue(tools: FetchTools, context: CallContext) -> Catalogue:
    pulled = PulledCatalogue()
    async for step in pages_of_catalogue(tools.sender, context, max_pages=tools.max_pages):
        pulled = step
    may_lack_last = tools.evidence.now.keeps_last is False and not pulled.told
    return Catalogue(tuple(pulled.found.values()), pulled.odd, pulled.may_be_cut or may_lack_last)


async def _list(tools: FetchTools, resource: Resource[Any], context: CallContext) -> Any:
    """A list, page by page; another page is asked for only where others follow, or the list may have been cut."""
    if (kind := LISTS.get(type(resource))) is None:
        raise TypeError(f"no request answers {resource!r}")
    request, evidence = first_request(resource), tools.evidence
    filters = len(request.params) - bool(kind.most)
    pulled, left = PulledList(kind, filters), 0  # what is left is believed from the second page on, as of signals
    for pages in count():
        if max(pages + 1, pages + left if pages > 1 and not kind.most else 0) > tools.max_pages:
            what = request.path.rpartition("/")[2]
            raise tools.sender.refused(
                too_many_pages(f"the {what}", tools.max_pages, "there are too many"), request, context
            )
        page = await tools.sender.fetch(request.further(pulled.further), context, partial(_packable, kind, evidence))
        pulled, left = pulled.with_page(page, evidence.now), page.pages
        evidence.now = evidence.now.after_list(
            kind.name, pulled.most_rows, is_filtered=bool(filters), went_on=pulled.went_on
        )
        if not pulled.further:
            break
    if evidence.now.keeps_last is False and not pulled.told:
        pulled = replace(pulled, is_complete=False, may_be_cut=True)
    value = kind.whole(pulled)
    if isinstance(value, Indices) and evidence.now.reading:
        value = value.read_from(evidence.now.reading)
    return _passing(resource, value) if isinstance(resource, PostsResource | WireResource) else value


def _passing(resource: PostsResource | WireResource, page: Page[Any]) -> Page[Any]:
    """The page without the records that the filters should have kept out, of a service that ignores some of these."""
    found = page.selected(lambda record: _told_filters(resource, record).selects(record))
    return page if len(found) == len(page) else replace(found, complete=False)


def _told_filters(resource: PostsResource | WireResource, record: Post | WireItem) -> PostsResource | WireResource:
    """The filters of which the record tells anything: a service may leave out what all records of an answer share.

    What a beat is, only the service tells.
    """
    since = resource.since if record.published_at else None
    if isinstance(resource, PostsResource):
        told = cast("Post", record)
        story_type = resource.story_type if told.story_type else None
        handle = resource.handle if told.byline.get("handle") else None
        return replace(resource, beat=None, since=since, story_type=story_type, handle=handle)
    item = cast("WireItem", record)
    return replace(
        resource,
        beat=None,
        since=since,
        kind=resource.kind if item.kind else None,
        source=resource.source if item.source else None,
        ticker=resource.ticker if item.tickers else None,
        min_importance=0 if item.importance_score is None else resource.min_importance,
    )


@decode.readable
def _packable(kind: ListKind, evidence: Evidences, body: bytes) -> decode.ListPage[Any]:
    evidence.heed(version_in(body))
    page = kind.read(body)
    pack(kind.whole(PulledList(kind).with_page(page, NOTHING_SEEN)))  # refused here if it could not be kept
    return page
