"""Twenty-five tasks that analysts give, each as the calls that an agent makes: few and wide, or one after the other.

    python -m tests.attack.agents.tasks --data FOLDER

Whether a task is answered is decided with the data themselves: the answer has to stand in what the tools returned. The
calls one after the other are those that the same tasks take where every call knows one signal, one kind and one word.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from addin.mcp.runner import ToolFailure
from tests.attack.agents.world import Agent, agent_of, service_of

NOW = datetime(2026, 8, 18, 18, tzinfo=UTC).timestamp()
"""The evening of the last day of the data."""

FX = ("fx.usd-jpy", "fx.usd-cad", "fx.usd-chf", "fx.usd-cny", "fx.usd-inr", "fx.usd-brl")
TWELVE = [*FX, "us-cpi", "us-10y", "wb.gold", "eia.wti.spot", "cboe.vix", "shiller.cape"]

Call = tuple[str, dict[str, Any]]


class Truth:
    """The series themselves."""

    def __init__(self, data: Path) -> None:
        self._data = data

    def series(self, slug: str, start: str = "", end: str = "9") -> list[tuple[str, float]]:
        """The days and values of a signal from one day to another."""
        with (self._data / "observations" / f"{slug}.csv").open(newline="", encoding="utf-8") as stream:
            rows = [(row["observed_at"][:10], float(row["value"])) for row in csv.DictReader(stream) if row["value"]]
        return [row for row in rows if start <= row[0] <= end]

    def last(self, slug: str) -> tuple[str, float]:
        """The newest day and value."""
        return self.series(slug)[-1]


Answered = Callable[[Agent, Truth], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked, how an agent answers it with few calls, and the calls that it takes one after the other."""

    question: str
    answer: Answered
    before: Sequence[Call]


def _one(slugs: Sequence[str], tool: str = "get_signal", **more: Any) -> list[Call]:
    return [(tool, {"slug": slug, **more}) for slug in slugs]


async def latest_of_twelve(agent: Agent, truth: Truth) -> bool:
    found = (await agent.ask("get_signal", slugs=TWELVE))["signals"]
    return [(each["slug"], each["observed_at"], each["value"]) for each in found] == [
        (slug, *truth.last(slug)) for slug in TWELVE
    ] and all(each["unit"] and each["source"] for each in found)


async def change_over_a_year(agent: Agent, truth: Truth) -> bool:
    found = await agent.ask("get_observations", slug="WTI", start="-1Y", statistics=True, limit=1)
    rows = truth.series("eia.wti.spot", "2025-08-18")
    return isclose(found["statistics"][0]["change"], rows[-1][1] - rows[0][1], abs_tol=1e-9)


async def inflation(agent: Agent, truth: Truth) -> bool:
    found = await agent.ask("get_observations", slug="us-cpi", transform="yoy", limit=12)
    values = dict(truth.series("us-cpi"))
    expected = values["2026-05-01"] / values["2025-05-01"] - 1
    return len(found["rows"]) == 12 and isclose(found["rows"][-1][1], expected, rel_tol=1e-9) and "meaning" in found


async def correlations(agent: Agent, truth: Truth) -> bool:
    slugs = ["eia.wti.spot", "wb.gold", "us-cpi", "us-10y"]
    found = await agent.ask(
        "get_observations", slugs=slugs, start="2015-01-01", freq="M", transform="pct", statistics=True, limit=1
    )
    matrix = found["correlation"]["matrix"]
    return len(matrix) == 4 and all(isclose(matrix[n][n], 1) for n in range(4)) and found["correlation"]["rows"] > 100


async def on_one_base(agent: Agent, truth: Truth) -> bool:
    found = await agent.ask(
        "get_observations", slugs=list(FX), start="2020-01-01", freq="M", transform="index(100)", limit=1
    )
    bases = {each["base"]["date"] for each in found["series"]}
    last = truth.series("fx.usd-jpy", "2020-01-01")
    return bases == {"2020-01-31"} and any(
        isclose(value or 0, 100 * last[-1][1] / last[0][1]) for value in found["rows"][-1][1:]
    )


async def z_score(agent: Agent, truth: Truth) -> bool:
    found = await agent.ask("get_observations", slug="VIX", start="-5Y", statistics=True, limit=1)
    values = [value for _, value in truth.series("cboe.vix", "2021-08-18")]
    mean = sum(values) / len(values)
    spread = (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5
    return isclose(found["statistics"][0]["zscore"], (values[-1] - mean) / spread, rel_tol=1e-6)


async def gold(agent: Agent, truth: Truth) -> bool:
    found = await agent.ask("list_signals", search="what is the price of gold?", limit=3)
    latest = await agent.ask("get_signal", slug=found["signals"][0]["slug"], history=0)
    return (latest["observed_at"], latest["value"]) == truth.last("wb.gold")


async def nothing_there(agent: Agent, _: Truth) -> bool:
    found = await agent.ask("list_signals", search="bitcoin")
    return found["total"] == 0 and bool(found["suggestions"])


async def index_parts(agent: Agent, truth: Truth) -> bool:
    found = await agent.ask("list_indices", slug="pressure-gauge", fields=["value", "components"])
    parts = [part["signal_slug"] for part in found["indices"][0]["components"]]
    latest = (await agent.ask("get_signal", slugs=parts))["signals"]
    return [each["value"] for each in latest] == [truth.last(slug)[1] for slug in parts]


async def beliefs(agent: Agent, _: Truth) -> bool:
    found = await agent.ask("list_currents", order_by="belief_score", fields=["slug", "belief_score"])
    return next(each["slug"] for each in found["currents"]) == "calm-or-storm"


async def brief(agent: Agent, truth: Truth) -> bool:
    latest = await agent.ask("get_signal", slugs=["WTI", "VIX", "us-cpi", "us-10y", "wb.gold"])
    news = await agent.ask("list_wire", since="-7D", min_importance=10)
    posts = await agent.ask("list_posts", since="-14D")
    told = {each["slug"]: each["value"] for each in latest["signals"]}
    return told["eia.wti.spot"] == truth.last("eia.wti.spot")[1] and bool(news["items"]) and posts["total"] > 0


async def explained_move(agent: Agent, truth: Truth) -> bool:
    moved = await agent.ask(
        "get_observations", slug="VIX", start="2026-06-01", end="2026-06-12", statistics=True, transform="none"
    )
    news = await agent.ask("list_wire", signal="VIX", since="2026-06-01", until="2026-06-12")
    values = truth.series("cboe.vix", "2026-06-01", "2026-06-12")
    top = max(values, key=lambda row: row[1])
    return moved["statistics"][0]["max_date"] == top[0] and any(item["kind"] == "breaking" for item in news["items"])


async def several_kinds(agent: Agent, _: Truth) -> bool:
    found = await agent.ask(
        "list_wire", kind=["news", "filing", "breaking"], since="2026-04-01", fields=["kind", "headline"]
    )
    return bool(found["items"]) and {item["kind"] for item in found["items"]} == {"breaking"}


async def several_tickers(agent: Agent, _: Truth) -> bool:
    found = await agent.ask("list_wire", ticker=["$cpi", "gold", "UST10Y"], since="2026-04-01", fields=["tickers"])
    return {name for item in found["items"] for name in item["tickers"]} == {"CPI", "GOLD", "UST10Y"}


async def cited(agent: Agent, _: Truth) -> bool:
    (post,) = (await agent.ask("list_posts", slug="what-moved-060"))["posts"]
    return all(each["headline"] and each["primary_url"] for each in post["citations"])


async def posts_about(agent: Agent, _: Truth) -> bool:
    return bool((await agent.ask("list_posts", text="VIX", limit=20, fields=["slug", "title"]))["total"] == 10)


async def posts_by(agent: Agent, _: Truth) -> bool:
    found = await agent.ask("list_posts", handle="@Meridian", story_type=["brief", "report"], fields=["slug"])
    return bool(found["total"] > 0)


async def extremes(agent: Agent, truth: Truth) -> bool:
    found = await agent.ask(
        "get_observations", slug="WTI", start="2008-01-01", end="2008-12-31", statistics=True, limit=1
    )
    rows, told = truth.series("eia.wti.spot", "2008-01-01", "2008-12-31"), found["statistics"][0]
    low, high = min(rows, key=lambda row: row[1]), max(rows, key=lambda row: row[1])
    return (told["min_date"], told["min"], told["max_date"], told["max"]) == (*low, *high)


async def negative_price(agent: Agent, _: Truth) -> bool:
    found = await agent.ask("get_observations", slug="WTI", start="2020-04-17", end="2020-04-22")
    return ["2020-04-20", -36.98] in found["rows"]


async def monthly_means(agent: Agent, truth: Truth) -> bool:
    found = await agent.ask("get_observations", slug="WTI", freq="M", agg="mean", limit=24)
    values = [value for _, value in truth.series("eia.wti.spot", "2026-07-01", "2026-07-31")]
    means = dict(map(tuple, found["rows"]))
    return isclose(means["2026-07-31"], sum(values) / len(values)) and found["series"][0]["partial"] == ["2026-08-18"]


async def quarters(agent: Agent, _: Truth) -> bool:
    found = await agent.ask("get_observations", slug="fx.usd-jpy", freq="Q", agg="mean", start="-10Y")
    return found["total"] in (40, 41, 42) and all(one[0] < two[0] for one, two in pairwise(found["rows"]))


async def priced(agent: Agent, _: Truth) -> bool:
    wide = {"tool": "get_observations", "arguments": {"slugs": TWELVE, "start": "-10Y"}}
    found = await agent.ask("get_status", slugs=TWELVE, calls=[wide])
    return found["cost"]["at_least"] <= 12 * 4 and found["requests"] == 0 and len(found["cached"]) == 12


async def left(agent: Agent, _: Truth) -> bool:
    found = await agent.ask("get_status")
    return found["quota"]["cap"] == 50_000 and found["requests"] == 0


async def outperformed(agent: Agent, truth: Truth) -> bool:
    found = await agent.ask(
        "get_observations", slugs=["wb.gold", "eia.wti.spot"], start="2022-01-01", freq="M", statistics=True, limit=1
    )
    ratios = {each["slug"]: each["last"] / each["first"] for each in found["statistics"]}
    rows = truth.series("wb.gold", "2022-01-01")
    return isclose(ratios["wb.gold"], rows[-1][1] / rows[0][1]) and ratios["wb.gold"] > ratios["eia.wti.spot"]


async def first_dates(agent: Agent, truth: Truth) -> bool:
    found = await agent.ask("get_observations", slugs=list(FX), start="MAX", limit=1)
    return [each["first_date"] for each in found["series"]] == [truth.series(slug)[0][0] for slug in FX]


WINDOW = {"start": "2015-01-01", "freq": "M", "transform": "pct", "limit": 200}

TASKS = (
    Task("A table of twelve signals", latest_of_twelve, _one(TWELVE)),
    Task(
        "How much dearer is oil than a year ago?",
        change_over_a_year,
        [*_one(["WTI"]), ("get_observations", {"slug": "WTI", "end": "-1Y", "limit": 1})],
    ),
    Task("Inflation of the last twelve months", inflation, _one(["us-cpi"], "get_observations", transform="yoy")),
    Task(
        "What moves with what since 2015?",
        correlations,
        _one(["eia.wti.spot", "wb.gold", "us-cpi", "us-10y"], "get_observations", **WINDOW),
    ),
    Task(
        "Six currencies on one base since 2020",
        on_one_base,
        _one(FX, "get_observations", start="2020-01-01", freq="M", transform="index(100)"),
    ),
    Task(
        "Is the VIX high for its last five years?",
        z_score,
        [("get_observations", {"slug": "VIX", "start": "-5Y", "freq": freq, "limit": 300}) for freq in ("W", "M", "Q")],
    ),
    Task(
        "What does gold cost?",
        gold,
        [("list_signals", {"search": word}) for word in ("gold price", "bullion", "gold")] + _one(["wb.gold"]),
    ),
    Task(
        "Is there anything on bitcoin?",
        nothing_there,
        [("list_signals", {"search": word}) for word in ("bitcoin", "crypto", "btc")],
    ),
    Task(
        "What is the pressure gauge made of, and where do its parts stand?",
        index_parts,
        [
            ("list_indices", {"slug": "pressure-gauge", "fields": ["components"]}),
            *_one(["eia.wti.spot", "wb.gold", "us-cpi", "us-10y"]),
        ],
    ),
    Task(
        "Which current do people believe in most?",
        beliefs,
        [("list_currents", {"sort": "belief_score"}), ("list_currents", {"sort": "-belief_score"})],
    ),
    Task(
        "The morning's brief",
        brief,
        [*_one(["WTI", "VIX", "us-cpi", "us-10y", "wb.gold"]), ("list_wire", {"since": "-7D"}), ("list_posts", {})],
    ),
    Task(
        "Why did the VIX jump in June?",
        explained_move,
        [
            ("get_observations", {"slug": "VIX", "start": "2026-06-01", "end": "2026-06-12"}),
            ("get_signal", {"slug": "VIX"}),
            ("list_wire", {"signal": "VIX", "since": "2026-06-01"}),
            ("list_wire", {"ticker": "VIX", "since": "2026-06-01", "kind": "breaking"}),
        ],
    ),
    Task(
        "News, filings and breaking items since April",
        several_kinds,
        [("list_wire", {"kind": kind, "since": "2026-04-01"}) for kind in ("news", "filing", "breaking")],
    ),
    Task(
        "Items on prices, gold and yields",
        several_tickers,
        [("list_wire", {"ticker": name, "since": "2026-04-01"}) for name in ("CPI", "GOLD", "UST10Y")],
    ),
    Task(
        "What does the last post cite?",
        cited,
        [("list_posts", {"slug": "what-moved-060"}), *(("list_wire", {"limit": 100, "offset": n}) for n in (0, 100))],
    ),
    Task(
        "Which posts speak of the VIX?",
        posts_about,
        [("list_posts", {"limit": 60}), *(("list_posts", {"slug": f"what-moved-{n:03}"}) for n in range(51, 60))],
    ),
    Task(
        "Meridian's briefs and reports",
        posts_by,
        [("list_posts", {"handle": "meridian", "story_type": kind}) for kind in ("brief", "report")],
    ),
    Task(
        "Oil's highest and lowest price in 2008, and when",
        extremes,
        [
            ("get_observations", {"slug": "WTI", "start": "2008-01-01", "end": "2008-12-31", "limit": 300}),
            *(("get_observations", {"slug": "WTI", "start": "2008-01-01", "end": "2008-12-31", "freq": "Y", "agg": agg})
              for agg in ("min", "max")),
        ],
    ),
    Task(
        "When was oil below zero?",
        negative_price,
        [("get_observations", {"slug": "WTI", "start": "2020-04-17", "end": "2020-04-22"})],
    ),
    Task(
        "Oil by months, the last two years",
        monthly_means,
        [("get_observations", {"slug": "WTI", "freq": "M", "agg": "mean", "limit": 24})],
    ),
    Task(
        "The yen by quarters, ten years",
        quarters,
        [("get_observations", {"slug": "fx.usd-jpy", "freq": "Q", "agg": "mean", "start": "-10Y"})],
    ),
    Task("What would ten years of twelve signals cost?", priced, _one(TWELVE[:1])),
    Task("What is left of the month?", left, [("list_indices", {"limit": 1})]),
    Task(
        "Did gold do better than oil since 2022?",
        outperformed,
        _one(["wb.gold", "eia.wti.spot"], "get_observations", start="2022-01-01", freq="M"),
    ),
    Task("Since when are these currencies known?", first_dates, _one(FX, "get_observations", start="MAX", freq="Y")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Day:
    """What all tasks together took."""

    answered: Sequence[str]
    not_answered: Sequence[str]
    calls: int
    bytes: int
    calls_before: int
    bytes_before: int
    told: int
    counted: int


async def day(data: Path, folder: Path) -> Day:
    """Do all tasks, each way with a cache of its own."""
    truth, answered, not_answered = Truth(data), list[str](), list[str]()
    with service_of(data, folder) as service:
        async with agent_of(service, clock=lambda: NOW) as agent:
            for task in TASKS:
                try:
                    is_answered = await task.answer(agent, truth)
                except (ToolFailure, KeyError, IndexError) as error:
                    is_answered = False
                    sys.stdout.write(f"{task.question}: {error!r}\n")
                (answered if is_answered else not_answered).append(task.question)
            counted = service.running.request_count
        async with agent_of(service, clock=lambda: NOW) as before:
            for tool, arguments in (call for task in TASKS for call in task.before):
                with suppress(ToolFailure):
                    await before.ask(tool, **arguments)
    return Day(answered, not_answered, agent.calls, agent.bytes, before.calls, before.bytes, agent.told, counted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the real series")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        found = asyncio.run(day(given.data, Path(folder)))
    sys.stdout.write(
        f"answered {len(found.answered)} of {len(TASKS)}; not: {', '.join(found.not_answered) or 'none'}\n"
    )
    sys.stdout.write(f"calls {found.calls} (one after the other {found.calls_before}), ")
    sys.stdout.write(f"bytes {found.bytes:,} ({found.bytes_before:,}), told {found.told}, counted {found.counted}\n")


if __name__ == "__main__":
    main()
