"""The tool for research posts: listed newest first, or one read part by part, with what it cites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Annotated, Any, NamedTuple

import orjson

from addin.mcp.answer_size import MAX_BYTES, MAX_TOKENS, MIN_TEXT_CHARS, tokens_at_most
from addin.mcp.schemas import ANYTHING, list_of, object_of, record_of
from addin.mcp.tool import Found, tool
from addin.mcp.tools.filters import (
    UNTIL,
    Spelling,
    Values,
    among,
    near,
    plain,
    published_until,
    refuse_reversed,
    respelled,
)
from addin.mcp.tools.records import OFFSET, chosen_fields, field_names, limit, listed, listing_schema, nothing, shown
from dataservice.client import AsyncClient, Page, PostsResource, WireResource
from dataservice.client.contract import LIST_LIMIT, WIDEST
from dataservice.errors import DataServiceError
from dataservice.models import Post, WireItem
from udfs.arguments import Count, Names, Since, SinceDay, Text, since_moment
from udfs.arguments import shown as quoted
from udfs.engine import EVER, gather, have, need
from udfs.functions.codex import CITATIONS, POST_FIELDS, STORY_TYPES, find_post, posts_of
from udfs.functions.wire import is_locked
from udfs.records import in_order, is_unsafe_address, matches, moment, searched_words

SUMMARY = ("published_at", "story_type", "title", "subtitle", "slug", "handle")

WHOLE_POST = (*SUMMARY, "url", "body_md", CITATIONS)

SINCE = SinceDay(help="only posts from then on: 2026-01-31, or text such as -3M, -6H or YTD", example="-3M")

TEXT_OFFSET = Count(
    help="with slug: begin so many characters into the text (the longest one, where fields names several)",
    least=0,
    most=100_000_000,
)

SLUG = Text(help="only this post (slug or address), with its text and citations", example="what-moved-12")

TYPES = Names(help="only posts of these types", choices=STORY_TYPES, example="brief, report")

CITATION = object_of(
    {
        "citation_number": ANYTHING,
        "quoted_text": ANYTHING,
        "wire_item_id": {"description": "the id of an item of list_wire"},
        "headline": {"description": "its item's, and so the three below, where the wire tells them"},
        **dict.fromkeys(("primary_url", "published_at", "source"), ANYTHING),
    }
)

POST = record_of(
    Post,
    {
        **dict.fromkeys(("handle", "display_name", "agent_role", "topic_beat"), ANYTHING),
        CITATIONS: list_of(CITATION),
    },
)


@tool(title="List or read research posts", result=listing_schema("posts", POST))
async def list_posts(
    slug: Annotated[str | None, SLUG] = None,
    story_type: Annotated[Sequence[str] | None, TYPES] = None,
    handle: Annotated[str | None, Text(help="only posts by this author (handle)", example="meridian")] = None,
    since: Annotated[Since | None, SINCE] = None,
    until: Annotated[date | None, UNTIL] = None,
    beat: Annotated[str | None, Text(help="only posts of authors with this topic", example="macro")] = None,
    text: Annotated[str | None, Text(help="only posts with all these words in title, subtitle or text")] = None,
    text_offset: Annotated[int, TEXT_OFFSET] = 0,
    limit: Annotated[int, limit(LIST_LIMIT)] = 10,
    offset: Annotated[int, OFFSET] = 0,
    fields: Annotated[Sequence[str] | None, field_names(POST_FIELDS, example="body_md")] = None,
    *,
    now: float,
    client: AsyncClient,
) -> Found:
    """Published research posts, newest first: titles and summaries, or one post with its text and citations.

    Lists leave the text out; a slug gives it, a long one part by part, and of each citation the headline and address of
    its wire item (its `id` in list_wire), where the key's tier has the wire. The service gives the newest 200 posts, or
    of a type, author, day and beat: one request for each new set of these, none where all posts are at hand.
    """
    first = None if since is None else since_moment(since, now)
    refuse_reversed(first, until)
    asked = _Asked(story_type or (), plain(handle), beat or None, first)
    if slug:
        return await _read(slug, asked, fields or WHOLE_POST, text_offset, offset, client)
    page, met = await _met(asked)
    words = searched_words(text or "")
    found = [
        post for post in published_until(page.items, until) if matches(words, (post.title, post.subtitle, post.body_md))
    ]
    cut = "" if page.complete else "the service gives the newest 200 only: filter by story_type, handle or beat"
    told = "; ".join(filter(None, [*met.unmet, cut or page.lacks(WIDEST)]))
    made = listed("posts", found, POST_FIELDS, fields or SUMMARY, most=limit, offset=offset, more=told)
    return replace(made, suggestions=() if found else met.suggestions)


class _Asked(NamedTuple):
    """The service's own filters."""

    types: Sequence[str]
    handle: str | None
    beat: str | None
    since: date | None


_VALUES: Mapping[str, Values[Post]] = {
    "handle": lambda post: [post.byline.get("handle")],
    "beat": lambda post: [post.byline.get("topic_beat"), post.byline.get("beat")],
}


async def _met(asked: _Asked) -> tuple[Page[Post], Spelling[Post]]:
    """The posts that the filters let pass, in whichever spelling they are met; without a post, near values."""
    page = await _page(asked)
    if page.items or not (asked.handle or asked.beat):
        return page, Spelling({})
    every = await _page(asked._replace(handle=None, beat=None))
    if not every.items:  # whatever the author
        return page, Spelling({})
    met = respelled({"handle": asked.handle, "beat": asked.beat}, every.items, _VALUES)
    if met.unmet:
        return page, replace(met, unmet=among(met.unmet, every.items, "posts"))
    return await _page(asked._replace(handle=met.filters["handle"], beat=met.filters["beat"])), met


async def _page(asked: _Asked) -> Page[Post]:
    """The posts of any of the types; from the page of all posts where that is complete, or nobody knows yet."""
    wide = PostsResource()
    known = await have(wide, max_age_s=EVER)
    if known is None or known.value.complete:
        await need(wide)
    types: Sequence[str | None] = asked.types or (None,)
    pages = await gather([posts_of(each, asked.handle, asked.since, asked.beat) for each in dict.fromkeys(types)])
    found: list[Page[Post]] = []
    for page in pages:
        if isinstance(page, Exception):
            raise page
        found.append(page)
    once = {post.slug: post for page in found for post in page}
    items = (
        found[0].items if len(found) == 1 else tuple(in_order(once.values(), lambda post: moment(post.published_at)))
    )
    return Page(items, complete=all(page.complete for page in found), may_be_cut=any(page.may_be_cut for page in found))


async def _read(
    name: str, asked: _Asked, fields: Sequence[str], text_offset: int, offset: int, client: AsyncClient
) -> Found:
    """One post with as much of its text as one answer holds, from `text_offset` on, and where the rest begins."""
    page = await _page(asked)
    post = find_post(page, name) or await _at_hand(name)
    if post is None:
        older = "" if page.complete else "; an older one is found with its story_type, handle, beat or since"
        return nothing(
            "posts", f"no post {quoted(name)} among these {len(page)}{older}", near(name, [each.slug for each in page])
        )
    names = chosen_fields(POST_FIELDS, fields, [post])
    record, why = shown(post, POST_FIELDS, names), ""
    if CITATIONS in record:
        record[CITATIONS], why = await cited(post, client)
    part, following = part_of(record, CITATIONS, text_offset, offset)
    told = [why] if CITATIONS in part else []
    if following:
        told.append("this post goes on: ask with the arguments in next")
    return Found({"posts": [part], "total": 1}, "; ".join(filter(None, told)) or None, following or None, "posts")


async def _at_hand(name: str) -> Post | None:
    """The post among those of one type that were asked for before, however long ago."""
    for story_type in STORY_TYPES:
        answer = await have(PostsResource(story_type=story_type.value), max_age_s=EVER)
        post = find_post(answer.value, name) if answer else None
        if post is not None:
            return post
    return None


TOLD = ("headline", "primary_url", "published_at", "source")
"""What is told of a cited item: to cite it, and to read the original."""

EVIDENCE_AGE_S = 86_400.0
"""What was published stays published: a page of the last day will do."""


async def cited(post: Post, client: AsyncClient) -> tuple[list[dict[str, Any]], str]:
    """The citations with what the wire tells of their items, and why some have nothing.

    One request where no page of the wire is at hand, and one could hold the items.
    """
    items, why = await _items(post, client)
    rows = [_told(citation, items.get(str(citation.get("wire_item_id")))) for citation in post.citations]
    without = sum("headline" not in row for row in rows)
    return rows, f"{without} of {len(rows)} citations without headline: {why}" if without else ""


def _told(citation: dict[str, Any], item: WireItem | None) -> dict[str, Any]:
    known = {} if item is None else {name: getattr(item, name) for name in TOLD}
    shown = {name: value for name, value in known.items() if value and not is_unsafe_address(name, value)}
    return {**{name: value for name, value in citation.items() if value is not None}, **shown}


async def _items(post: Post, client: AsyncClient) -> tuple[dict[str, WireItem], str]:
    """The newest wire items by their ids, and why others are not among them."""
    if is_locked(client):
        return {}, "the wire needs the Pro tier"
    found = await have(WireResource(), max_age_s=EVIDENCE_AGE_S)
    if found is None:
        older = await have(WireResource(), max_age_s=EVER)
        if older is not None and _is_before(post, older.value):
            found = older
    try:
        page = found.value if found is not None else (await need(WireResource())).value
    except DataServiceError:
        return {}, "the wire does not tell them to this key, or did not answer"
    return {item.id: item for item in page}, "their items are older than the newest 200, or gone"


def _is_before(post: Post, page: Page[WireItem]) -> bool:
    """Whether a post is older than all items of a page that has others behind it: a newer page reaches no further."""
    times = [at for item in page if (at := moment(item.published_at)) is not None]
    at = moment(post.published_at)
    return not page.complete and bool(times) and at is not None and at < min(times)


PART = 2
"""One such part of an answer is for the text, one for the list; the rest of the record is small beside them."""


def part_of(
    record: Mapping[str, Any], listed: str, text_offset: int, offset: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The part of a record that begins so far into its longest text, and the arguments for the part behind it.

    The items of `listed` come with the end of the text, from `offset` on.
    """
    texts = [name for name, value in record.items() if isinstance(value, str)]
    name = max(texts, key=lambda each: len(record[each]), default=None)
    part, following = dict(record), dict[str, Any]()
    if name is not None:
        text, begin = record[name], text_offset
        end = begin + room(text[begin : begin + MAX_BYTES])
        part[name] = text[begin:end]
        if end < len(text):
            part.pop(listed, None)
            return part, {"text_offset": end}
    if isinstance(items := record.get(listed), list):
        shown = items[offset : offset + _fitting(items[offset:])]
        part[listed] = shown
        if offset + len(shown) < len(items):
            following = {"fields": [listed], "offset": offset + len(shown), "text_offset": 0}
    return part, following


def room(text: str) -> int:
    """Return how many characters of a text fit into one answer beside the other fields of a record."""
    size = len(text)
    while size > MIN_TEXT_CHARS and not _fits(text[:size]):
        size = size * 3 // 4
    return size


def _fits(text: str) -> bool:
    written = orjson.dumps(text.encode(errors="replace").decode())
    return len(written) <= MAX_BYTES // PART and tokens_at_most(written) <= MAX_TOKENS // PART


def _fitting(items: Sequence[Any]) -> int:
    """Return how many of the first items fit beside a text; at least one, so that nothing is asked for twice."""
    size = tokens = 0
    for count, item in enumerate(items):
        written = orjson.dumps(item)
        size, tokens = size + len(written), tokens + tokens_at_most(written)
        if count and (size > MAX_BYTES // (PART + 1) or tokens > MAX_TOKENS // (PART + 1)):
            return count
    return len(items)
