"""CODEX and CODEX_POST: research posts with bylines and citations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Annotated, Any

from dataservice.client import AsyncClient, Page, PostsResource, Resource, WireResource
from dataservice.client.contract import LIST_LIMIT, published_since
from dataservice.models import Post, WireItem
from udfs.arguments.dates import Since, SinceDay, as_day, since_moment
from udfs.arguments.kinds import Choice, Count, Text, shown
from udfs.cells import Table, table
from udfs.engine.decorator import udf
from udfs.engine.effects import EVER, have, need, need_all
from udfs.engine.run import SETTLED
from udfs.errors import CellError, NoDataError, error_cell
from udfs.functions.wire import is_locked
from udfs.records.fields import Fields
from udfs.records.lookup import nearest, unknown

CITATIONS = "citations"

STORY_TYPES = (
    Choice("alert", "a short note on something that just happened"),
    Choice("brief", "a short summary"),
    Choice("report", "a longer report"),
    Choice("explainer", "how something works"),
)


def _byline(key: str, post: Post) -> Any:
    return post.byline.get(key)


POST_FIELDS = Fields(
    Post,
    (
        Choice("published_at", "when the post was published"),
        Choice("story_type", "alert, brief, report or explainer"),
        Choice("title", "the title"),
        Choice("subtitle", "the subtitle"),
        Choice("handle", "the author's handle"),
        Choice("display_name", "the author's name"),
        Choice("agent_role", "the author's role"),
        Choice("topic_beat", "the author's topic"),
        Choice("slug", "the post's name in formulas"),
        Choice("url", "where to read the post"),
        Choice("view_count", "how often it was read"),
        Choice("body_md", "the whole text (Markdown)"),
        Choice(CITATIONS, "what the post cites"),
    ),
    {key: partial(_byline, key) for key in ("handle", "display_name", "agent_role", "topic_beat")},
)

DEFAULT_FIELDS = "published_at, story_type, title, handle, slug, url"

CITATION_COLUMNS = ("citation_number", "quoted_text", "wire_item_id", "headline", "primary_url")


STORY_TYPE = Text(help="only posts of this type", example="report", choices=STORY_TYPES)

LIMIT = Count(help=f"the maximum number of posts, up to {LIST_LIMIT}", example="20", most=LIST_LIMIT)

SLUG = Text(
    help="slug or address of a post, or a range of them; CODEX lists them", example="what-moved-12", vectorized=True
)

FIELD = POST_FIELDS.one(
    "the field to show, also byline.<key> or any other field by name; a range of fields spills", "title"
)


@udf(
    group="Codex",
    shape="table",
    examples=("=DS.CODEX()", '=DS.CODEX("report",,"-3M")', '=DS.CODEX(,"meridian",,5,,"published_at, title")'),
)
async def CODEX(  # noqa: N802 - the id that workbooks store
    story_type: Annotated[str | None, STORY_TYPE] = None,
    handle: Annotated[str | None, Text(help="only posts by this author (handle)", example="meridian")] = None,
    since: Annotated[
        Since | None,
        SinceDay(help="only posts since then: a date, or text such as -3M, -6H or YTD", first_of_period=True),
    ] = None,
    limit: Annotated[int, LIMIT] = 20,
    beat: Annotated[str | None, Text(help="only posts by authors on this topic", example="macro")] = None,
    fields: Annotated[Sequence[str], POST_FIELDS.columns("published_at, title")] = DEFAULT_FIELDS,
    *,
    now: float,
) -> Table:
    """The newest research posts, newest first.

    The service returns the newest 200 posts for a type, author, day and beat; `limit` and `fields` select from these.
    Each new set of filters costs one request, or none if a cached, complete answer already contains its posts. If
    nothing matches, only the header is shown. CODEX_POST shows the text of one post.
    """
    first = None if since is None else since_moment(since, now)
    posts = await posts_of(story_type, handle, first, beat, records=limit)
    return POST_FIELDS.table(POST_FIELDS.select(fields, posts.items), posts.items[:limit])


@udf(
    group="Codex",
    shape="either",
    examples=('=DS.CODEX_POST("what-moved-12")', '=DS.CODEX_POST("what-moved-12", "citations")'),
)
async def CODEX_POST(  # noqa: N802 - the id that workbooks store
    slug: Annotated[str, SLUG], field: Annotated[str, FIELD] = "body_md", *, client: AsyncClient
) -> Any:
    """The text of one research post (Markdown), or one of its other fields.

    `citations` spills a table: number, quoted text, wire item, and its headline and link. The last two come from the
    wire: they are blank for a key below the Pro tier, and for items older than the newest 200. While the wire does not
    answer, the headlines say so.

    The service has no request for a single post, so the post is looked up among the newest 200: one request for all
    CODEX_POST cells together. To find an older post, use a CODEX cell with its story type.
    """
    if field.casefold() == CITATIONS:
        return await _citations(slug, client)
    post, posts = await _post(slug)
    return POST_FIELDS.value(post, POST_FIELDS.find(field, posts))


async def posts_of(
    story_type: str | None, handle: str | None, since: date | None, beat: str | None, *, records: int = 0
) -> Page[Post]:
    """The newest posts that pass the service's own filters, and a time of day; a handle may have its @."""
    author = handle.removeprefix("@") if handle else None
    day = None if since is None else as_day(since)
    asked = PostsResource(story_type=story_type, handle=author, since=day, beat=beat)
    page = (await need(asked, records=records)).value
    return page if since == day else page.selected(lambda post: published_since(post, since))


async def _post(name: str) -> tuple[Post, Sequence[Post]]:
    """The post and those it was found among; raises `NoDataError` that says where else to look."""
    newest = (await need(PostsResource())).value
    pages = [newest]
    if find_post(newest, name) is None and not newest.complete:
        pages += [await _page_at_hand(story_type.value) for story_type in STORY_TYPES]
    for page in pages:
        post = find_post(page, name)
        if post is not None:
            return post, page.items
    known = [post.slug for page in pages for post in page]
    if newest.complete:
        raise NoDataError(unknown("post", name, known)).about("slug")
    guess = nearest(name, known)
    meant = f" (did you mean {guess}?)" if guess else ""
    raise NoDataError(
        f"no post {shown(name)} among the newest {len(newest)}{meant}; "
        "an older one is found once a CODEX cell asks for its story type"
    )


async def _page_at_hand(story_type: str) -> Page[Post]:
    """The posts of a type if a CODEX cell asked for them, however long ago."""
    answer = await have(PostsResource(story_type=story_type), max_age_s=EVER)
    return answer.value if answer else Page((), complete=False)


def find_post(posts: Page[Post], name: str) -> Post | None:
    """The post with this slug or address, in any case."""
    folded = name.casefold()
    return next((post for post in posts if folded in (post.slug.casefold(), post.url.casefold())), None)


async def _citations(name: str, client: AsyncClient) -> Table:
    """The citations of a post; the wire is requested together with the posts unless it is known to be locked."""
    lists: list[Resource[Page[Any]]] = [PostsResource(), *([] if is_locked(client) else [WireResource()])]
    wire = (await need_all(lists))[1:]
    post, _ = await _post(name)
    items = {item.id: item for answer in wire if not isinstance(answer, Exception) for item in answer.value}
    failures = [error for error in wire if isinstance(error, Exception) and not isinstance(error, SETTLED)]
    return citation_table(post, items, error_cell(failures[0], "the wire") if failures else None)


def citation_table(post: Post, items: dict[str, WireItem], failure: CellError | None = None) -> Table:
    """One row a citation, in the order of their numbers; `failure` stands where the wire could not be asked."""
    rows = []
    for citation in sorted(post.citations, key=lambda each: _number(each.get("citation_number"))):
        item = items.get(str(citation.get("wire_item_id")))
        given = [citation.get(name) for name in CITATION_COLUMNS[:3]]
        rows.append([*given, item.headline if item else failure, item.primary_url if item else None])
    return table(CITATION_COLUMNS, rows)


def _number(raw: Any) -> float:
    return raw if isinstance(raw, int | float) else float("inf")
