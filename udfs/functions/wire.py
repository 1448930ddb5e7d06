"""WIRE: primary-source items, filtered by the service and then on the spot, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from dataservice.client import AsyncClient, Page, WireResource
from dataservice.client.contract import LIST_LIMIT, places, published_since
from dataservice.models import WireItem
from udfs.arguments.dates import Since, SinceDay, as_day, since_moment
from udfs.arguments.kinds import Choice, Count, Names, Text
from udfs.arguments.options import Option, Options
from udfs.cells import Table
from udfs.engine.decorator import udf
from udfs.engine.effects import EVER, have, need, need_all
from udfs.records.fields import Fields
from udfs.records.lookup import matches, searched_words
from udfs.records.resolve import slug_of

WIRE_FIELDS = Fields(
    WireItem,
    (
        Choice("published_at", "when the item was published"),
        Choice("importance_score", "how important it is, 0 to 100"),
        Choice("kind", "the kind of item"),
        Choice("headline", "the headline"),
        Choice("source", "the feed it comes from"),
        Choice("primary_url", "where to read the original"),
        Choice("summary", "the summary"),
        Choice("tickers", "the tickers it mentions"),
        Choice("signal_slugs", "the signals it is about"),
        Choice("current_slugs", "the currents it is about"),
        Choice("beat", "the topic"),
        Choice("image_url", "a picture"),
        Choice("id", "the item's id, which posts cite"),
        Choice("payload", "all its structured values; payload.<key> shows one"),
    ),
)

KINDS = (
    Choice("news", "news"),
    Choice("filing", "a filing with a regulator"),
    Choice("press_release", "a company's press release"),
    Choice("data_release", "new data from a statistical source"),
    Choice("fund_flow", "money flowing into or out of funds"),
    Choice("analyst_rating", "an analyst's rating"),
    Choice("social_post", "a post on a social network"),
    Choice("breaking", "breaking news"),
)

DEFAULT_FIELDS = "published_at, importance_score, kind, headline, source, primary_url"

TICKER = Names(help="only items with this ticker; several separated by commas or as a range", example="CPI")

IMPORTANCE = Count(help="the minimum importance, 0 to 100", example="60", least=0, most=100)

LIMIT = Count(help=f"the maximum number of items, up to {LIST_LIMIT}", example="20", most=LIST_LIMIT)

COLUMNS = WIRE_FIELDS.columns("published_at, headline", also="payload.<key> too; ")

OPTIONS = Options(
    help="signal=, current= and text= filter further",
    example="signal=us-cpi",
    options=(
        Option("signal", Text(help="only items about this signal (slug or shortcode)", example="us-cpi")),
        Option("current", Text(help="only items about this current", example="energy-repricing")),
        Option("text", Text(help="only items with all these words in headline or summary", example="oil inventories")),
    ),
)


@udf(
    group="Wire",
    shape="table",
    examples=(
        "=DS.WIRE()",
        '=DS.WIRE("CPI","data_release",50,"-30D")',
        '=DS.WIRE(,,,"-7D",10,,,"published_at, headline, payload.value","signal=us-cpi")',
    ),
)
async def WIRE(  # noqa: N802 - the id that workbooks store
    ticker: Annotated[tuple[str, ...] | None, TICKER] = None,
    kind: Annotated[str | None, Text(help="only items of this kind", example="news", choices=KINDS)] = None,
    min_importance: Annotated[int, IMPORTANCE] = 0,
    since: Annotated[
        Since | None,
        SinceDay(help="only items since then: a date, or text such as -7D, -6H or MTD", first_of_period=True),
    ] = None,
    limit: Annotated[int, LIMIT] = 20,
    beat: Annotated[str | None, Text(help="only items of this topic", example="macro")] = None,
    source: Annotated[str | None, Text(help="only items from this feed, exactly as it is spelled")] = None,
    fields: Annotated[Sequence[str], COLUMNS] = DEFAULT_FIELDS,
    options: Annotated[Mapping[str, Any] | None, OPTIONS] = None,
    *,
    now: float,
) -> Table:
    """The newest items of the wire: news, filings, press releases, data releases and more, newest first. Needs Pro.

    The service gives the newest 200 items for a ticker, kind, importance, day, beat and source; `limit`, `fields` and
    the options choose among these at no cost, so an older match may be missed. Each new set
    of filters costs one request; one that a complete answer at hand already holds costs none. Several tickers are
    answered together, each item once.

    Lists such as tickers are joined by commas, times are in UTC. A key below the Pro tier gets `#N/A` "WIRE needs the
    Pro tier". Where nothing matches, only the header is shown.
    """
    first = None if since is None else since_moment(since, now)
    day = None if first is None else as_day(first)
    asked = WireResource(kind=kind, min_importance=min_importance, since=day, beat=beat, source=source)
    count = LIST_LIMIT if options else limit
    items: Sequence[WireItem] = (await items_of(asked, [spelled(name) for name in ticker or ()], records=count)).items
    if first != day:
        items = [item for item in items if published_since(item, first)]
    wanted = options or {}
    kept = await about(items, wanted.get("signal"), wanted.get("current"), wanted.get("text"))
    return WIRE_FIELDS.table(WIRE_FIELDS.select(fields, items), kept[:limit])


async def items_of(
    asked: WireResource, tickers: Sequence[str] = (), kinds: Sequence[str] = (), *, records: int = 0
) -> Page[WireItem]:
    """The items for any of `tickers` that are of any of `kinds`, newest first; complete where each of them is.

    Without these, the page of `asked` as it is. So many `records` of each are wanted.
    """
    named = [replace(asked, ticker=name) for name in dict.fromkeys(tickers)] or [asked]
    resources = [replace(each, kind=kind) for each in named for kind in dict.fromkeys(kinds)] or named
    if len(resources) == 1:
        return (await need(resources[0], records=records)).value
    wide = replace(asked, ticker=None if tickers else asked.ticker, kind=None if kinds else asked.kind)
    if await may_be_complete(wide):
        await need(wide)
    answers = await need_all(resources, records=records)
    pages: list[Page[WireItem]] = []
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
        pages.append(answer.value)
    return Page(
        newest_of(pages),
        complete=all(page.complete for page in pages),
        may_be_cut=any(page.may_be_cut for page in pages),
    )


async def may_be_complete(wide: WireResource) -> bool:
    """Whether one request for all tickers and kinds may do: a window of days can be small, the whole wire is not.

    A page once found too small is remembered by the cache, so that a wrong guess costs one request and no more.
    """
    if wide.since is None:
        return False
    known = await have(wide, max_age_s=EVER)
    return known is None or known.value.complete


def newest_of(pages: Sequence[Page[WireItem]]) -> tuple[WireItem, ...]:
    """The items of all pages, each once, newest first; of one moment, in the order of their ids."""
    once = {item.id: (at, item) for page in pages for item, at in zip(page, places(page.items), strict=True)}
    by_id = sorted(once.values(), key=lambda pair: pair[1].id)
    return tuple(item for _, item in sorted(by_id, key=lambda pair: pair[0], reverse=True))


async def about(
    items: Sequence[WireItem], signal: str | None, current: str | None, text: str | None
) -> Sequence[WireItem]:
    """The items about a signal (slug or shortcode) and a current, with all words of `text`; None passes every item."""
    if not (signal or current or text):
        return items
    slug = (await slug_of(signal)).casefold() if signal else None
    words = searched_words(text or "")
    return [
        item
        for item in items
        if (slug is None or slug in _folded(item.signal_slugs))
        and (not current or current.casefold() in _folded(item.current_slugs))
        and matches(words, (item.headline, item.summary))
    ]


def is_locked(client: AsyncClient) -> bool:
    """Return whether the key is known to have the Free plan, which the wire is not part of."""
    return client.quota_now is not None and client.quota_now.tier.casefold() == "free"


def _folded(slugs: Iterable[str]) -> set[str]:
    return {slug.casefold() for slug in slugs}


def spelled(ticker: str) -> str:
    """A ticker typed in small letters is meant in capitals; one of mixed letters is spelled like that."""
    return ticker.upper() if ticker == ticker.lower() else ticker
