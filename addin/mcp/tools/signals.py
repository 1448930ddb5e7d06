"""The tools about signals: the catalogue, searched on the spot; one signal or several with their latest values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from addin.mcp.schemas import NUMBER, TEXT, Schema, list_of, object_of, record_of
from addin.mcp.tool import Found, tool
from addin.mcp.tools.described import ABOUT_SCHEMA, frequency_of
from addin.mcp.tools.filters import respelled
from addin.mcp.tools.many import SLUGS, latest_of, observed, one_or_many
from addin.mcp.tools.records import OFFSET, field_names, limit, listed, listing_schema, nothing, shown
from addin.mcp.tools.rows import ROWS, has_times, rows_of_observations
from dataservice.client.contract import HISTORY_LIMIT, WIDEST
from dataservice.models import Signal
from udfs.arguments import Count, Text
from udfs.functions.signals import CATEGORY, DEFAULT_COLUMNS, SIGNAL_COLUMNS
from udfs.records import by_slug, corrected, last_revision, need_catalogue, need_detail, ranked
from udfs.timeseries import vintages_of

SLUG = Text(help="slug or shortcode of a signal, in any case; list_signals finds it", example="us-cpi")

SEARCH = Text(
    help="what to look for, in your own words: a name, a subject, a source or a category", example="oil price"
)

OBSERVED: dict[str, Schema] = {
    "value": NUMBER,
    "observed_at": TEXT,
    "previous": NUMBER,
    "change": NUMBER,
    "pct_change": {"type": "number", "description": "a fraction: 0.02 is 2 %"},
}

FREQUENCY: dict[str, Schema] = {"frequency": ABOUT_SCHEMA["frequency"]}

REVISED: dict[str, Schema] = {
    "revised": {"type": "string", "description": "the last change of an earlier value that was seen here"}
}

SIGNAL = record_of(Signal)

LATEST = object_of({**ABOUT_SCHEMA, **OBSERVED, "error": TEXT})


@tool(title="Search the catalogue of signals", result=listing_schema("signals", SIGNAL))
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
    catalogue = await need_catalogue()
    signals, lacks = by_slug(catalogue), catalogue.lacks(WIDEST)
    met = respelled({"category": category or None}, signals, {"category": lambda signal: [signal.category]})
    if met.unmet:
        return nothing("signals", met.unmet[0], met.suggestions, lacks)
    wanted = met.filters["category"]
    inside = [signal for signal in signals if wanted is None or signal.category.casefold() == wanted.casefold()]
    found = ranked(search, inside) if search else inside
    if search and not found:
        return _not_found(search, signals, wanted, lacks)
    return listed("signals", found, SIGNAL_COLUMNS, fields, most=limit, offset=offset, more=lacks)


def _not_found(search: str, signals: Sequence[Signal], category: str | None, lacks: str) -> Found:
    """An empty list, with other words or the categories there are."""
    guess = corrected(search, signals)
    groups = sorted({signal.category for signal in signals if signal.category})
    inside = " in this category" if category else ""
    advice = "try fewer or other words, another category, or none to list all"
    why = f"no signal matches '{search[:60]}'{inside}; {advice}"
    return nothing("signals", why, [guess] if guess else groups[:12], lacks)


@tool(
    title="Read one signal, or the latest values of several",
    result={"signal": SIGNAL, "signals": list_of(LATEST), **OBSERVED, **FREQUENCY, **REVISED, **ROWS},
    optional=frozenset({"signal", "signals"}) | OBSERVED.keys() | FREQUENCY.keys() | REVISED.keys() | ROWS.keys(),
    others=("signal", "signals"),
)
async def get_signal(
    slug: Annotated[str | None, SLUG] = None,
    slugs: Annotated[Sequence[str] | None, SLUGS] = None,
    history: Annotated[int, Count(help="how many of the latest observations to add", least=0, most=HISTORY_LIMIT)] = 12,
) -> Found:
    """Return what a signal measures, its latest value, the change from the value before, and its latest observations.

    With slugs in place of slug, a table of several: each with its name, unit, source, frequency, date, latest value
    and change. Costs one request a signal, which also answers get_observations where 365 observations reach back far
    enough. For a window of dates, for other frequencies or for more, use get_observations.
    """
    if (names := one_or_many(slug, slugs)) is not None:
        return Found({"signals": await latest_of(names)}, listed="signals", goes_on=lambda n: {"slugs": names[n:]})
    detail = (await need_detail(slug or "")).value
    members: dict[str, Any] = {"signal": shown(detail.signal, SIGNAL_COLUMNS, SIGNAL_COLUMNS.names([detail.signal]))}
    known = detail.history
    members |= {**observed(detail), **await frequency_of(detail)}
    if (revision := last_revision((await vintages_of(detail.signal.slug))[1])) is not None:
        members["revised"] = f"{revision.text}, seen {revision.first_seen:%Y-%m-%d}, {revision.since}"
    if history:
        members |= rows_of_observations(known[-history:], "value", timed=has_times(known.times))
    if history and not len(known) and detail.latest is not None:
        more = "the service may have left rows out of the recent history: get_observations reads them from a window"
        return Found(members, more, None, "rows")
    more = f"{len(known)} recent observations: raise history; get_observations reaches further back"
    goes_on = {"history": min(len(known), HISTORY_LIMIT)}
    is_cut = len(known) > history
    return Found(members, more if is_cut else None, goes_on if is_cut else None, "rows" if history else None)
