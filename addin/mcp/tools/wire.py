"""The tool for the wire: items from primary sources, newest first, filtered by the service and then on the spot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Annotated

from addin.mcp.schemas import record_of
from addin.mcp.tool import Found, tool
from addin.mcp.tools.filters import (
    UNTIL,
    Spelling,
    Values,
    among,
    in_its_spelling,
    known_values,
    near,
    plain,
    published_until,
    refuse_reversed,
    respelled,
)
from addin.mcp.tools.records import OFFSET, field_names, limit, listed, listing_schema
from dataservice.client import Page, WireResource
from dataservice.client.contract import LIST_LIMIT, WIDEST, published_since
from dataservice.models import WireItem
from udfs.arguments import Names, Since, SinceDay, Text, as_day, shown, since_moment
from udfs.engine import need
from udfs.functions.wire import IMPORTANCE, KINDS, WIRE_FIELDS, about, items_of, may_be_complete, spelled
from udfs.records import LISTED

SUMMARY = "id, published_at, importance_score, kind, headline, source, primary_url, signal_slugs"

SINCE = SinceDay(help="only items from then on: 2026-01-31, or text such as -7D, -6H or MTD", example="-7D")

IDS = Names(help="only these items, as posts cite them", example="w-12, w-15")

TICKER = Names(help="only items that name one of these tickers, with or without $", example="CPI, WTI")

SIGNAL = Text(help="only items about this signal: slug or shortcode", example="us-cpi")

KIND = Names(help="only items of these kinds", choices=KINDS, example="news, filing")

WIDE_DAYS = 7
"""A window of so many days is fetched as a whole: narrower questions about it, asked beside or after, then cost nothing
unless more than 200 items fall into it."""


@tool(title="List items of the wire", result=listing_schema("items", record_of(WireItem)))
async def list_wire(
    ticker: Annotated[Sequence[str] | None, TICKER] = None,
    kind: Annotated[Sequence[str] | None, KIND] = None,
    min_importance: Annotated[int, IMPORTANCE] = 0,
    since: Annotated[Since | None, SINCE] = None,
    beat: Annotated[str | None, Text(help="only items of this topic", example="macro")] = None,
    source: Annotated[str | None, Text(help="only items of this feed", example="Cboe")] = None,
    signal: Annotated[str | None, SIGNAL] = None,
    current: Annotated[str | None, Text(help="only items that belong to this current (slug)")] = None,
    until: Annotated[date | None, UNTIL] = None,
    ids: Annotated[Sequence[str] | None, IDS] = None,
    text: Annotated[str | None, Text(help="only items with all these words in headline or summary")] = None,
    limit: Annotated[int, limit(LIST_LIMIT)] = 20,
    offset: Annotated[int, OFFSET] = 0,
    fields: Annotated[Sequence[str], field_names(WIRE_FIELDS)] = SUMMARY,
    *,
    now: float,
    today: date,
) -> Found:
    """News, filings, press releases, data releases and more from primary sources, newest first. Needs the Pro tier.

    The service gives the newest 200 items for a ticker, kind, importance, day, beat and source: one request for each
    new set of these. signal, current, until, ids and text choose among those at no cost. Of the last 7 days, narrower
    questions cost nothing once one was asked, while they hold at most 200 items. Read the original at `primary_url`.
    """
    first = None if since is None else since_moment(since, now)
    refuse_reversed(first, until)
    asked = WireResource(None, None, min_importance, None if first is None else as_day(first), beat, source)
    tickers = [spelled(name) for each in ticker or () if (name := plain(each))]
    page, met = await _met(asked, tickers, kind or (), today)
    recent = [item for item in page if first == asked.since or published_since(item, first)]
    found = await about(published_until(recent, until), signal, current, text)
    told, suggestions = list(met.unmet), list(met.suggestions)
    if current and not found:
        unmet = respelled({"current": current}, recent, {"current": lambda item: item.current_slugs})
        told, suggestions = [*told, *among(unmet.unmet, recent, "items")], [*suggestions, *unmet.suggestions]
    if ids:
        found, missing = _of_ids(found, ids)
        told += [f"{len(missing)} of these ids are not among the {len(recent)} items looked at"] if missing else []
    if not page.complete:
        told.append(
            "the service gives the newest 200 only: older ones are reached by ticker, kind, importance, beat or source"
        )
    elif lacks := page.lacks(WIDEST):
        told.append(lacks)
    made = listed("items", found, WIRE_FIELDS, fields, most=limit, offset=offset, more="; ".join(told))
    return replace(made, suggestions=() if found else suggestions)


_VALUES: Mapping[str, Values[WireItem]] = {
    "ticker": lambda item: item.tickers,
    "beat": lambda item: [item.beat],
    "source": lambda item: [item.source],
}


async def _met(
    asked: WireResource, tickers: Sequence[str], kinds: Sequence[str], today: date
) -> tuple[Page[WireItem], Spelling[WireItem]]:
    """The items that the filters let pass, in whichever spelling they are met; without an item, near values."""
    wide = WireResource(since=asked.since)
    is_short = asked.since is not None and asked.since >= today - timedelta(days=WIDE_DAYS)
    if is_short and await may_be_complete(wide):
        await need(wide)
    page = await items_of(asked, tickers, kinds)
    absent = _absent(tickers, page.items)
    if page.items and all(name == name.upper() for name in absent):  # the spelling that tickers have
        return page, Spelling({}, [f"no item found names ticker {_first(absent)}"] if absent else [])
    if not page.items and not (tickers or asked.beat or asked.source):
        return page, Spelling({})
    every = (await items_of(replace(asked, beat=None, source=None), (), kinds)).items
    if not every:  # whatever the ticker, beat or source
        return page, Spelling({})
    given = {} if page.items else {"beat": asked.beat, "source": asked.source}
    met, spellings = respelled(given, every, _VALUES), _spellings(absent, every)
    lost = [name for name in absent if name not in spellings]
    if not met.unmet and (spellings or not tickers):
        names = list(dict.fromkeys(spellings.get(name, name) for name in tickers if name not in lost))
        same = replace(asked, beat=met.filters.get("beat", asked.beat), source=met.filters.get("source", asked.source))
        page = await items_of(same, names, kinds)
        lost = _absent([spellings.get(name, name) for name in tickers], page.items) if page.items else lost
    known = known_values(every, _VALUES["ticker"])
    guesses = [guess for name in lost[:LISTED] for guess in near(name, known)]
    unmet = among([*met.unmet, *([f"no ticker {_first(lost)}"] if lost else [])], every, "items")
    return page, Spelling({}, unmet, list(dict.fromkeys([*met.suggestions, *guesses])))


def _first(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(map(shown, names[:LISTED])) + more


def _absent(tickers: Sequence[str], items: Sequence[WireItem]) -> list[str]:
    """The tickers that no item names, in whichever case."""
    named = {ticker.casefold().lstrip("$@#") for item in items for ticker in item.tickers}
    return [name for name in dict.fromkeys(tickers) if name.casefold() not in named]


def _spellings(names: Sequence[str], items: Sequence[WireItem]) -> dict[str, str]:
    """The tickers that are meant, in the spelling of the service: else in capitals, unless they were so."""
    known = known_values(items, _VALUES["ticker"])
    found = {name: in_its_spelling(name, known) or (name.upper() if name != name.upper() else None) for name in names}
    return {name: each for name, each in found.items() if each is not None}


def _of_ids(items: Sequence[WireItem], ids: Sequence[str]) -> tuple[list[WireItem], list[str]]:
    """The items with these ids, and the ids without an item."""
    wanted = {each.casefold() for each in ids}
    found = [item for item in items if item.id.casefold() in wanted]
    met = {item.id.casefold() for item in found}
    return found, [each for each in ids if each.casefold() not in met]
