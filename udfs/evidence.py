"""The evidence behind a number: the wire items that name it, and the posts that cite those or name it themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from dataservice.client import Answer, AsyncClient, Page, PostsResource, Resource, WireResource
from dataservice.models import Post, Record, WireItem
from udfs.errors import error_cell
from udfs.fields import moment
from udfs.names import need_of
from udfs.needs import Asking, gather, have, need

__all__ = ["EvidenceRow", "Pages", "Subject", "evidence_rows", "items_naming", "posts_citing", "with_pages"]

R = TypeVar("R", bound=Record)
T = TypeVar("T")

EVIDENCE_AGE_S = 86_400.0
"""Evidence up to a day old will do: EXPLAIN is to be cheap, and what was published stays published."""

SHOWN = 10
"""Items and posts that are listed, the newest ones; all are counted."""

LOCKED = "the wire needs the Pro tier (this key: free)"

EvidenceRow: TypeAlias = tuple[str, Any, str | None]
"""What it is, what it says, and where to read it."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is explained: its slug, and its name as people write it."""

    slug: str
    name: str


@dataclass(frozen=True, slots=True)
class Pages:
    """The widest pages of the wire and of posts; a text in place of one says why it cannot be had."""

    wire: Page[WireItem] | str
    posts: Page[Post] | str


async def with_pages(name: str, resource: Resource[T], client: AsyncClient) -> tuple[Answer[T], Pages]:
    """The answer to `resource`, which concerns `name`, and the pages, all asked side by side.

    Raises what kept the answer away; what keeps a page away is said in its place.
    """
    quota = client.quota_now
    locked = quota is not None and quota.tier.casefold() == "free"
    wanted: list[Resource[Page[Any]]] = [PostsResource(), *([] if locked else [WireResource()])]
    found: dict[Resource[Any], Any] = {each: await have(each, max_age_s=EVIDENCE_AGE_S) for each in wanted}
    missing = [each for each in wanted if found[each] is None]
    asked: list[Asking[Answer[Any]]] = [need_of(name, resource), *map(need, missing)]
    answer, *replies = await gather(asked)
    if isinstance(answer, Exception):
        raise answer
    found.update(zip(missing, replies, strict=True))
    wire = LOCKED if locked else _page_or_reason(found[WireResource()], "the wire")
    return answer, Pages(wire, _page_or_reason(found[PostsResource()], "the codex"))


def evidence_rows(subject: Subject, pages: Pages) -> list[EvidenceRow]:
    """The rows on wire and posts: how many speak of the subject, and the newest of them."""
    wire, posts = pages.wire, pages.posts
    items = [] if isinstance(wire, str) else items_naming(subject, wire)
    citing = [] if isinstance(posts, str) else posts_citing(subject, items, posts)
    return [
        ("wire items", wire if isinstance(wire, str) else _counted(items, wire), None),
        *((_dated("wire item", item.published_at), item.headline, item.primary_url) for item in items[:SHOWN]),
        ("posts", posts if isinstance(posts, str) else _counted(citing, posts), None),
        *((_dated("post", post.published_at), post.title, post.url) for post in citing[:SHOWN]),
    ]


def items_naming(subject: Subject, items: Iterable[WireItem]) -> list[WireItem]:
    """The items that the service links with the subject, as a signal or as a current."""
    return [item for item in items if subject.slug in item.signal_slugs or subject.slug in item.current_slugs]


def posts_citing(subject: Subject, items: Iterable[WireItem], posts: Iterable[Post]) -> list[Post]:
    """The posts that cite one of `items`, or name the subject itself: the wire may be locked, or not reach so far."""
    ids = {item.id for item in items}
    names = [re.escape(name) for name in (subject.slug, subject.name) if name]
    named = re.compile(rf"(?<!\w)({'|'.join(names)})(?!\w)", re.IGNORECASE)
    return [
        post
        for post in posts
        if any(citation.get("wire_item_id") in ids for citation in post.citations)
        or named.search(f"{post.title}\n{post.subtitle or ''}\n{post.body_md}")
    ]


def _page_or_reason(reply: Answer[Page[R]] | Exception, what: str) -> Page[R] | str:
    return error_cell(reply, what).message if isinstance(reply, Exception) else reply.value


def _counted(found: Sequence[Any], page: Page[Any]) -> str:
    return f"{len(found)} among {'all' if page.complete else 'the newest'} {len(page)}"


def _dated(what: str, published_at: str) -> str:
    published = moment(published_at)
    return f"{what} {published:%Y-%m-%d}" if published else what
