"""The tool for the wire: primary-source items, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Annotated

from addin.mcp.tool import Found, tool
from addin.mcp.tools.records import field_names, limit, listed, listing_schema
from dataservice.client import WireResource
from dataservice.models import WireItem
from udfs.arguments.dates import Day
from udfs.arguments.kinds import Count, Text
from udfs.engine.effects import need
from udfs.functions.wire import KINDS, PAGE, WIRE_FIELDS, newest_first
from udfs.records.resolve import slug_of
from udfs.records.search import matches, words_of

SUMMARY = "published_at, importance_score, kind, headline, source, primary_url, signal_slugs"

SINCE = Day(help="only items from this day on: 2026-01-31, or text such as -7D or MTD", example="-7D")

IMPORTANCE = Count(help="only items at least so important, 0 to 100", example="60", least=0, most=100)


@tool(title="List items of the wire (Pro tier)", result=listing_schema("items", WireItem, "items"))
async def list_wire(
    ticker: Annotated[
        str | None, Text(help="only items that name this ticker, in its own spelling", example="CPI")
    ] = None,
    kind: Annotated[str | None, Text(help="only items of this kind", choices=KINDS)] = None,
    min_importance: Annotated[int, IMPORTANCE] = 0,
    since: Annotated[date | None, SINCE] = None,
    beat: Annotated[str | None, Text(help="only items of this topic", example="macro")] = None,
    source: Annotated[str | None, Text(help="only items of this feed, in its own spelling")] = None,
    signal: Annotated[
        str | None, Text(help="only items about this signal: slug or shortcode", example="us-cpi")
    ] = None,
    current: Annotated[str | None, Text(help="only items that belong to this current (slug)")] = None,
    text: Annotated[str | None, Text(help="only items with all these words in headline or summary")] = None,
    limit: Annotated[int, limit(PAGE)] = 20,
    fields: Annotated[Sequence[str], field_names(WIRE_FIELDS)] = SUMMARY,
    *,
    today: date,  # noqa: ARG001 - one signature for every tool
) -> Found:
    """News, filings, press releases, data releases and more from primary sources, newest first. Needs the Pro tier.

    The service gives the newest 200 items for a ticker, kind, importance, day, beat and source: one request for each
    new set of these. signal, current and text choose among those at no cost. Read the original at `primary_url`.
    """
    asked = WireResource(ticker, kind, min_importance, since, beat, source)
    page = (await need(asked)).value
    about = (await slug_of(signal)).casefold() if signal else None
    words = words_of(text or "")
    found = [
        item
        for item in newest_first(page)
        if (about is None or about in _folded(item.signal_slugs))
        and (current is None or current.casefold() in _folded(item.current_slugs))
        and matches(words, (item.headline, item.summary))
    ]
    cut = "the service gives the newest 200 only: ask with a narrower since, ticker, kind or importance"
    return listed("items", found, WIRE_FIELDS, fields, most=limit, more="" if page.complete else cut)


def _folded(slugs: Iterable[str]) -> set[str]:
    return {slug.casefold() for slug in slugs}
