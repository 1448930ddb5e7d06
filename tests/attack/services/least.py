"""The fewest requests that a variant can be asked in by whoever knows all of its ways: worked out from its pages."""

from __future__ import annotations

from collections.abc import Mapping

WINDOWS = (241, 2_191, 479, 1_216)
"""Observations of the windows that no detail holds: us-cpi and btc-usd whole, eia.wti.spot, fx.eur-usd since 2022."""

YEARS = (20, 6, 2, 5)
"""That each of them spans."""

LONGEST_YEARS = {
    **dict.fromkeys(("year-refused", "year-refused-unsaid", "year-newest", "year-oldest"), 1),
    "five-years-refused": 5,
    "ten-years-newest": 10,
}
"""That a window may span at most."""

SIGNALS, INDICES, CURRENTS = 15, 4, 6

DETAILS, FEEDS, UNKNOWN = 3, 3, 2
"""us-10y, cboe.vix and a year of sp-500; posts, those on a beat, and the wire; names that do not exist."""

FEED_RECORDS, FEED_PAGES = 50, 4
"""That a cell shows of each, and the pages after which it says instead that there may be more."""

CHECKS = {"days later": 12, "later still": 10}
"""What the documented service takes then: each history is topped up once, each list asked for again."""

COLLECTION = 2
"""Indices and currents on a page, where they are paged."""


def least(variant: Mapping[str, str]) -> dict[str, int]:
    """By phase, the fewest requests of a variant, given by its switches that are not as usual."""
    longest = LONGEST_YEARS.get(variant.get("window-longest", "any"), 100)
    windows = sum(
        max(_pages(rows, int(variant.get("page", "1000"))), _pages(years, longest))
        for rows, years in zip(WINDOWS, YEARS, strict=True)
    )
    catalogue = _pages(SIGNALS, int(variant.get("catalogue-page", "500")))
    size = COLLECTION if variant.get("collections", "whole") != "whole" else 1_000
    collections = _pages(INDICES, size) + _pages(CURRENTS, size)
    feed_pages = min(_pages(FEED_RECORDS, int(variant.get("feed-page", "200"))), FEED_PAGES)
    feeds = FEEDS * (feed_pages - 1)
    cold = DETAILS + windows + catalogue + collections + FEEDS + feeds + UNKNOWN
    later = {phase: requests + collections - 2 + feeds for phase, requests in CHECKS.items()}
    return {"cold": cold, "one by one": cold, **later, "days later": later["days later"] + catalogue - 1}


def _pages(rows: int, size: int) -> int:
    return -(-rows // size)
