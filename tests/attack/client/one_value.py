"""A signal is revised again and again; each observation has one value at a time, in all functions and hosts.

    python -m tests.attack.client.one_value --revisions 10000

The looks lie in the past, a day apart, and end today: so hosts that only know the real time ask of the same archive.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from addin.backend.serving import listen, running
from addin.calc.soffice import find_soffice
from addin.config.settings import Settings
from addin.errors import AddinError
from addin.mcp.server import server_of
from addin.workbook.refresh.refresh import refresh_book
from dataservice.client import AsyncClient, HistoryResource, SignalResource
from dataservice.stores import SqliteStore
from tests.addin.backends import backend_of
from tests.addin.calc.books import calculated
from tests.addin.mcp.agents import Client, result_of
from tests.addin.workbook.books import make_book, values
from tests.attack.parts.told import Told, conclude
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import quota
from udfs.cells import Grid, cells_of
from udfs.engine.session import Call, Session
from udfs.functions.spark import spark

KEY = "ds_" + 40 * "5"
LOOKS = 20
ROWS = 700
"""Days of each series: more than a detail holds, and less than a page."""
SLUGS = ("one.daily", "two.daily")

Values = dict[date, float]


class World:
    """A service over real HTTP, whose series are revised, and what they were at each look."""

    def __init__(self, chance: random.Random, today: date) -> None:
        self.chance, self.key = chance, KEY
        self.url = ""
        self.series: dict[str, Values] = {
            slug: {today - timedelta(days=n): round(chance.random(), 6) for n in range(1, ROWS)} for slug in SLUGS
        }
        self.known: dict[date, dict[str, Values]] = {}

    def revise(self, count: int) -> None:
        """Give so many observations another value, of no more digits than every host stores."""
        for _ in range(count):
            values = self.series[self.chance.choice(SLUGS)]
            day = self.chance.choice(list(values))
            values[day] = round(self.chance.random(), 6)
        for values in self.series.values():  # a look at the newest days finds it, and all is looked at again
            values[sorted(values)[-3]] = round(self.chance.random(), 6)

    @contextmanager
    def served(self) -> Iterator[None]:
        routes = [
            Route("/v1/signals", self._catalogue),
            Route("/v1/signals/{slug}", self._detail),
            Route("/v1/signals/{slug}/observations", self._observations),
        ]
        with running(Starlette(routes=routes), listen("127.0.0.1", 0)) as self.url:
            yield

    async def _catalogue(self, _: Request) -> JSONResponse:
        return JSONResponse({"data": [{"slug": slug, "name": slug} for slug in SLUGS]}, headers=quota())

    async def _detail(self, request: Request) -> JSONResponse:
        rows = self._rows(request)
        slug = request.path_params["slug"]
        data = {"slug": slug, "name": slug, "latest": rows[-1], "history": rows[-365:]}
        return JSONResponse({"data": data}, headers=quota())

    async def _observations(self, request: Request) -> JSONResponse:
        first, last = request.query_params.get("start", ""), request.query_params.get("end", "9999") + "T99"
        data = [row for row in self._rows(request) if first <= row["observed_at"] <= last]
        return JSONResponse({"data": data}, headers=quota())

    def _rows(self, request: Request) -> list[dict[str, Any]]:
        values = self.series[request.path_params["slug"]]
        return [{"observed_at": f"{day}T00:00:00Z", "value": values[day]} for day in sorted(values)]


@dataclass
class Check:
    """What was compared, and what was wrong."""

    figures: Counter[str] = field(default_factory=Counter)
    first_wrong: str = ""

    def equal(self, what: str, told: Any, true: Any) -> None:
        self.figures[what.split()[0]] += 1
        if told != true:
            self.figures["wrong"] += 1
            self.first_wrong = self.first_wrong or f"{what}: {told!r} instead of {true!r}"


@dataclass(frozen=True)
class Question:
    """One observation of one signal, as it was known on a day; today is the present."""

    slug: str
    day: date
    as_of: date
    today: date

    @property
    def options(self) -> str:
        return "" if self.as_of == self.today else f"asof={self.as_of}"

    @property
    def signal(self) -> list[Any]:
        return [self.slug, "value", str(self.day), self.options]

    @property
    def formula(self) -> str:
        return f'DS.SIGNAL("{self.slug}","value","{self.day}","{self.options}")'


async def attack(revisions: int, seed: int, *, samples: int = 40, with_calc: bool = True) -> Check:
    """Revise so often in all, and then compare `samples` observations at several times everywhere."""
    chance, check = random.Random(seed), Check()
    now = time.time()
    today = datetime.fromtimestamp(now, UTC).date()
    world, clock = World(chance, today), Clock(now - LOOKS * 86_400)
    with world.served(), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = SqliteStore(folder / "cache" / "shelf-1.sqlite", clock=clock)
        async with AsyncClient(world.url, KEY, store=store, clock=clock) as client:
            session = Session(client, clock=clock)
            for number in range(LOOKS):
                world.revise(revisions // LOOKS)
                clock.now = now - (LOOKS - 1 - number) * 86_400
                await client.refresh(force=True)
                for slug in SLUGS:
                    await client.read(chance.choice((SignalResource(slug), HistoryResource(slug))))
                    await client.refresh(force=True)
                    await client.read(HistoryResource(slug))
                world.known[datetime.fromtimestamp(clock.now, UTC).date()] = {
                    slug: dict(values) for slug, values in world.series.items()
                }
            asked = [_question(chance, world, today) for _ in range(samples)]
            for question in asked:
                await _in_functions(session, world, question, check)
            await _in_a_workbook(session, world, asked, folder, check)
        await store.aclose()
        await _in_an_agent(world, asked, folder, check)
        if with_calc and _has_calc():
            await asyncio.to_thread(_in_calc, world, asked, folder, check)
    return check


def _question(chance: random.Random, world: World, today: date) -> Question:
    slug = chance.choice(SLUGS)
    return Question(slug, chance.choice(list(world.series[slug])), chance.choice([today, *world.known]), today)


def _true(world: World, question: Question) -> float:
    return world.known[question.as_of][question.slug][question.day]


async def _in_functions(session: Session, world: World, question: Question, check: Check) -> None:
    slug, day, options = question.slug, question.day, question.options
    ten_before = str(day - timedelta(days=10))
    calls = [
        Call("SIGNAL", question.signal),
        Call("SIGNAL_HISTORY", [slug, str(day), str(day), options]),
        Call("SIGNAL_HISTORY", [slug, ten_before, str(day), options]),
        Call("SIGNAL_HISTORY", [slug, "MAX", None, options]),
        Call("SPARK", [slug, "MAX", ROWS // 2, options]),
    ]
    outcomes = [cells_of(outcome.result) for outcome in await session.answer(calls)]
    true = _true(world, question)
    check.equal(f"SIGNAL {question}", outcomes[0], true)
    for call, shown in zip(calls[1:4], outcomes[1:4], strict=True):
        rows = dict(list(shown.rows())[1:]) if isinstance(shown, Grid) else {}
        check.equal(f"SIGNAL_HISTORY {call.args}", rows.get(day), true)
    known = world.known[question.as_of][slug]
    values = [known[each] for each in sorted(known) if each <= question.as_of]  # days to come are not shown
    groups = min(ROWS // 2, len(values))
    ends = [(n + 1) * len(values) // groups - 1 for n in range(groups)]
    check.equal(f"SPARK {question}", outcomes[4], spark(np.array([values[end] for end in ends])))


async def _in_a_workbook(session: Session, world: World, asked: list[Question], folder: Path, check: Check) -> None:
    cells = {}
    for row, question in enumerate(asked, 1):
        formula = question.formula.replace("DS.", "_xldudf_DS_")
        cells[f"A{row}"] = (f"A{row}:A{row}", f"={formula}")
    book = make_book(folder / "book.xlsx", cells)
    await refresh_book(session, book, folder / "out.xlsx")
    shown = values(folder / "out.xlsx", "Sheet1", *cells)
    for question, told in zip(asked, shown, strict=True):
        check.equal(f"workbook {question}", told, _true(world, question))


async def _in_an_agent(world: World, asked: list[Question], folder: Path, check: Check) -> None:
    os.environ["DATA_SERVICE_API_KEY"] = KEY
    try:
        settings = Settings(url=world.url, cache_dir=folder / "cache")
        async with Client(server_of(settings)) as agent:
            for question in asked:
                day = str(question.day)
                as_of = {} if question.as_of == question.today else {"as_of": str(question.as_of)}
                found = await result_of(agent, "get_observations", slug=question.slug, start=day, end=day, **as_of)
                check.equal(f"agent{'-as-of' * bool(as_of)} {question}", found["rows"], [[day, _true(world, question)]])
    finally:
        del os.environ["DATA_SERVICE_API_KEY"]


def _has_calc() -> bool:
    try:
        find_soffice()
    except AddinError:
        return False
    return True


def _in_calc(world: World, asked: list[Question], folder: Path, check: Check) -> None:
    with backend_of(world, folder) as backend:  # type: ignore[arg-type]  # it needs an address and a key
        sheet = {f"A{row}": f"={question.formula}" for row, question in enumerate(asked, 1)}
        shown = calculated(folder, {"S": sheet}, backend.url)["S"]
    for question, (told, *_) in zip(asked, shown, strict=True):
        check.equal(f"calc {question}", told, _true(world, question))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--revisions", type=int, default=10_000)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.monotonic()
    check = asyncio.run(attack(given.revisions, given.seed, samples=given.samples))
    print(json.dumps(dict(check.figures)), check.first_wrong, f"{time.monotonic() - began:.0f} s")  # noqa: T201
    conclude(Told(given.revisions, wrong=check.figures["wrong"]))


if __name__ == "__main__":
    main()
