"""EXPLAIN: where a number comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from dataservice.client import (
    Answer,
    AsyncClient,
    CatalogueResource,
    CurrentsResource,
    IndicesResource,
    Resource,
)
from dataservice.models import READING_FIELDS, Record
from udfs.arguments import Text
from udfs.errors import reason
from udfs.evidence import EvidenceRow, Subject, evidence
from udfs.fields import moment, shown_value
from udfs.lookup import CATALOGUE_AGE_S
from udfs.names import need_detail
from udfs.needs import have, need
from udfs.registry import udf
from udfs.tables import Table, table

__all__ = ["EXPLAIN"]

R = TypeVar("R", bound=Record)

COLUMNS = ("what", "value", "link")

WORDS = {"description": "definition", "summary": "definition", "phrase": "definition", "signal_type": "type"}
"""What a row is called where the field's own name says less."""

EVER = float("inf")

KEEP_S = 60.0
"""The table tells an age, which hosts should not keep as long as the number itself."""

SLUG = Text(
    help="slug or shortcode of a signal, or the slug of an index or current that the workbook shows",
    example="us-cpi",
)


@dataclass(frozen=True, slots=True)
class Origin:
    """What is explained: its kind and record, its reading, the request that gives it, and the answer it was in."""

    kind: str
    record: Record
    reading: Mapping[str, Any]
    request: str
    answer: Answer[Any]


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
    origin = await _origin(slug)
    subject = Subject(origin.record.field("slug"), origin.record.field("name"))
    rows = [*_definition(origin), *_provenance(origin, now), *await evidence(subject, client)]
    return table(COLUMNS, rows)


async def _origin(name: str) -> Origin:
    """The signal meant by `name`; an index or current where one at hand has it and the catalogue at hand does not."""
    catalogue = await have(CatalogueResource(), max_age_s=CATALOGUE_AGE_S)
    if catalogue is None or catalogue.value.find(name) is None:
        found = await _index(name) or await _current(name)
        if found is not None:
            return found
    return await _signal(name)


async def _signal(name: str) -> Origin:
    answer = await need_detail(name)
    latest = answer.value.latest
    reading = {"value": latest.value, "observed at": moment(latest.observed_at)} if latest else {}
    return Origin("signal", answer.value.signal, reading, f"GET /v1/signals/{answer.value.signal.slug}", answer)


async def _index(name: str) -> Origin | None:
    index = await _at_hand(IndicesResource(), name)
    if index is None:
        return None
    value, observed_at = index.reading()
    reading = {"value": value, "observed at": observed_at and moment(observed_at)}
    return Origin("index", index, reading, "GET /v1/indices", await need(IndicesResource()))


async def _current(name: str) -> Origin | None:
    current = await _at_hand(CurrentsResource(), name)
    if current is None:
        return None
    return Origin("current", current, {}, "GET /v1/currents", await need(CurrentsResource()))


async def _at_hand(resource: Resource[tuple[R, ...]], name: str) -> R | None:
    """The record with this slug, if the workbook has asked for its like, however long ago."""
    answer = await have(resource, max_age_s=EVER)
    records = answer.value if answer else ()
    return next((record for record in records if record.field("slug").casefold() == name.casefold()), None)


def _definition(origin: Origin) -> list[EvidenceRow]:
    """What it is: the record's fields by their words, a blank one where the service is silent; then the reading."""
    record = origin.record
    fields = {name: record.field(name) for name in (*record.field_names(), *record.extra)}
    rows: list[EvidenceRow] = [(origin.kind, fields.pop("slug"), None)]
    kept = {name: raw for name, raw in fields.items() if name not in READING_FIELDS}
    rows += [(WORDS.get(name, name), shown_value(name, raw), None) for name, raw in kept.items()]
    return [*rows, *((what, value, None) for what, value in origin.reading.items())]


def _provenance(origin: Origin, now: float) -> list[EvidenceRow]:
    """How the number came here, how old it is, and what it cost."""
    answer = origin.answer
    because = answer.stale_because
    state = "fresh" if answer.is_fresh(now) else "stale"
    return [
        ("endpoint", origin.request, None),
        ("fetched at", datetime.fromtimestamp(answer.fetched_at, UTC), None),
        ("age (seconds)", round(answer.age_s(now)), None),
        ("state", f"{state}: {reason(because, 'EXPLAIN')}" if because else state, None),
        ("answered from", str(answer.source), None),
        ("requests it cost", answer.requests, None),
    ]
