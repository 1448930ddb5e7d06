"""The tools for what others wrote: research posts, and the wire of primary-source items, both newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from addin.mcp.tool import Found, tool
from addin.mcp.tools.records import OFFSET, field_names, limit, listed, listing_schema
from dataservice.client import Page, WireResource
from dataservice.client.contract.requests import LIST_LIMIT
from dataservice.client.contract.results import published_since
from dataservice.models import Post
from udfs.arguments.dates import Since, SinceDay, as_day, since_moment
from udfs.arguments.kinds import Text, shown
from udfs.engine.effects import need
from udfs.errors import NoDataError
from udfs.functions.codex import POST_FIELDS, STORY_TYPES, find_post, posts_of
from udfs.functions.wire import IMPORTANCE, KINDS, WIRE_FIELDS, about, newest_first
from udfs.records.lookup import nearest

POST_SUMMARY = ("published_at", "story_type", "title", "subtitle", "slug", "handle")

WHOLE_POST = (*POST_SUMMARY, "url", "body_md", "citations")

WIRE_SUMMARY = "published_at, importance_score, kind, headline, source, primary_url, signal_slugs"

POSTS_SINCE = SinceDay(help="only posts from then on: 2026-01-31, or text such as -3M, -6H or YTD", example="-3M")

ITEMS_SINCE = SinceDay(help="only items from then on: 2026-01-31, or text such as -7D, -6H or MTD", example="-7D")

POST = Text(help="only this post, with its text and citations", example="what-moved-12")

TICKER = Text(help="only items that name this ticker, in its own spelling", example="CPI")

SIGNAL = Text(help="only items about this signal: slug or shortcode", example="us-cpi")


@tool(title="List or read research posts", result=listing_schema("posts"))
async def list_posts(
    slug: Annotated[str | None, POST] = None,
    story_type: Annotated[str | None, Text(help="only posts of this type", choices=STORY_TYPES)] = None,
    handle: Annotated[str | None, Text(help="only posts by this author (handle)", example="meridian")] = None,
    since: Annotated[Since | None, POSTS_SINCE] = None,
    beat: Annotated[str | None, Text(help="only posts of authors with this topic", example="macro")] = None,
    limit: Annotated[int, limit(LIST_LIMIT)] = 10,
    offset: Annotated[int, OFFSET] = 0,
    fields: Annotated[Sequence[str] | None, field_names(POST_FIELDS, example="body_md")] = None,
    *,
    now: float,
) -> Found:
    """Published research posts, newest first: titles and summaries, or one post with its text and citations.

    Lists leave the text out; give a slug, or ask for the field `body_md`. A citation's `wire_item_id` is the `id` of an
    item of list_wire. The service gives the newest 200 posts for a type, author, day and beat: one request for each
    new set of these, none for the rest.
    """
    page = await posts_of(story_type, handle, None if since is None else since_moment(since, now), beat)
    if slug:
        return listed("posts", [_post(page, slug)], POST_FIELDS, fields or WHOLE_POST, most=limit, offset=offset)
    cut = "" if page.complete else "the service gives the newest 200 only: filter by story_type, handle, beat or since"
    return listed("posts", page.items, POST_FIELDS, fields or POST_SUMMARY, most=limit, offset=offset, more=cut)


@tool(title="List items of the wire (Pro tier)", result=listing_schema("items"))
async def list_wire(
    ticker: Annotated[str | None, TICKER] = None,
    kind: Annotated[str | None, Text(help="only items of this kind", choices=KINDS)] = None,
    min_importance: Annotated[int, IMPORTANCE] = 0,
    since: Annotated[Since | None, ITEMS_SINCE] = None,
    beat: Annotated[str | None, Text(help="only items of this topic", example="macro")] = None,
    source: Annotated[str | None, Text(help="only items of this feed, in its own spelling")] = None,
    signal: Annotated[str | None, SIGNAL] = None,
    current: Annotated[str | None, Text(help="only items that belong to this current (slug)")] = None,
    text: Annotated[str | None, Text(help="only items with all these words in headline or summary")] = None,
    limit: Annotated[int, limit(LIST_LIMIT)] = 20,
    offset: Annotated[int, OFFSET] = 0,
    fields: Annotated[Sequence[str], field_names(WIRE_FIELDS)] = WIRE_SUMMARY,
    *,
    now: float,
) -> Found:
    """News, filings, press releases, data releases and more from primary sources, newest first. Needs the Pro tier.

    The service gives the newest 200 items for a ticker, kind, importance, day, beat and source: one request for each
    new set of these. signal, current and text choose among those at no cost. Read the original at `primary_url`.
    """
    first = None if since is None else since_moment(since, now)
    day = None if first is None else as_day(first)
    page = (await need(WireResource(ticker, kind, min_importance, day, beat, source))).value
    items = page.items if first == day else [item for item in page.items if published_since(item, first)]
    found = await about(newest_first(items), signal, current, text)
    cut = "the service gives the newest 200 only: ask with a narrower since, ticker, kind or importance"
    return listed("items", found, WIRE_FIELDS, fields, most=limit, offset=offset, more="" if page.complete else cut)


def _post(page: Page[Post], name: str) -> Post:
    post = find_post(page, name)
    if post is not None:
        return post
    guess = nearest(name, [each.slug for each in page])
    meant = f"; did you mean {guess}?" if guess else ""
    older = "" if page.complete else "; an older one is found with its story_type, handle, beat or since"
    raise NoDataError(f"no post {shown(name)} among these {len(page)}{meant}{older}")
