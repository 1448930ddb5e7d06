"""The tool for research posts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Annotated

from addin.mcp.tool import Found, tool
from addin.mcp.tools.records import field_names, limit, listed, listing_schema
from dataservice.client import Page, PostsResource
from dataservice.models import Post
from udfs.arguments.dates import Day
from udfs.arguments.kinds import Text, shown
from udfs.engine.effects import need
from udfs.errors import NoDataError
from udfs.functions.codex import POST_FIELDS, STORY_TYPES
from udfs.functions.wire import PAGE
from udfs.records.lookup import nearest

SUMMARY = "published_at, story_type, title, subtitle, slug, handle"

WHOLE = "published_at, story_type, title, subtitle, slug, handle, url, body_md, citations"

SINCE = Day(help="only posts from this day on: 2026-01-31, or text such as -3M or YTD", example="-3M")

FIELDS = replace(field_names(POST_FIELDS), example="body_md")


@tool(title="List or read research posts", result=listing_schema("posts", Post, "posts"))
async def list_posts(
    slug: Annotated[
        str | None, Text(help="only this post, with its text and citations", example="what-moved-001")
    ] = None,
    story_type: Annotated[str | None, Text(help="only posts of this type", choices=STORY_TYPES)] = None,
    handle: Annotated[str | None, Text(help="only posts by this author (handle)", example="meridian")] = None,
    since: Annotated[date | None, SINCE] = None,
    beat: Annotated[str | None, Text(help="only posts of authors with this topic", example="macro")] = None,
    limit: Annotated[int, limit(PAGE)] = 10,
    fields: Annotated[Sequence[str] | None, FIELDS] = None,
    *,
    today: date,  # noqa: ARG001 - one signature for every tool
) -> Found:
    """Published research posts, newest first: titles and summaries, or one post with its text and citations.

    Lists leave the text out; give a slug, or ask for the field `body_md`. A citation's `wire_item_id` is the `id` of an
    item of list_wire. The service gives the newest 200 posts for a type, author, day and beat: one request for each
    new set of these, none for the rest.
    """
    author = handle.removeprefix("@") if handle else None
    page = (await need(PostsResource(story_type=story_type, handle=author, since=since, beat=beat))).value
    found = [_find(page, slug)] if slug else page.items
    names = fields or [name.strip() for name in (WHOLE if slug else SUMMARY).split(",")]
    cut = "the service gives the newest 200 only: filter by story_type, handle, beat or since"
    return listed("posts", found, POST_FIELDS, names, most=limit, more="" if page.complete or slug else cut)


def _find(page: Page[Post], name: str) -> Post:
    folded = name.casefold()
    for post in page:
        if folded in (post.slug.casefold(), post.url.casefold()):
            return post
    guess = nearest(name, [post.slug for post in page])
    meant = f"; did you mean {guess}?" if guess else ""
    older = "" if page.complete else "; an older one is found with its story_type, handle, beat or since"
    raise NoDataError(f"no post {shown(name)} among these {len(page)}{meant}{older}")
