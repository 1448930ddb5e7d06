"""EXPLAIN: where a number comes from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias, TypeVar, cast

from dataservice.client import (
    Answer,
    AsyncClient,
    CurrentsResource,
    IndicesResource,
    Page,
    PostsResource,
    Resource,
    SignalDetail,
    SignalResource,
    VintagesResource,
    WireResource,
)
from dataservice.client.archive.coverage import NEVER_YET, look_day
from dataservice.models import READING_FIELDS, Current, Index, Post, Record, Signal, WireItem
from udfs.arguments.kinds import Text
from udfs.cells import Table, table
from udfs.engine.decorator import udf
from udfs.engine.effects import EVER, FRESH, Asking, gather, have, need
from udfs.errors import error_cell, reason
from udfs.functions.wire import is_locked
from udfs.records.fields import moment, shown_value
from udfs.records.lookup import find_record
from udfs.records.resolve import need_of, recent_catalogue, slug_of
from udfs.records.revisions import last_revision, revision_count
from udfs.timeseries.loader import rhythm_at_hand

R = TypeVar("R", bound=Record)
T = TypeVar("T")

EVIDENCE_AGE_S = 86_400.0
"""Evidence up to a day old will do: EXPLAIN should be cheap, and what was published stays published."""

SHOWN = 10
"""Items and posts that are listed, the newest ones; all are counted."""

LOCKED = "the wire needs the Pro tier (this key: free)"

EvidenceRow: TypeAlias = tuple[str, Any, str | None]
"""What it is, what it says, and where to read it."""


COLUMNS = ("what", "value", "link")

WORDS = {
    "description": "definition",
    "summary": "definition",
    "phrase": "definition",
    "signal_type": "type",
    "observed_at": "observed at",
}
"""What a row is called where the field's own name says less."""

KEEP_S = 60.0
"""The table tells an age, which hosts should not keep as long as the number itself."""

SLUG = Text(
    help="slug or shortcode of a signal, or the slug of an index or current that the workbook shows", example="us-cpi"
)


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


@dataclass(frozen=True, slots=True)
class Origin:
    """What is explained: its kind and record, its reading, and the request that gives it."""

    kind: str
    record: Signal | Index | Current
    reading: Mapping[str, Any]
    request: str


@udf(group="Account", shape="table", keep_s=KEEP_S, runs_last=True, examples=('=DS.EXPLAIN("us-cpi")',))
async def EXPLAIN(  # noqa: N802 - the id that workbooks store
    slug: Annotated[str, SLUG], *, now: float, client: AsyncClient
) -> Table:
    """Where a number comes from: a table of what, value and link.

    Definition, unit and source; the value with its time, and the rhythm in which observations come; the request that
    gives it, when it was fetched, its age in seconds, its state and what it cost; how many revisions of a signal were
    seen here, the last of them, the look that showed it first and the last look that did not; then the wire items that
    name it and the posts that cite those or name it, the ten newest of each with links.

    Costs no request of its own for the number, which it shares with SIGNAL. The newest 200 wire items and posts are
    taken from what is at hand if that is less than a day old, else they cost one request each, for all EXPLAIN cells
    together. If the wire is locked, its row says so; the rest still works.
    """
    resource = await _resource_of(slug)
    answer, pages = await with_pages(slug, resource, client)
    origin = _origin(slug, answer)
    if isinstance(answer.value, SignalDetail) and (rhythm := await rhythm_at_hand(answer.value)) is not None:
        origin = replace(origin, reading={**origin.reading, "rhythm": str(rhythm)})
    subject = Subject(origin.record.slug, origin.record.name)
    revised = await _revision_rows(subject.slug) if origin.kind == "signal" else []
    provenance = _provenance(origin, answer, now)
    return table(COLUMNS, [*_definition(origin), *provenance, *revised, *evidence_rows(subject, pages)])


async def _resource_of(name: str) -> Resource[Any]:
    """What answers `name`: a signal, unless the catalogue at hand lacks it and an index or current at hand has it."""
    catalogue = await recent_catalogue()
    if catalogue is None or catalogue.find(name) is None:
        lists: tuple[Resource[Any], ...] = (IndicesResource(), CurrentsResource())
        for resource in lists:
            answer = await have(resource, max_age_s=EVER)
            if answer and any(record.slug.casefold() == name.casefold() for record in answer.value):
                return resource
    return SignalResource(await slug_of(name))


def _origin(name: str, answer: Answer[Any]) -> Origin:
    match answer.value:
        case SignalDetail(signal, latest):
            reading = {"value": latest.value, "observed_at": latest.observed_at} if latest else {}
            return Origin("signal", signal, reading, f"GET /v1/signals/{signal.slug}")
        case [Index(), *_] as indices:
            index = find_record(indices, name, "index")
            reading = dict(zip(("value", "observed_at"), index.reading(), strict=True))
            return Origin("index", index, reading, "GET /v1/indices")
        case currents:
            return Origin("current", find_record(currents, name, "current"), {}, "GET /v1/currents")


def _definition(origin: Origin) -> list[EvidenceRow]:
    """What it is: the record's fields by their words, a blank one where the service is silent; then the reading."""
    record = origin.record
    fields = {**{name: record.field(name) for name in record.field_names()}, **record.extra}
    rows: list[EvidenceRow] = [(origin.kind, fields.pop("slug"), None)]
    kept = {name: raw for name, raw in fields.items() if name not in READING_FIELDS} | dict(origin.reading)
    return [*rows, *((WORDS.get(name, name), shown_value(name, raw), None) for name, raw in kept.items())]


def _provenance(origin: Origin, answer: Answer[Any], now: float) -> list[EvidenceRow]:
    """Return how the number came here, how old it is, and what it cost."""
    because = answer.stale_because
    state = "fresh" if answer.is_fresh(now) else "stale"
    return [
        ("endpoint", origin.request, None),
        ("fetched at", datetime.fromtimestamp(int(answer.fetched_at), UTC), None),
        ("age (seconds)", round(answer.age_s(now)), None),
        ("state", f"{state}: {reason(because, 'EXPLAIN')}" if because else state, None),
        ("answered from", str(answer.source), None),
        ("requests it cost", answer.requests, None),
    ]


async def _revision_rows(slug: str) -> list[EvidenceRow]:
    """The revisions of a signal that were seen here, and the last of them; no rows where nobody looked yet."""
    found = await have(VintagesResource(slug), max_age_s=FRESH)
    if found is None or found.value.looked.first_look == NEVER_YET:
        return []
    since = f"since the first look on {look_day(found.value.looked.first_look)}"
    revision = last_revision(found.value)
    if revision is None:
        return [("revisions seen", f"none {since}", None)]
    return [
        ("revisions seen", f"{revision_count(found.value)} {since}", None),
        ("last revision", revision.text, None),
        ("first seen", revision.first_seen, None),
        ("not before", revision.not_before, None),
    ]


async def with_pages(name: str, resource: Resource[T], client: AsyncClient) -> tuple[Answer[T], Pages]:
    """The answer to `resource`, which concerns `name`, and the pages.

    All are asked side by side, but that a name which nothing at hand knows may not exist: then it costs no page.
    Raises what kept the answer away; what keeps a page away is said in its place.
    """
    is_known = await have(resource, max_age_s=EVER) is not None or await recent_catalogue() is not None
    first = None if is_known else await need_of(name, resource)
    locked = is_locked(client)
    wanted: list[Resource[Page[Any]]] = [PostsResource(), *([] if locked else [WireResource()])]
    found: dict[Resource[Any], Any] = {each: await have(each, max_age_s=EVIDENCE_AGE_S) for each in wanted}
    missing = [each for each in wanted if found[each] is None]
    asked: list[Asking[Answer[Any]]] = [need_of(name, resource)] if first is None else []
    replies = await gather([*asked, *map(need, missing)])
    answer = cast("Answer[T] | Exception", replies.pop(0)) if first is None else first
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
        if any(str(citation.get("wire_item_id")) in ids for citation in post.citations)
        or named.search(f"{post.title}\n{post.subtitle or ''}\n{post.body_md}")
    ]


def _page_or_reason(reply: Answer[Page[R]] | Exception, what: str) -> Page[R] | str:
    return error_cell(reply, what).message if isinstance(reply, Exception) else reply.value


def _counted(found: Sequence[Any], page: Page[Any]) -> str:
    return f"{len(found)} among {'all' if page.complete else 'the newest'} {len(page)}"


def _dated(what: str, published_at: str) -> str:
    published = moment(published_at)
    return f"{what} {published:%Y-%m-%d}" if published else what
