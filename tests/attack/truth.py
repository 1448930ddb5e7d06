"""A service that changes, fails and breaks off, read by several clients on one store: what they show is checked.

    python -m tests.attack.truth --steps 100000 --store sqlite

Every value the world ever had is unique, so that each one shown tells when and for which key it was true.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from dataservice.client import AsyncClient, HistoryResource, SignalDetail, SignalResource
from dataservice.errors import DataServiceError
from dataservice.observations import Observations
from dataservice.stores import MemoryStore, SqliteStore, Store
from dataservice.stores.redis import RedisStore
from tests.dataservice.client.clocks import Clock
from tests.dataservice.client.scripted import quota

KEYS = tuple(f"ds_{digit * 40}" for digit in "12")
SLUGS = ("daily", "other.daily")
FIRST = date(2022, 1, 1)
MODES = ("fine", "fine", "fine", "500", "404", "html", "no date", "big", "lost", "breaks off", "429")


@dataclass
class Series:
    """One signal of one key: its observations, and every value that each day ever had."""

    values: dict[date, float]
    ever: dict[date, set[float]] = field(default_factory=dict)
    touched_at: dict[date, float] = field(default_factory=dict)
    """When a day was last revised, dropped or published."""

    def put(self, day: date, value: float | None, now: float) -> None:
        if value is None:
            self.values.pop(day, None)
        else:
            self.values[day] = value
            self.ever.setdefault(day, set()).add(value)
        self.touched_at[day] = now


class World:
    """The service: it says what the series are now, or fails in the mode that is on."""

    def __init__(self, chance: random.Random, clock: Clock) -> None:
        self.chance, self.clock = chance, clock
        self.mode = "fine"
        self.requests = 0
        self._numbers = count(1)
        self.series = {(key, slug): self._begin() for key in KEYS for slug in SLUGS}

    def _begin(self) -> Series:
        series = Series({})
        last = datetime.fromtimestamp(self.clock.now, UTC).date()
        for n in range((last - FIRST).days):
            series.put(FIRST + timedelta(days=n), float(next(self._numbers)), 0.0)
        return series

    def change(self) -> None:
        """Publish, revise anywhere, or drop."""
        series = self.chance.choice(list(self.series.values()))
        days = sorted(series.values)
        match self.chance.choice(("publish", "revise", "revise", "drop")):
            case "publish":
                today = datetime.fromtimestamp(self.clock.now, UTC).date()
                for n in range(1, 1 + self.chance.choice((1, 1, 5, 400))):
                    day = days[-1] + timedelta(days=n)
                    if day < today:
                        series.put(day, float(next(self._numbers)), self.clock.now)
            case "revise":
                for day in self.chance.sample(days[-self.chance.choice((1, 30, 365, len(days))) :], 1):
                    series.put(day, float(next(self._numbers)), self.clock.now)
            case _ if len(days) > 800:
                series.put(self.chance.choice(days[-400:]), None, self.clock.now)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        key = request.headers["authorization"].removeprefix("Bearer ")
        parts = request.url.path.split("/")
        series = self.series[key, parts[3]]
        mode = self.mode
        if mode == "breaks off":
            mode = "fine" if self.requests % 2 else "500"
        rows = [{"observed_at": f"{day}T00:00:00Z", "value": series.values[day]} for day in sorted(series.values)]
        if len(parts) > 4:
            first, last = request.url.params.get("start", ""), request.url.params.get("end", "9999") + "T99"
            data: Any = [row for row in rows if first <= row["observed_at"] <= last][:1_000]
        else:
            data = {"slug": parts[3], "latest": rows[-1], "history": rows[-365:]}
        match mode:
            case "500" | "404":
                return httpx.Response(int(mode), json={"error": "no"}, headers=quota())
            case "429":
                return httpx.Response(429, json={"error": "slower"}, headers={**quota(), "retry-after": "30"})
            case "html":
                return httpx.Response(200, text="<html>", headers=quota())
            case "no date":
                bad = [{"observed_at": "today", "value": 1}]
                data = bad if len(parts) > 4 else {**data, "history": bad}
            case "big":
                late = {"observed_at": "0001-01-01T00:00:00+14:00", "value": 2}
                data = [*data[:-1], late] if len(parts) > 4 else {**data, "n": 10**40}
            case "lost":
                raise httpx.ReadError("lost")
        return httpx.Response(200, json={"data": data}, headers=quota())


@dataclass
class Check:
    """What was shown, and what was wrong with it."""

    world: World
    shown: set[tuple[str, Any]] = field(default_factory=set)
    figures: Counter[str] = field(default_factory=Counter)
    first_wrong: str = ""
    where: str = ""
    """The seed, the step and the client, with which what is wrong comes up again."""

    def wrong(self, kind: str, text: str) -> None:
        self.figures[kind] += 1
        self.first_wrong = self.first_wrong or f"{kind} at {self.where}: {text}"

    def history(self, key: str, resource: HistoryResource, found: Observations, fetched_at: float) -> None:
        """Each value was once true for this key, and nothing is missing that was there all the time."""
        series = self.world.series[key, resource.slug]
        found = found.between(resource.start, resource.end)
        told = {moment.date(): value for moment, value in found}
        for day, value in told.items():
            if value not in series.ever.get(day, ()):
                self.wrong("wrong", f"{day} is {value}, never {series.ever.get(day)}")
        first, last = resource.start or date.min, resource.end or date.max
        for day in series.values:
            if first <= day <= last and day not in told and series.touched_at[day] <= fetched_at - 60:
                self.wrong("part", f"{resource}: {day} is missing, fetched at {fetched_at}, now {self.world.clock.now}")
                break

    def agree(self, values: dict[date, dict[float, list[Any]]], asked: list[Any]) -> None:
        """No observation has two values at one time: `values` holds the reads that showed each."""
        for day, seen in values.items():
            if len(seen) > 1:
                self.wrong("two values", f"{day}: {seen}, read in this order: {asked}, now {self.world.clock.now}")
                return


class Attack:
    """Several clients, each as a process of its own, on one store of a kind."""

    def __init__(self, kind: str, seed: int, redis_url: str, folder: Path) -> None:
        self.chance, self.clock, self._seed = random.Random(seed), Clock(), seed
        self.check = Check(World(self.chance, self.clock))
        self.stack = AsyncExitStack()
        self._kind, self._redis_url, self._folder = kind, redis_url, folder
        self._shared = MemoryStore(clock=self.clock, max_bytes=2**30)
        self._clients: dict[tuple[str, int], AsyncClient] = {}

    async def step(self, number: int) -> None:
        """One random step, the one of this `number`."""
        who = self.chance.choice(KEYS), self.chance.randrange(3)
        action = self.chance.choice(("read", "read", "read", "read", "change", "wait", "mode", "restart", "refresh"))
        self.check.figures[action] += 1
        self.check.where = f"seed {self._seed}, step {number}, client {who[0][3]}/{who[1]}, {action}"
        match action:
            case "read":
                await self._read(*who)
            case "change":
                self.check.world.change()
            case "wait":
                self.clock.advance(self.chance.choice((1, 60, 901, 3_600, 86_400, 86_400 * 8, 86_400 * 31)))
            case "mode":
                self.check.world.mode = self.chance.choice(MODES)
            case "restart" if who in self._clients:
                await self._clients.pop(who).aclose()
            case "refresh":
                await self._client(*who).refresh(force=self.chance.random() < 0.5)

    def _store(self) -> Store:
        match self._kind:
            case "sqlite":
                return SqliteStore(self._folder / "shelf.sqlite", clock=self.clock)
            case "redis":
                return RedisStore.from_url(self._redis_url, prefix=f"{self._folder}:")
        return self._shared

    def _client(self, key: str, number: int) -> AsyncClient:
        if (key, number) not in self._clients:
            store = self._store()
            self.stack.push_async_callback(store.aclose)
            transport = httpx.MockTransport(self.check.world.answer)
            client = AsyncClient(
                "https://data.example",
                key,
                store=store,
                clock=self.clock,
                sleep=self.clock.sleep,
                jitter=lambda: 0.5,
                transport=transport,
            )
            self.stack.push_async_callback(client.aclose)
            self._clients[key, number] = client
        return self._clients[key, number]

    async def _read(self, key: str, number: int) -> None:
        """Read one signal in several ways at one time, and compare."""
        client, slug = self._client(key, number), self.chance.choice(SLUGS)
        today = datetime.fromtimestamp(self.clock.now, UTC).date()
        resources: list[Any] = [
            SignalResource(slug),
            HistoryResource(slug, today - timedelta(days=self.chance.choice((20, 200, 360, 900)))),
            HistoryResource(slug),
            HistoryResource(slug, date(2023, 1, 1), date(2023, 6, 30)),
            HistoryResource(slug, date(2023, 3, 1)),
        ]
        asked = self.chance.sample(resources, self.chance.randint(1, 3))
        for resource in asked:
            await self._read_one(client, key, resource)
        values: dict[date, dict[float, list[Any]]] = {}
        for resource in asked:  # what is known after all this is what cells show
            last = await client.last_known(resource)
            for day, value in shown_by(last.value) if last else ():
                values.setdefault(day, {}).setdefault(value, []).append((resource, last.fetched_at, last.source.value))
        self.check.agree(values, asked)

    async def _read_one(self, client: AsyncClient, key: str, resource: Any) -> None:
        check, clock = self.check, self.clock
        fixed = isinstance(resource, SignalResource) or resource.start is None or resource.start.year == 2023
        try:
            answer = await client.read(resource)
        except DataServiceError:
            if (key, resource) in check.shown:
                check.wrong("lost", f"{resource} in mode {check.world.mode}")
            return
        if fixed:
            check.shown.add((key, resource))
        if answer.fresh_until - clock.now > 900.001 and answer.stale_because is None:
            check.wrong("freshness", f"{resource}: {answer.fresh_until - clock.now}")
        if isinstance(resource, HistoryResource):
            check.history(key, resource, answer.value, answer.fetched_at)


def shown_by(value: Any) -> Iterator[tuple[date, float]]:
    """Every observation in an answer, and the latest one of a detail."""
    if isinstance(value, SignalDetail):
        if value.latest is not None and value.latest.value is not None:
            yield date.fromisoformat(value.latest.observed_at[:10]), value.latest.value
        value = value.history
    for moment, number in value:
        yield moment.date(), number


async def attack(steps: int, kind: str, seed: int, redis_url: str = "") -> Check:
    """Run `steps` random steps; the figures. Any exception that is not the client's own ends it."""
    with tempfile.TemporaryDirectory() as folder:
        attack = Attack(kind, seed, redis_url, Path(folder))
        async with attack.stack:
            for number in range(steps):
                await attack.step(number)
    attack.check.figures["requests"] = attack.check.world.requests
    return attack.check


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--store", choices=("memory", "sqlite", "redis"), default="memory")
    parser.add_argument("--redis-url", default="redis://127.0.0.1:6379/0")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.monotonic()
    check = asyncio.run(attack(given.steps, given.store, given.seed, given.redis_url))
    print(dict(check.figures), check.first_wrong, f"{time.monotonic() - began:.0f} s")  # noqa: T201


if __name__ == "__main__":
    main()
