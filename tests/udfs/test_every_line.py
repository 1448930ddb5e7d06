"""The function library line by line: what the reference promises, each promise as formulas and what they show."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pandas as pd
import pytest

from tests.embedded import SAMPLE_AS_OF
from tests.udfs.parts.asking import cells, session_on
from udfs.cells import EPOCH, CellError, ErrorCode

NOON = pd.Timestamp(SAMPLE_AS_OF, tz="UTC").timestamp() + 12 * 3600
TODAY = SAMPLE_AS_OF
NA, VALUE = ErrorCode.NA, ErrorCode.VALUE
LAST_YEAR = (date(2025, 12, 31) - EPOCH).days


@dataclass(frozen=True)
class Error:
    """An error whose message begins like this."""

    code: ErrorCode
    begins: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CellError) and other.code is self.code and other.message.startswith(self.begins)

    __hash__ = None


def rows(count: int, width: int = 2):
    """A table of so many rows below its header."""
    return lambda found: len(found) == count + 1 and {len(row) for row in found} == {width}


def header(*names: str):
    """A table with this header."""
    return lambda found: found[0] == names


def first_day(day: date):
    """A table whose first row is of this day or, where nothing was observed on it, of one of the next four."""
    return lambda found: timedelta() <= found[1][0] - day <= timedelta(days=4)


def same_as(*call: Any):
    """What another formula shows."""
    return call


H = "SIGNAL_HISTORY"
OIL, CPI, GOLD = "eia.wti.spot", "us-cpi", "wb.gold"

LINES: dict[str, list[tuple[tuple[Any, ...], Any]]] = {
    "names: a slug or a shortcode, in any case": [
        (("SIGNAL", "CPI"), same_as("SIGNAL", CPI)),
        (("SIGNAL", "Us-Cpi"), same_as("SIGNAL", CPI)),
        ((H, "WTI", "N3"), same_as(H, OIL, "N3")),
        (("SPARK", "WTI"), same_as("SPARK", OIL)),
    ],
    "names: an unknown one is told the nearest": [
        (("SIGNAL", "us-cpii"), Error(NA, "no signal 'us-cpii'; did you mean us-cpi?")),
        (("INDEX", "risk-dail"), Error(NA, "no index 'risk-dail'; did you mean risk-dial?")),
        (("CURRENT", "digital-tid"), Error(NA, "no current 'digital-tid'; did you mean digital-tide?")),
    ],
    "ranges: a column or a row spills in its shape": [
        (("SIGNAL", [["us-cpi"], ["WTI"]], "unit"), [("index 2010=100",), ("USD per barrel",)]),
        (("SIGNAL", [["us-cpi", "WTI"]], "unit"), [("index 2010=100", "USD per barrel")]),
    ],
    "ranges: names down and fields across spill a table": [
        (("SIGNAL", [["CPI"], ["WTI"]], [["shortcode", "category"]]), [("CPI", "macro"), ("WTI", "commodities")]),
    ],
    "ranges: a failed item is an error in its own cell, a blank one stays blank": [
        (
            ("SIGNAL", [["CPI"], ["none"], [None], [""]], "shortcode"),
            [("CPI",), (Error(NA, "no signal 'none'"),), (None,), (None,)],
        ),
    ],
    "arguments: an empty one is left out": [(("SIGNAL", CPI, "", None), same_as("SIGNAL", CPI))],
    "dates: serial numbers, ISO text and dates, cut to the day": [
        (("SIGNAL", OIL, "value", given), same_as("SIGNAL", OIL, "value", "2025-12-31"))
        for given in (
            LAST_YEAR,
            LAST_YEAR + 0.75,
            date(2025, 12, 31),
            datetime(2025, 12, 31, 18, tzinfo=UTC),
            "2025-12-31T18:00:00Z",
        )
    ],
    "dates: relative text": [
        ((H, "btc-usd", text), first_day(day))
        for text, day in {
            "-30D": date(2026, 8, 1),
            "-8W": date(2026, 7, 6),
            "-6M": date(2026, 2, 28),
            "-4Q": date(2025, 8, 31),
            "-5Y": date(2021, 8, 31),
            "MTD": date(2026, 8, 1),
            "QTD": date(2026, 7, 1),
            "YTD": date(2026, 1, 1),
            "MAX": date(2020, 9, 1),
        }.items()
    ],
    "dates: N60 is the last 60 observations": [((H, OIL, "N60"), rows(60)), ((H, CPI, "N60"), rows(60))],
    "dates: a wrong one is told what is allowed": [((H, OIL, "soon"), Error(VALUE, "start 'soon' is not a date"))],
    "dates: real dates come out": [(("SIGNAL", OIL, "observed_at"), TODAY)],
    "values: booleans stay booleans, nulls are blank": [
        (("SIGNAL", [["us-cpi"], ["eth-usd"]], "is_premium"), [(False,), (True,)]),
        (("SIGNAL", "etf.world", "description"), lambda shown: not shown),
    ],
    "options: text, or a range of two columns": [
        ((H, OIL, "N9", None, "order=desc; limit=3"), rows(3)),
        ((H, OIL, "N9", None, [["order", "desc"], ["limit", 3]]), same_as(H, OIL, "N9", None, "order=desc;limit=3")),
    ],
    "options: an unknown one is named with those there are": [
        ((H, OIL, "N9", None, "frq=M"), Error(VALUE, "there is no option 'frq'; there are freq, agg")),
        ((H, OIL, "N9", None, "freq=X"), Error(VALUE, "option freq 'X' is not one of raw, H, D, B, W, M, Q, Y")),
    ],
    "options: err shows an error as its text or as a blank": [
        (("SIGNAL", "none", None, None, "err=text"), lambda shown: shown.startswith("no signal 'none'")),
        (("SIGNAL", "none", None, None, "err=blank"), None),
    ],
    "SIGNAL: each field": [
        (("SIGNAL", OIL, "value"), same_as("SIGNAL", OIL)),
        (("SIGNAL", OIL, "name"), "WTI crude oil spot price (made up)"),
        (("SIGNAL", OIL, "unit"), "USD per barrel"),
        (("SIGNAL", OIL, "category"), "commodities"),
        (("SIGNAL", OIL, "signal_type"), "price"),
        (("SIGNAL", OIL, "source"), "Made-up data"),
        (("SIGNAL", OIL, "description"), "Cushing"),
        (("SIGNAL", OIL, "shortcode"), "WTI"),
        (("SIGNAL", OIL, "is_premium"), False),
        (("SIGNAL", OIL, "previous"), same_as("SIGNAL", OIL, "value", "2026-08-28")),
        (("SIGNAL", OIL, "age"), 0.0),
        (("SIGNAL", OIL, "state"), "fresh"),
    ],
    "SIGNAL: the observation on or before a day": [
        (("SIGNAL", OIL, "observed_at", "2026-08-30"), date(2026, 8, 28)),
        (("SIGNAL", OIL, "observed_at", "2021-01-02"), date(2021, 1, 1)),
        (("SIGNAL", OIL, "value", "1990-01-01"), Error(NA, f"{OIL} has no observation on or before 1990-01-01")),
    ],
    "SIGNAL_HISTORY: a column of dates and one for each slug, oldest first, a year where no start is given": [
        ((H, OIL), first_day(date(2025, 8, 31))),
        ((H, f"{CPI}, {GOLD}"), header("date", CPI, GOLD)),
        ((H, [[CPI], [GOLD]]), same_as(H, f"{CPI}, {GOLD}")),
        ((H, OIL, "2026-08-03", "2026-08-07"), lambda found: [row[0].day for row in found[1:]] == [3, 4, 5, 6, 7]),
    ],
    "SIGNAL_HISTORY: freq": [
        ((H, "btc-usd", "2026-01-01", "2026-06-30", f"freq={freq}"), rows(count))
        for freq, count in {"raw": 181, "D": 181, "W": 27, "M": 6, "Q": 2, "Y": 1}.items()
    ],
    "SIGNAL_HISTORY: agg, told in the header": [
        ((H, OIL, "MTD", None, f"freq=M; agg={agg}"), header("date", f"{OIL} ({agg})"))
        for agg in ("last", "first", "mean", "sum", "min", "max")
    ],
    "SIGNAL_HISTORY: fill": [
        ((H, f"{CPI}, {OIL}", "2026-07-15", None, f"fill={fill}"), lambda found, want=want: want(found[1][1]))
        for fill, want in {
            "none": lambda cell: cell is None,
            "prev": lambda cell: cell > 100,
            "next": lambda cell: cell > 100,
            "linear": lambda cell: cell > 100,
            "zero": lambda cell: cell == 0,
        }.items()
    ],
    "SIGNAL_HISTORY: align": [
        (
            (H, f"{CPI}, {OIL}", "2026-06-01", None, "align=intersect"),
            lambda found: {r[0].day for r in found[1:]} == {1},
        ),
        ((H, f"{CPI}, {OIL}", "2026-08-01", None, "align=union"), lambda found: len(found) > 20),
    ],
    "SIGNAL_HISTORY: each transform, and a chain of them": [
        ((H, CPI, "N5", None, f"transform={text}"), lambda found: len(found) == 6 and found[-1][1] is not None)
        for text in (
            *("pct", "diff", "log", "yoy", "mom", "ma(20)", "ewm(20)", "zscore(60)", "index(100)", "cum", "drawdown"),
            *("lag(1)", "yoy|ma(3)"),
        )
    ],
    "SIGNAL_HISTORY: order, header, dates, limit, layout": [
        ((H, OIL, "N3", None, "order=desc"), lambda found: found[1][0] > found[2][0] > found[3][0]),
        ((H, OIL, "N3", None, "order=asc"), same_as(H, OIL, "N3")),
        ((H, OIL, "N3", None, "header=name"), header("date", "WTI crude oil spot price (made up)")),
        ((H, OIL, "N3", None, "header=slug"), header("date", OIL)),
        ((H, OIL, "N3", None, "header=none"), lambda found: len(found) == 3),
        ((H, OIL, "N3", None, "dates=hide"), header(OIL)),
        ((H, OIL, "N3", None, "dates=show; layout=wide"), same_as(H, OIL, "N3")),
        ((H, OIL, "N3", None, "limit=2"), rows(2)),
        ((H, f"{CPI}, {OIL}", "N3", None, "layout=long"), rows(6, width=3)),
    ],
    "INDEX: each field, components, one weight": [
        (("INDEX", "pressure-gauge"), 103.5312),
        (("INDEX", "pressure-gauge", "value"), 103.5312),
        (("INDEX", "pressure-gauge", "observed_at"), date(2026, 8, 1)),
        (("INDEX", "pressure-gauge", "name"), "Price pressure gauge (made up)"),
        (("INDEX", "pressure-gauge", "category"), "macro"),
        (("INDEX", "pressure-gauge", "scale"), "100 = unchanged"),
        (("INDEX", "pressure-gauge", "summary"), lambda shown: len(shown) > 10),
        (("INDEX", "pressure-gauge", "baseline_window_months"), lambda shown: shown > 0),
        (("INDEX", "pressure-gauge", "components"), header("signal_slug", "weight", "transform")),
        (("INDEX", "pressure-gauge", "weight:wb.gold"), 0.2),
    ],
    "CURRENT: each field, and the whole row": [
        (("CURRENT", "energy-repricing"), 71.4),
        (("CURRENT", "energy-repricing", "belief_score"), 58.2),
        (("CURRENT", "energy-repricing", "maturity_stage"), "building"),
        (("CURRENT", "energy-repricing", "name"), "Energy repricing (made up)"),
        (("CURRENT", "energy-repricing", "family"), "commodities"),
        (("CURRENT", "energy-repricing", "phrase"), "Oil and gas reset the cost base"),
        (("CURRENT", "energy-repricing", "*"), lambda found: len(found) == 1 and found[0][0] == "energy-repricing"),
    ],
    "WIRE: newest first, twenty rows, six columns": [
        (("WIRE",), rows(20, width=6)),
        (("WIRE",), header("published_at", "importance_score", "kind", "headline", "source", "primary_url")),
        (("WIRE",), lambda found: [r[0] for r in found[1:]] == sorted((r[0] for r in found[1:]), reverse=True)),
    ],
    "WIRE: ticker, kind, importance, since, limit, beat, source, fields and options": [
        (("WIRE", "BTC", *[None] * 6, "tickers"), lambda found: all("BTC" in row[0] for row in found[1:])),
        (("WIRE", None, "news", *[None] * 5, "kind"), lambda found: {row[0] for row in found[1:]} == {"news"}),
        (("WIRE", None, None, 60, *[None] * 4, "importance_score"), lambda found: min(found[1:])[0] >= 60),
        (("WIRE", None, None, None, "-7D"), lambda found: min(row[0] for row in found[1:]) >= datetime(2026, 8, 24)),  # noqa: DTZ001 - naive UTC
        (("WIRE", *[None] * 3, None, 5), rows(5, width=6)),
        (("WIRE", *[None] * 5, "macro", None, "beat"), lambda found: {row[0] for row in found[1:]} == {"macro"}),
        (("WIRE", *[None] * 6, "Made-up Wire", "source"), lambda found: {r[0] for r in found[1:]} == {"Made-up Wire"}),
        (("WIRE", *[None] * 7, "id, payload.value", "signal=us-cpi"), header("id", "payload.value")),
        (("WIRE", *[None] * 7, "signal_slugs", "signal=CPI"), lambda found: all(CPI in row[0] for row in found[1:])),
        (
            ("WIRE", *[None] * 7, "current_slugs", "current=digital-tide"),
            lambda found: all("digital-tide" in r[0] for r in found[1:]),
        ),
        (("WIRE", *[None] * 7, "headline", "text=funds"), lambda found: all("unds" in row[0] for row in found[1:])),
    ],
    "SIGNALS: all, by words, by category, with fields and a limit": [
        (("SIGNALS",), rows(15, width=6)),
        (("SIGNALS", "gold price"), lambda found: [row[0] for row in found[1:]] == [GOLD]),
        (("SIGNALS", None, "fx"), rows(2, width=6)),
        (("SIGNALS", "usd", None, "slug, unit", 2), rows(2)),
    ],
    "INDICES and CURRENTS: tables of all": [
        (("INDICES",), rows(4, width=6)),
        (("INDICES", "name, value"), header("name", "value")),
        (("CURRENTS",), lambda found: found[1][0] == "digital-tide"),
        (("CURRENTS", "commodities"), rows(1, width=6)),
        (("CURRENTS", None, "slug", "sort=belief_score; top=1"), [("slug",), ("rates-plateau",)]),
    ],
    "CODEX and CODEX_POST: posts, one post, its citations": [
        (("CODEX",), rows(12, width=6)),
        (
            ("CODEX", "report", None, None, 20, None, "story_type"),
            lambda found: {r[0] for r in found[1:]} == {"report"},
        ),
        (("CODEX", None, "ballast", None, 1, None, "handle"), [("handle",), ("ballast",)]),
        (("CODEX", None, None, "2026-08-20", None, None, "slug"), rows(2, width=1)),
        (("CODEX_POST", "what-moved-12", "title"), "What moved, part 12 (made up)"),
        (("CODEX_POST", "what-moved-12"), lambda shown: len(shown) > 100),
        (
            ("CODEX_POST", "what-moved-12", "citations"),
            header("citation_number", "quoted_text", "wire_item_id", "headline", "primary_url"),
        ),
    ],
    "QUOTA: remaining, tier, cap, used_here": [
        (("QUOTA", "tier"), "pro"),
        (("QUOTA", "cap"), 50_000),
        (("QUOTA",), lambda shown: 0 < shown < 50_000),
        (("QUOTA", "used_here"), lambda shown: shown >= 1),
    ],
    "STATUS: a table of what was asked": [
        (("STATUS",), header("resource", "state", "age", "source", "last_error", "revised_at", "revision")),
        (("STATUS", "never-asked"), lambda found: found[1][:2] == ("never-asked", "missing")),
    ],
    "EXPLAIN: where a number comes from": [
        (
            ("EXPLAIN", CPI),
            lambda found: (
                {row[0] for row in found}
                >= {
                    "definition",
                    "unit",
                    "source",
                    "endpoint",
                    "fetched at",
                    "age (seconds)",
                    "requests it cost",
                    "posts",
                }
            ),
        ),
    ],
    "SPARK: a line of block characters": [
        (("SPARK", CPI), lambda shown: set(shown) <= set("▁▂▃▄▅▆▇█")),
        (("SPARK", OIL, "-5Y", 12), lambda shown: len(shown) == 12),
        (("SPARK", OIL), lambda shown: len(shown) == 40),
    ],
}


@pytest.mark.parametrize("line", LINES)
async def test_what_the_reference_promises_is_what_is_shown(sample_service, line):
    async with session_on(sample_service, clock=lambda: NOON) as session:
        await cells(session, "SIGNALS")  # a catalogue at hand settles the names
        for call, expected in LINES[line]:
            found = await cells(session, *call)
            if callable(expected):
                assert expected(found), (call, found)
            elif isinstance(expected, tuple):
                other = await cells(session, *expected)
                assert not isinstance(other, CellError)
                assert found == other, call
            else:
                assert found == expected, call
