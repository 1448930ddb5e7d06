"""A workbook of two hundred mixed cells: one request a resource, whatever is shown of it."""

from itertools import islice, product

import pandas as pd

from tests.embedded import SAMPLE_AS_OF
from tests.udfs.parts.asking import session_on
from udfs.cells import CellError
from udfs.engine.session import Call

NOON = pd.Timestamp(SAMPLE_AS_OF, tz="UTC").timestamp() + 12 * 3600

SLUGS = (
    *("us-cpi", "us-unemployment", "us-10y", "eia.wti.spot", "wb.gold", "eia.henry-hub", "sp-500", "cboe.vix"),
    *("etf.world", "fx.eur-usd", "fx.usd-jpy", "btc-usd"),
)
FIELDS = ("value", "observed_at", "name", "unit", "previous", "pct_change", "state")
WINDOWS = ("-6M", "N60", "YTD", "-1Y")
OPTIONS = (None, "freq=M; agg=mean", "transform=pct")
LONG = ("eia.wti.spot", "sp-500", "us-10y")
"""Of these, days are asked for that the recent history does not hold: `-3Y`, and sixty months of daily values."""
EVIDENCE = ("us-cpi", "us-10y", "wb.gold")

WORKBOOK = [
    *(Call("SIGNAL", each) for each in product(SLUGS, FIELDS)),
    *(
        Call("SIGNAL_HISTORY", (slug, start, None, way))
        for slug, start, way in islice(product(SLUGS, WINDOWS, OPTIONS), 41)
    ),
    *(Call("SPARK", (slug, "-6M")) for slug in SLUGS),
    *(Call("SIGNAL_HISTORY", (slug, "-3Y")) for slug in LONG[:2]),
    *(
        Call("INDEX", (slug, field))
        for slug, field in product(("risk-dial", "coin-heat"), ("value", "name", "components"))
    ),
    *(Call("CURRENT", ("digital-tide", field)) for field in ("momentum_score", "belief_score", "*")),
    *(Call("SIGNALS", (search,)) for search in ("oil", "usd", "gold", None)),
    *(Call("SIGNAL", (shortcode,)) for shortcode in ("CPI", "WTI", "GOLD", "SPX")),
    *(Call("WIRE", (None,) * 4 + (limit,)) for limit in (5, 10, 20, 200)),
    *(Call("CODEX", (None,) * 3 + (limit,)) for limit in (5, 10, 20)),
    *(Call("EXPLAIN", (slug,)) for slug in EVIDENCE),
    *(Call(function) for function in ("INDICES", "CURRENTS", "QUOTA", "STATUS")),
    *(Call("WIRE", (None,) * 8 + (f"signal={slug}",)) for slug in SLUGS),
    *(Call("CODEX_POST", (f"what-moved-{number:02}", field)) for number in (10, 11, 12) for field in ("title", "url")),
    *(Call("SIGNAL", (slug, "value", "2026-03-31")) for slug in SLUGS),
]

RESOURCES = len(SLUGS) + len(LONG) + len(("indices", "currents", "catalogue", "wire", "posts"))


async def test_two_hundred_mixed_cells_cost_one_request_for_each_resource(service):
    assert len(WORKBOOK) == 200
    async with session_on(service, clock=lambda: NOON) as session:
        cost = (await session.cost(WORKBOOK)).cost
        least = RESOURCES - len(LONG) - 1
        assert least <= cost.at_least <= RESOURCES, "a detail may hold a whole history, and the tier may lock the wire"
        outcomes = await session.answer(WORKBOOK)
        failed = {call: outcome for call, outcome in zip(WORKBOOK, outcomes, strict=True) if fails(outcome)}
        assert failed == {}
        assert sum(outcome.requests for outcome in outcomes) == service.running.request_count == RESOURCES
        assert sum(outcome.requests for outcome in await session.answer(WORKBOOK)) == 0
    assert service.running.request_count == RESOURCES


def fails(outcome):
    return isinstance(outcome.result, CellError)
