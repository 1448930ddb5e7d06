"""The tools about signals: the catalogue, searched on the spot, and one signal with its latest values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any

from addin.mcp.tool import NUMBER_OR_NULL, Found, Schema, record_schema, tool
from addin.mcp.tools.records import field_names, limit, listed, listing_schema, shown
from dataservice.client import Catalogue, CatalogueResource, SignalDetail
from dataservice.models import Signal
from dataservice.observations import Observations
from udfs.arguments.kinds import Count, Text
from udfs.engine.effects import have, need
from udfs.errors import NoDataError
from udfs.functions.signals import SIGNAL_COLUMNS
from udfs.records.lookup import CATALOGUE_AGE_S, in_group
from udfs.records.resolve import need_detail
from udfs.records.search import corrected, ranked
from udfs.timeseries.asof import latest

DEFAULT_FIELDS = "slug, shortcode, name, category, unit, source"

SLUG = Text(help="slug or shortcode of a signal, in any case; list_signals finds it", example="us-cpi")

SEARCH = Text(help="words that must all be in slug, shortcode, name or description", example="oil price")

ROWS: dict[str, Schema] = {
    "columns": {"type": "array", "items": {"type": "string"}, "description": "what each place of a row holds"},
    "rows": {
        "type": "array",
        "description": "one observation each, oldest first: a day or a moment (UTC, ISO 8601), and the value",
        "items": {"type": "array", "prefixItems": [{"type": "string"}, NUMBER_OR_NULL]},
    },
}
"""The schema of observations as rows: a third of the text that an object for each would take."""

OBSERVED: dict[str, Schema] = {
    "value": {"type": "number", "description": "the latest value"},
    "observed_at": {"type": "string", "description": "its day, or moment in UTC"},
    "previous": {"type": "number", "description": "the value before it"},
    "change": {"type": "number", "description": "value less previous"},
    "pct_change": {"type": "number", "description": "change as a fraction of previous: 0.02 is 2 %"},
}


@tool(title="Search the catalogue of signals", result=listing_schema("signals", Signal, "signals"))
async def list_signals(
    search: Annotated[str | None, SEARCH] = None,
    category: Annotated[str | None, Text(help="only signals of this category", example="commodities")] = None,
    limit: Annotated[int, limit(1_000)] = 20,
    fields: Annotated[Sequence[str], field_names(SIGNAL_COLUMNS)] = DEFAULT_FIELDS,
    *,
    today: date,  # noqa: ARG001 - one signature for every tool
) -> Found:
    """Find signals (data series) by words, best match first; without arguments, all of them by slug.

    The catalogue is searched on the spot: it costs one request for every 500 signals, once a day, and nothing after.
    Use it before the other tools when you do not know a signal's slug.
    """
    signals = sorted((await catalogue()).signals, key=lambda signal: signal.slug)
    found = in_group(signals, category, lambda signal: signal.category, "category") if category else signals
    if search:
        found = ranked(search, found)
        if not found:
            guess = corrected(search, signals)
            advice = f"did you mean '{guess}'?" if guess else "try fewer or other words, or none to list all"
            raise NoDataError(f"no signal matches '{search[:60]}'; {advice}")
    return listed("signals", found, SIGNAL_COLUMNS, fields, most=limit)


@tool(
    title="Read one signal",
    result={"signal": record_schema(Signal), **OBSERVED, **ROWS},
    optional=frozenset(OBSERVED) | ROWS.keys(),
)
async def get_signal(
    slug: Annotated[str, SLUG],
    history: Annotated[int, Count(help="how many of the latest observations to add", least=0, most=365)] = 12,
    *,
    today: date,  # noqa: ARG001 - one signature for every tool
) -> Found:
    """What a signal measures, its latest value, the change from the value before, and its latest observations.

    Costs one request, which also answers get_observations for the same signal where 365 observations reach back far
    enough. For a window of dates, for other frequencies or for more, use get_observations.
    """
    detail = (await need_detail(slug)).value
    members: dict[str, Any] = {"signal": shown(detail.signal, SIGNAL_COLUMNS, SIGNAL_COLUMNS.names([detail.signal]))}
    known = detail.history
    if len(known) or detail.latest is not None:
        members.update(_observed(detail))
    if history:
        members.update(rows_of_observations(known[-history:]))
    more = f"{len(known)} recent observations: raise history; get_observations reaches further back"
    return Found(members, more if len(known) > history else None)


async def catalogue() -> Catalogue:
    """The catalogue at hand if it is of today, else a new one."""
    at_hand = await have(CatalogueResource(), max_age_s=CATALOGUE_AGE_S)
    return (at_hand or await need(CatalogueResource())).value


def rows_of_observations(observations: Observations, heading: str = "value") -> dict[str, Any]:
    """Observations as the members `columns` and `rows`; a day alone where the time is midnight."""
    rows = [[_text_of(moment), value if math.isfinite(value) else None] for moment, value in observations]
    return {"columns": ["date", heading], "rows": rows}


def _observed(detail: SignalDetail) -> dict[str, Any]:
    """The fields of the latest observation that have a value."""
    found = latest(detail)
    values = {name: found.field(name) for name in OBSERVED}
    values["observed_at"] = _text_of(found.moment)
    return {name: value for name, value in values.items() if value is not None}


def _text_of(moment: date) -> str:
    if not isinstance(moment, datetime):
        return moment.isoformat()
    if moment.time() == datetime.min.time():
        return moment.date().isoformat()
    return moment.isoformat().replace("+00:00", "Z")
