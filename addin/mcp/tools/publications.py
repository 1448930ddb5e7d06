"""The tools for what others wrote: research posts, and the wire of primary-source items, both newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Annotated, TypeVar

from addin.mcp.answer_size import MAX_BYTES, MAX_TOKENS, MIN_TEXT_CHARS, tokens_at_most
from addin.mcp.tool import Found, tool
from addin.mcp.tools.filters import Values, plain, respelled
from addin.mcp.tools.records import OFFSET, field_names, limit, listed, listing_schema
from dataservice.client import Page, WireResource
from dataservice.client.contract.requests import LIST_LIMIT
from dataservice.client.contract.results import published_since
from dataservice.models import Post, Record, WireItem
from udfs.arguments.dates import Day, Since, SinceDay, as_day, since_moment
from udfs.arguments.kinds import Count, Names, Text, shown
from udfs.engine.effects import need
from udfs.errors import NoDataError
from udfs.functions.codex import POST_FIELDS, STORY_TYPES, find_post, posts_of
from udfs.functions.wire import IMPORTANCE, KINDS, WIRE_FIELDS, about, newest_first
from udfs.records.fields import moment
from udfs.records.lookup import matches, nearest, searched_words

T = TypeVar("T", bound=Record)

POST_SUMMARY = ("published_at", "story_type", "title", "subtitle", "slug", "handle")

WHOLE_POST = (*POST_SUMMARY, "url", "body_md", "citations")

WIRE_SUMMARY = "id, published_at, importance_score, kind, headline, source, primary_url, signal_slugs"

POSTS_SINCE = SinceDay(help="only posts from then on: 2026-01-31, or text such as -3M, -6H or YTD", example="-3M")

ITEMS_SINCE = SinceDay(help="only items from then on: 2026-01-31, or text such as -7D, -6H or MTD", example="-7D")

UNTIL = Day(help="only what was published by then: a day or a moment", example="2026-06-30", timed=True)

TEXT_OFFSET = Count(help="with slug: begin so many characters into the text", least=0, most=10_000_000)

POST = Text(help="only this post, with its text and citations", example="what-moved-12")

TICKER = Text(help="only items that name this ticker, in its own spelling", example="CPI")

SIGNAL = Text(help="only items about this signal: slug or shortcode", example="us-cpi")


@tool(title="List or read research posts", result=listing_schema("posts"))
async def list_posts(
    slug: Annotated[str | None, POST] = None,
    story_type: Annotated[str | None, Text(help="only posts of this type", choices=STORY_TYPES)] = None,
    handle: Annotated[str | None, Text(help="only posts by this author (handle)", example="meridian")] = None,
    since: Annotated[Since | None, POSTS_SINCE] = None,
    until: Annotated[date | None, UNTIL] = None,
    beat: Annotated[str | None, Text(help="only posts of authors with this topic", example="macro")] = None,
    text: Annotated[str | None, Text(help="only posts with all these words in title, subtitle or text")] = None,
    text_offset: Annotated[int, TEXT_OFFSET] = 0,
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
    first = None if since is None else since_moment(since, now)
    page, unmet = await posts_of(story_type, plain(handle), first, beat), list[str]()
    if slug:
        return _read(
            listed("posts", [_post(page, slug)], POST_FIELDS, fields or WHOLE_POST, most=1, offset=0), text_offset
        )
    if not page.items and (handle or beat):
        every = await posts_of(story_type, None, first, None)
        spelled, unmet = respelled({"handle": plain(handle), "beat": beat}, every.items, _POST_VALUES)
        if not unmet:
            page = await posts_of(story_type, spelled["handle"], first, spelled["beat"])
    words = searched_words(text or "")
    found = [
        post
        for post in _published_until(page.items, until)
        if matches(words, (post.title, post.subtitle, post.body_md))
    ]
    cut = "" if page.complete else "the service gives the newest 200 only: filter by story_type, handle or beat"
    return listed(
        "posts",
        found,
        POST_FIELDS,
        fields or POST_SUMMARY,
        most=limit,
        offset=offset,
        more="; ".join([*unmet, cut] if cut else unmet),
    )


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
    until: Annotated[date | None, UNTIL] = None,
    ids: Annotated[
        Sequence[str] | None, Names(help="only these items, as posts cite them", example="w-12, w-15")
    ] = None,
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
    asked = WireResource(_ticker(ticker), kind, min_importance, None if first is None else as_day(first), beat, source)
    page, unmet = (await need(asked)).value, list[str]()
    if not page.items and (ticker or beat or source):
        every = (await need(replace(asked, ticker=None, beat=None, source=None))).value
        given = {"ticker": plain(ticker), "beat": beat, "source": source}
        spelled, unmet = respelled(given, every.items, _WIRE_VALUES)
        if not unmet:
            names = [spelled[name] for name in ("ticker", "beat", "source")]
            page = (await need(replace(asked, ticker=names[0], beat=names[1], source=names[2]))).value
    items = page.items if first == asked.since else [item for item in page.items if published_since(item, first)]
    found = await about(newest_first(_published_until(items, until)), signal, current, text)
    if current and not found:
        unmet += respelled({"current": current}, items, {"current": lambda item: item.current_slugs})[1]
    if ids:
        wanted = {each.casefold() for each in ids}
        found = [item for item in found if item.id.casefold() in wanted]
    cut = "the service gives the newest 200 only: older ones are reached by ticker, kind, importance, beat or source"
    told = unmet if page.complete else [*unmet, cut]
    return listed("items", found, WIRE_FIELDS, fields, most=limit, offset=offset, more="; ".join(told))


_POST_VALUES: Mapping[str, Values[Post]] = {
    "handle": lambda post: [post.byline.get("handle")],
    "beat": lambda post: [post.byline.get("beat")],
}

_WIRE_VALUES: Mapping[str, Values[WireItem]] = {
    "ticker": lambda item: item.tickers,
    "beat": lambda item: [item.beat],
    "source": lambda item: [item.source],
}


def _ticker(name: str | None) -> str | None:
    """A ticker in the usual spelling: without `$`, in capitals unless its letters are mixed."""
    bare = plain(name)
    return bare.upper() if bare and bare == bare.lower() else bare


def _published_until(records: Sequence[T], until: date | None) -> list[T]:
    """The records that were published by then; all of a day counts."""
    if until is None:
        return list(records)
    end = until if isinstance(until, datetime) else datetime.combine(until, time.max, UTC)
    end = end if end.tzinfo else end.replace(tzinfo=UTC)
    return [record for record in records if (at := moment(record.field("published_at"))) is not None and at <= end]


def _read(found: Found, text_offset: int) -> Found:
    """One post with as much of its text as one answer holds, from `text_offset` on, and where the rest begins."""
    (post,) = found.members["posts"]
    body = post.get("body_md")
    if not isinstance(body, str):
        return found
    end = text_offset + _room(body[text_offset : text_offset + MAX_BYTES])
    part = {**post, "body_md": body[text_offset:end]}
    rest = f"body_md has {len(body):,} characters: go on with text_offset={end}" if end < len(body) else None
    return Found({**found.members, "posts": [part]}, rest, found.offset)


def _room(text: str) -> int:
    """How many characters of a text fit into one answer beside the other fields of a post."""
    size = len(text)
    while size > MIN_TEXT_CHARS and (
        len(text[:size].encode(errors="replace")) > MAX_BYTES // 2 or tokens_at_most(text[:size]) > MAX_TOKENS // 2
    ):
        size = size * 3 // 4
    return size


def _post(page: Page[Post], name: str) -> Post:
    post = find_post(page, name)
    if post is not None:
        return post
    guess = nearest(name, [each.slug for each in page])
    meant = f"; did you mean {guess}?" if guess else ""
    older = "" if page.complete else "; an older one is found with its story_type, handle, beat or since"
    raise NoDataError(f"no post {shown(name)} among these {len(page)}{meant}{older}")
