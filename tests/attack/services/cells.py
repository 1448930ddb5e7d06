"""Kinds of cells, and whether what one shows is true: right, a part that says so, an error, or silently wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from tests.attack.services.world import Truth
from udfs.cells import Table
from udfs.engine.session import Call, Outcome
from udfs.errors import CellError

NEAREST = {"float32": 1e-6, "four-digits": 5.01e-4}
"""By how much of themselves numbers differ that are kept so."""

STEPS = {"one-decimal": 0.050_001, "two-decimals": 0.005_001}
"""By how much others do."""


class Verdict(StrEnum):
    """What a cell turned out to be."""

    RIGHT = "right"
    STALE = "stale"
    """A last known value or a part of it, with the reason."""
    ERROR = "error"
    WRONG = "wrong"


@dataclass(frozen=True)
class Cell:
    """One kind of cell: its call, and what is wrong with a result in the light of the truth; empty if nothing is."""

    name: str
    call: Call
    wrong: Callable[[Any, Truth, Mapping[str, str]], str]
    wants_error: str = ""
    """A word of the error that is the right answer; none where a value is."""

    def verdict(self, outcome: Outcome, truths: Sequence[Truth], *, may_be_old: bool = False) -> tuple[Verdict, str]:
        """What the cell shows; an old value, said to be old, may be true on any of the days.

        So may any value where it `may_be_old`.
        """
        result = outcome.result
        if isinstance(result, CellError):
            if self.wants_error:
                is_right = self.wants_error in result.message
                return (Verdict.RIGHT if is_right else Verdict.ERROR), result.message
            return Verdict.ERROR, result.message
        if self.wants_error:
            return Verdict.WRONG, f"a value where there is none: {result!r}"[:200]
        if outcome.stale is not None:
            return Verdict.STALE, outcome.stale.reason
        problems = [self.wrong(result, truth, truth.variant) for truth in (truths if may_be_old else truths[-1:])]
        return (Verdict.RIGHT, "") if "" in problems else (Verdict.WRONG, problems[-1])


def alike(one: Any, other: Any, variant: Mapping[str, str]) -> bool:
    """Whether two numbers are the same value, as exactly as the service tells it."""
    if not isinstance(one, int | float) or not isinstance(other, int | float):
        return bool(one == other)
    exactness = {variant["detail-values"], variant["window-values"]}
    nearest = max(NEAREST.get(each, 1e-12) for each in exactness)
    if math.isclose(one, other, rel_tol=nearest):
        return True
    return any(abs(one - other) <= STEPS.get(each, 0.0) for each in exactness)


Check = Callable[[Any, Truth, Mapping[str, str]], str]


def _latest(slug: str) -> Check:
    def wrong(result: Any, truth: Truth, variant: Mapping[str, str]) -> str:
        may_lack = variant["newest"] != "both"
        last = [row for rows in truth.tellings(slug) for row in (rows[-2:] if may_lack else rows[-1:])]
        return "" if any(alike(result, value, variant) for _, value in last) else f"{result!r}, not {last[0]}"

    return wrong


def _on(slug: str, day: date) -> Check:
    def wrong(result: Any, truth: Truth, variant: Mapping[str, str]) -> str:
        told = [[row for row in rows if row[0].date() <= day][-1] for rows in truth.tellings(slug)]
        return "" if any(alike(result, value, variant) for _, value in told) else f"{result!r}, not {told[0]}"

    return wrong


def _series(
    slug: str, first: date | None = None, last: date | None = None, count: int = 0, back_days: int = 0
) -> Check:
    def wrong(result: Any, truth: Truth, variant: Mapping[str, str]) -> str:
        start = _a_year_before(TODAY[0]) if back_days else first
        shown, problems = _dated(result), []
        for told in truth.tellings(slug):
            days = [(at.date(), value) for at, value in told]
            wanted = [row for row in days if (not start or row[0] >= start) and (not last or row[0] <= last)]
            if variant["newest"] != "both" and last is None and shown and wanted and shown[-1][0] < wanted[-1][0]:
                wanted = wanted[:-1]
            problems.append(_differ(shown, wanted[-count:] if count else wanted, variant))
        return "" if "" in problems else problems[0]

    return wrong


TODAY = [date(2026, 8, 31)]
"""The day on which cells are worked out: `-1Y` counts from it."""


def _a_year_before(day: date) -> date:
    return day.replace(year=day.year - 1)


def _dated(result: Any) -> list[tuple[date, float]]:
    assert isinstance(result, Table), result
    times, values = result.columns[0], result.columns[1]
    rows = zip(times.astype("datetime64[us]").tolist(), values.tolist(), strict=True)
    return [(_day(at), value) for at, value in rows if value is not None and not math.isnan(value)]


def _day(at: date) -> date:
    return at.date() if isinstance(at, datetime) else at


def _differ(shown: Sequence[tuple[date, float]], wanted: Sequence[tuple[date, Any]], variant: Mapping[str, str]) -> str:
    if shown == wanted:
        return ""
    if len(shown) != len(wanted):
        ends = f", {shown[0][0]} to {shown[-1][0]}" if shown else ""
        return f"{len(shown)} rows{ends}, not {len(wanted)}"
    for (at, value), (day, true) in zip(shown, wanted, strict=True):
        if at != day or not alike(value, true, variant):
            return f"{value} on {at}, not {true} on {day}"
    return ""


def _column(result: Any) -> list[Any]:
    return result.columns[0].tolist() if isinstance(result, Table) else [result]


def _list(
    of: Callable[[Truth], Sequence[Any]], *, is_sorted: bool = True
) -> Callable[[Any, Truth, Mapping[str, str]], str]:
    """A column of texts, or of numbers, one a record."""

    def wrong(result: Any, truth: Truth, variant: Mapping[str, str]) -> str:
        shown, wanted = [str(each).casefold() for each in _column(result)], [str(each).casefold() for each in of(truth)]
        if not is_sorted:
            shown, wanted = sorted(shown), sorted(wanted)
        return "" if shown == wanted else f"{len(shown)} {shown[:3]}, not {len(wanted)} {wanted[:3]}"

    return wrong


def _index(result: Any, truth: Truth, variant: Mapping[str, str]) -> str:
    value = next(each["latest"]["value"] for each in truth.indices if each["slug"] == "coin-heat")
    return "" if alike(result, value, variant) else f"{result!r}, not {value}"


def _current(result: Any, truth: Truth, variant: Mapping[str, str]) -> str:
    value = next(each["momentum_score"] for each in truth.currents if each["slug"] == "calm-or-storm")
    return "" if result == value else f"{result!r}, not {value}"


def _remaining(result: Any, truth: Truth, variant: Mapping[str, str]) -> str:
    return "" if isinstance(result, int | float) and 900_000 < result <= 1_000_000 else f"{result!r} requests left"


def _beat(record: Mapping[str, Any]) -> str:
    return (record.get("byline") or {}).get("topic_beat") or ""


def _posts_on(beat: str) -> Callable[[Any, Truth, Mapping[str, str]], str]:
    def wrong(result: Any, truth: Truth, variant: Mapping[str, str]) -> str:
        wanted = [each["title"] for each in truth.posts if _beat(each) == beat]
        shown = [each for each in _column(result) if each]
        if not shown and variant["almanac"] in ("own-beats", "empty"):
            return ""  # what this service itself answers
        return "" if shown == wanted[:20] else f"{len(shown)} posts, not {len(wanted)}"

    return wrong


END_OF_YEAR = date(2024, 12, 31)

CELLS = [
    Cell("latest value", Call("SIGNAL", ["us-10y"]), _latest("us-10y")),
    Cell("latest value, monthly", Call("SIGNAL", ["us-cpi"]), _latest("us-cpi")),
    Cell("value at the end of a year", Call("SIGNAL", ["sp-500", "value", "2024-12-31"]), _on("sp-500", END_OF_YEAR)),
    Cell("whole history", Call("SIGNAL_HISTORY", ["btc-usd", "MAX"]), _series("btc-usd")),
    Cell("whole history, monthly", Call("SIGNAL_HISTORY", ["us-cpi", "MAX"]), _series("us-cpi")),
    Cell(
        "window",
        Call("SIGNAL_HISTORY", ["eia.wti.spot", "2022-03-01", "2023-12-29"]),
        _series("eia.wti.spot", date(2022, 3, 1), date(2023, 12, 29)),
    ),
    Cell("a year back", Call("SIGNAL_HISTORY", ["fx.eur-usd", "-1Y"]), _series("fx.eur-usd", back_days=365)),
    Cell("last sixty", Call("SIGNAL_HISTORY", ["cboe.vix", "N60"]), _series("cboe.vix", count=60)),
    Cell("latest value of a long one", Call("SIGNAL", ["btc-usd"]), _latest("btc-usd")),
    Cell(
        "long window",
        Call("SIGNAL_HISTORY", ["fx.eur-usd", "2022-01-03"]),
        _series("fx.eur-usd", date(2022, 1, 3)),
    ),
    Cell("index", Call("INDEX", ["coin-heat"]), _index),
    Cell("indices", Call("INDICES", [["slug"]]), _list(lambda t: [x["slug"] for x in t.indices], is_sorted=False)),
    Cell("current", Call("CURRENT", ["calm-or-storm"]), _current),
    Cell("catalogue", Call("SIGNALS", []), _list(lambda t: [x["slug"] for x in t.catalogue], is_sorted=False)),
    Cell(
        "posts",
        Call("CODEX", [None, None, None, 50, None, ["title"]]),
        _list(lambda t: [x["title"] for x in t.posts][:50]),
    ),
    Cell("posts on a beat", Call("CODEX", [None, None, None, 20, "macro", ["title"]]), _posts_on("macro")),
    Cell(
        "wire",
        Call("WIRE", [None, None, 0, None, 40, None, None, ["headline"]]),
        _list(lambda t: [x["headline"] for x in t.wire][:40]),
    ),
    Cell(
        "wire of a ticker",
        Call("WIRE", ["CPI", None, 0, None, 100, None, None, ["headline"]]),
        _list(lambda t: [x["headline"] for x in t.wire if "CPI" in x["tickers"]][:100]),
    ),
    Cell("quota", Call("QUOTA", []), _remaining),
    Cell("no such signal", Call("SIGNAL", ["no-such.signal"]), lambda *_: "", wants_error="no signal"),
    Cell("a slash in a name", Call("SIGNAL", ["eur/usd"]), lambda *_: "", wants_error="no signal"),
]
"""Twenty-one kinds of cells over every endpoint."""
