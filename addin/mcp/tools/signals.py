"""The tools about signals: the catalogue, searched on the spot; one signal or several with their latest values."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any

from addin.mcp.tool import RECORD, Found, Schema, tool
from addin.mcp.tools.many import (
    SLUGS,
    latest_of,
    one_or_many,
)
from addin.mcp.tools.records import OFFSET, field_names, limit, listed, listing_schema, shown
from addin.mcp.tools.rows import ROWS, meaningful, rows_of_observations, text_of
from dataservice.client import SignalDetail
from dataservice.client.contract.requests import HISTORY_LIMIT
from udfs.arguments.kinds import Count, Text
from udfs.functions.signals import CATEGORY, DEFAULT_COLUMNS, SIGNAL_COLUMNS
from udfs.records.lookup import by_slug, corrected, in_group, ranked
from udfs.records.resolve import need_catalogue, need_detail
from udfs.records.revisions import last_revision
from udfs.timeseries.loader import latest
from udfs.timeseries.vintages import vintages_of

SLUG = Text(help="slug or shortcode of a signal, in any case; list_signals finds it", example="us-cpi")

SEARCH = Text(
    help="what to look for, in your own words: a name, a subject, a source or a category", example="oil price"
)

MOST_GROUPS = 12
"""Categories that are named where a search finds nothing."""

OBSERVED: dict[str, Schema] = {
    "value": {"type": "number"},
    "observed_at": {"type": "string"},
    "previous": {"type": "number"},
    "change": {"type": "number"},
    "pct_change": {"type": "number", "description": "a fraction: 0.02 is 2 %"},
}

REVISED: dict[str, Schema] = {
    "revised": {"type": "string", "description": "the last change of an earlier value that was seen here"}
}


@tool(title="Search the catalogue of signals", result=listing_schema("signals"), may_spend_many=True)
async def list_signals(
    search: Annotated[str | None, SEARCH] = None,
    category: Annotated[str | None, CATEGORY] = None,
    limit: Annotated[int, limit(1_000)] = 20,
    offset: Annotated[int, OFFSET] = 0,
    fields: Annotated[Sequence[str], field_names(SIGNAL_COLUMNS)] = DEFAULT_COLUMNS,
) -> Found:
    """Find signals (data series) by words, best match first; without arguments, all of them by slug.

    The catalogue is searched on the spot: it costs one request for every 500 signals, once a day, and nothing after.
    Use it before the other tools when you do not know a signal's slug.
    """
    signals = by_slug(await need_catalogue())
    found = in_group(signals, category, lambda signal: signal.category, "category")
    if search:
        found = ranked(search, found)
        if not found:
            guess = corrected(search, signals)
            advice = f"did you mean '{guess}'?" if guess else "try fewer or other words, or none to list all"
            groups = ", ".join(sorted({signal.category for signal in signals if signal.category})[:MOST_GROUPS])
            nothing = f"no signal matches '{search[:60]}'; {advice}; the categories are {groups}"
            return Found({"signals": [], "total": 0}, nothing)
    return listed("signals", found, SIGNAL_COLUMNS, fields, most=limit, offset=offset)


@tool(
    title="Read one signal",
    result={"signal": RECORD, "signals": {"type": "array", "items": RECORD}, **OBSERVED, **REVISED, **ROWS},
    optional=frozenset({"signal", "signals"}) | OBSERVED.keys() | REVISED.keys() | ROWS.keys(),
    others=("signal", "signals"),
    may_spend_many=True,
)
async def get_signal(
    slug: Annotated[str | None, SLUG] = None,
    slugs: Annotated[Sequence[str] | None, SLUGS] = None,
    history: Annotated[int, Count(help="how many of the latest observations to add", least=0, most=HISTORY_LIMIT)] = 12,
) -> Found:
    """What a signal measures, its latest value, the change from the value before, and its latest observations.

    With slugs in place of slug, a table of several: each with its unit, date, latest value and change. Costs one
    request a signal, which also answers get_observations where 365 observations reach back far enough.
    For a window of dates, for other frequencies or for more, use get_observations.
    """
    if (names := one_or_many(slug, slugs)) is not None:
        return Found({"signals": await latest_of(names)})
    detail = (await need_detail(slug or "")).value
    members: dict[str, Any] = {"signal": shown(detail.signal, SIGNAL_COLUMNS, SIGNAL_COLUMNS.names([detail.signal]))}
    known = detail.history
    if len(known) or detail.latest is not None:
        members.update(_observed(detail))
    if (revision := last_revision((await vintages_of(detail.signal.slug))[1])) is not None:
        members["revised"] = f"{revision.text}, seen {revision.first_seen:%Y-%m-%d}, {revision.since}"
    if history:
        members.update(rows_of_observations(known[-history:]))
    more = f"{len(known)} recent observations: raise history; get_observations reaches further back"
    return Found(members, more if len(known) > history else None)


def _observed(detail: SignalDetail) -> dict[str, Any]:
    """The fields of the latest observation that have a value."""
    found = latest(detail)
    values = {name: found.field(name) for name in OBSERVED}
    values["observed_at"] = text_of(found.moment)
    if found.value is not None and found.before is not None:
        values["change"] = float(Decimal(repr(found.value)) - Decimal(repr(found.before)))
    if values["pct_change"] is not None:
        values["pct_change"] = meaningful(values["pct_change"])
    return {name: value for name, value in values.items() if value is not None}
