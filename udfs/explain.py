"""EXPLAIN: where a number comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from dataservice.client import (
    Answer,
    AsyncClient,
    CatalogueResource,
    CurrentsResource,
    IndicesResource,
    Resource,
    SignalDetail,
    SignalResource,
)
from dataservice.models import READING_FIELDS, Index, Record
from udfs.arguments import Text
from udfs.errors import reason
from udfs.evidence import EvidenceRow, Subject, evidence_rows, with_pages
from udfs.fields import shown_value
from udfs.lookup import CATALOGUE_AGE_S, find_record
from udfs.names import slug_of
from udfs.needs import EVER, have
from udfs.registry import udf
from udfs.tables import Table, table

__all__ = ["EXPLAIN"]

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
    help="slug or shortcode of a signal, or the slug of an index or current that the workbook shows",
    example="us-cpi",
)


@dataclass(frozen=True, slots=True)
class Origin:
    """What is explained: its kind and record, its reading, and the request that gives it."""

    kind: str
    record: Record
    reading: Mapping[str, Any]
    request: str


@udf(group="Account", shape="table", keep_s=KEEP_S, examples=('=DS.EXPLAIN("us-cpi")',))
async def EXPLAIN(  # noqa: N802 - the id that workbooks store
    slug: Annotated[str, SLUG],
    *,
    now: float,
    client: AsyncClient,
) -> Table:
    """Where a number comes from: a table of what, value and link.

    Definition, unit and source; the value with its time; the request that gives it, when it was fetched, its age in
    seconds, its state and what it cost; then the wire items that name it and the posts that cite those or name it, the
    ten newest of each with links.

    Costs no request of its own for the number, which it shares with SIGNAL. The newest 200 wire items and posts are
    taken from what is at hand if that is less than a day old, else they cost one request each, for all EXPLAIN cells
    together. A locked wire is said in its row and fails nothing.
    """
    resource = await _resource_of(slug)
    answer, pages = await with_pages(slug, resource, client)
    origin = _origin(slug, answer)
    subject = Subject(origin.record.field("slug"), origin.record.field("name"))
    return table(COLUMNS, [*_definition(origin), *_provenance(origin, answer, now), *evidence_rows(subject, pages)])


async def _resource_of(name: str) -> Resource[Any]:
    """What answers `name`: a signal, unless the catalogue at hand lacks it and an index or current at hand has it."""
    catalogue = await have(CatalogueResource(), max_age_s=CATALOGUE_AGE_S)
    if catalogue is None or catalogue.value.find(name) is None:
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
    """How the number came here, how old it is, and what it cost."""
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
