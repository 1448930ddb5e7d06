"""A service that revises, publishes late and takes back, looked at now and then: what was known when is checked.

    python -m tests.attack.client.vintages --questions 100000 --store sqlite

The truth is kept beside it from the answers that went out, day by day. It knows nothing of archives. Caches are
evicted.
With an even seed the clock is also set back and forward within a day: then a look comes after those before it, whatever
the clock says, and the time of a look is as uncertain as the clock. With an odd one every time has to be exact.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import tempfile
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pandas as pd

from dataservice.client import AsyncClient, HistoryResource, SignalResource
from dataservice.client.cache.answer import DEFAULT_TTL_S
from dataservice.client.cache.recent import is_whole
from dataservice.client.contract.completeness.evidence import Evidence
from dataservice.client.contract.windows import utc_day
from dataservice.errors import DataServiceError, NoVintageError
from dataservice.observations import Observations
from tests.attack.parts.shared_store import SharedStore
from tests.attack.parts.told import Told, conclude
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import quota
from tests.dataservice.stores.stores import redis_server
from udfs.cells import CellError
from udfs.engine.session import Call, Session

EVIDENCE = Evidence(start_included=True, dense_detail=True, dense_rows=6_000)
"""So that no client asks for a day more before a window, which it would not look at, or doubts an uneven rhythm."""

RARE = ("restart", "fail", "clock", "clock", "evict")
KEYS = tuple(f"ds_{digit * 40}" for digit in "12")
SLUGS = ("daily", "monthly")
ORIGIN = date(2021, 1, 1)
"""The first day that is told apart: it stands for all earlier ones, and has no observation."""
DAYS = 6_000
"""The last of these stands for all later ones."""
FIRST = 30
"""The first day with an observation: so that no series spans just five or ten years, to which services cut windows."""
GONE = "gone"
EITHER = "detail or window"
NO_VALUE = {None, GONE}
"""A row without a value in place of none is the same (`docs/contract.md`)."""
ROUNDED_S = 1e-5
"""What is lost where times are rounded, and where two looks at one moment are told apart."""
STEPS_S = (-3_600.0, -60.0, -4.0, -0.5, 0.5, 60.0)
"""By how much the clock is set: some of it is noticed, some not."""
LITTLE_MEMORY = 40_000
"""Bytes for answers of a client that cannot hold both signals."""


@dataclass
class State:
    """What an observation was known to be since a look, and the last look before that one.

    `source` was the first to tell it, a detail or a window, or `EITHER`. As long as not `is_sure` it may be left out of
    the changes: only the other source had told otherwise before, and does not tell it yet.
    """

    since: float
    value: Any
    last_look: float
    source: str
    is_sure: bool

    @property
    def shown(self) -> Any:
        """Its value in a table, where a row without one and none look the same."""
        return None if self.value == GONE else self.value


@dataclass
class Life:
    """What one signal was found to be, day by day, by the answers that went out."""

    first_look: list[float] = field(default_factory=lambda: [math.inf] * DAYS)
    last_look: list[float] = field(default_factory=lambda: [-math.inf] * DAYS)
    states: dict[int, list[State]] = field(default_factory=dict)

    def look(self, now: float, low: int, high: int, found: dict[int, Any], source: str) -> None:
        if high < low:  # no day that was wanted: only those beside them were asked for
            return
        now = max(now, max(self.last_look[low : high + 1]))  # it came after those, even if the clock was set back since
        newest = max(self.states, default=0)
        for day in {*found, *(day for day in self.states if low <= day <= high)}:
            states = self.states.setdefault(day, [])
            before, after = states[-1].value if states else GONE, found.get(day, GONE)
            if before != after and not {before, after} <= NO_VALUE:
                own = [state.value for state in states if state.source == source]
                is_first = self.last_look[day] == -math.inf or day > newest
                is_own = bool(own) and (own[-1] != after or states[-1].source == source)
                states.append(State(now, after, self.last_look[day], source, is_first or is_own))
            elif states and states[-1].source != source:
                states[-1].is_sure = True
                if states[-1].since == now:  # whichever the archive heard first
                    states[-1].source = EITHER
        for day in range(low, high + 1):
            self.first_look[day] = min(self.first_look[day], now)
            self.last_look[day] = now

    def at(self, day: int, moment: float) -> Any:
        """The state of an observation at a moment by which its day had been looked at."""
        states = self.states.get(day, [])
        known = bisect_right(states, moment, key=lambda state: state.since)
        return states[known - 1].value if known else GONE


class World:
    """The service, and the lives of its signals as its answers told them."""

    def __init__(self, chance: random.Random, clock: Clock) -> None:
        self.chance, self.clock = chance, clock
        self.requests, self.fails = 0, False
        self._last_told: dict[tuple[str, str], str] = {}
        """The last day of the last window. None that goes on there breaks off: what its first page showed of that day,
        and whether it begins where asked, is not known then."""
        self._start: dict[tuple[str, str], str] = {}
        """The first day of the last window: one that fails is asked for without it, and counts as begun there."""
        self._unplaced: list[Callable[[], None]] = []
        """The looks of such windows: whether one counts shows the next request, and so the end of the read."""
        self._numbers = count(1)
        self.values: dict[tuple[str, str], dict[int, Any]] = {}
        self.lives = {(key, slug): Life() for key in KEYS for slug in SLUGS}
        for key, slug in self.lives:
            step, last = (1, self.today) if slug == "daily" else (28, self.today)
            self.values[key, slug] = {day: float(next(self._numbers)) for day in range(FIRST, last, step)}

    @property
    def today(self) -> int:
        return (datetime.fromtimestamp(self.clock.now, UTC).date() - ORIGIN).days

    def change(self) -> None:
        """Publish, publish late, revise anywhere, make null, or take back."""
        (_, slug), values = self.chance.choice(list(self.values.items()))
        days = sorted(values)
        recent = days[-self.chance.choice((1, 3, 30, 300, len(days))) :]
        match self.chance.choice(("publish", "publish", "revise", "revise", "revise", "late", "null", "vanish")):
            case "publish":
                step = 1 if slug == "daily" else 28
                for day in range(days[-1] + step, min(self.today, days[-1] + 5 * step), step):
                    values[day] = float(next(self._numbers))
            case "revise":
                for day in self.chance.sample(recent, min(len(recent), self.chance.choice((1, 1, 2, 20)))):
                    values[day] = float(next(self._numbers))
            case "late":
                values[self.chance.randrange(FIRST, days[-1])] = float(next(self._numbers))
            case "null":
                values[self.chance.choice(recent)] = None
            case "vanish" if len(days) > 20:
                del values[self.chance.choice(recent)]

    def read_ended(self, *, is_kept: bool) -> None:
        """Count what could not be placed before, if the read kept what came."""
        for look in self._unplaced if is_kept else ():
            look()
        self._unplaced.clear()

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        key, parts = request.headers["authorization"].removeprefix("Bearer "), request.url.path.split("/")
        start = self._start[key, parts[3]] = request.url.params.get("start", self._start.get((key, parts[3]), ""))
        is_next_page = len(parts) > 4 and start == self._last_told.get((key, parts[3]))
        if self.fails and self.chance.random() < 0.5 and not is_next_page:
            return httpx.Response(500, json={"error": "no"}, headers=quota())
        values, life = self.values[key, parts[3]], self.lives[key, parts[3]]
        days = sorted(values)
        if len(parts) > 4:
            first = max(0, number_of(start, 0))
            last = number_of(request.url.params.get("end"), DAYS)  # two days more than are wanted
            found = [day for day in days if first <= day <= last]
            days, total = found[:1_000], len(found)
            wanted = DAYS - 1 if last >= DAYS else last - 2
            low, high = first, wanted if total <= 1_000 else days[-1] - 1
            self._last_told[key, parts[3]] = day_of(days[-1]).isoformat() if days else ""
        else:
            days, total = days[-365:], 0
            times = [f"{day_of(day)}T00:00:00Z" for day in days]
            whole = is_whole(Observations.from_columns(times, [0.0] * len(days)))
            low, high = 0 if whole else days[0], DAYS - 1
        source = "window" if len(parts) > 4 else "detail"
        told = {day: values[day] for day in days if low <= day <= high}
        look = partial(life.look, self.clock.now, low, high, told, source)
        if source == "window" and "start" not in request.url.params:
            self._unplaced.append(look)
        else:
            look()
        rows = [{"observed_at": f"{day_of(day)}T00:00:00Z", "value": values[day]} for day in days]
        data: Any = rows if len(parts) > 4 else {"slug": parts[3], "latest": rows[-1], "history": rows}
        pagination = {"limit": 1_000, "offset": 0, "total": total}
        return httpx.Response(200, json={"data": data, "pagination": pagination}, headers=quota())


class Attack:
    """Several clients, each as a process of its own, on one store of a kind."""

    def __init__(self, kind: str, seed: int, redis_url: str, folder: Path) -> None:
        self.chance, self.clock = random.Random(seed), Clock()
        self.world = World(self.chance, self.clock)
        self.figures: Counter[str] = Counter()
        self.first_wrong = ""
        self.stack = AsyncExitStack()
        self._seed = seed
        self._shared = SharedStore(kind, redis_url, folder, self.clock)
        self._clients: dict[tuple[str, int], AsyncClient] = {}
        self._began = self.world.today
        self._moves_clock = seed % 2 == 0
        self._latest = self._changed_at = self.clock.now
        self.most_set_back_s = 0.0
        """By how much the clock was behind the latest time it ever showed: it may be set back several times."""

    async def run(self, questions: int) -> None:
        async with self.stack:
            while self.figures["questions"] < questions:
                self.clock.advance(1)
                await self._step()
                for _ in range(self.chance.randrange(20)):
                    await self._ask()
        self.figures["requests"] = self.world.requests

    async def _step(self) -> None:
        key = self.chance.choice(KEYS)
        rare = [each for each in RARE if each != "clock" or self._moves_clock]
        action = self.chance.choice(("read", "read", "read", "both", "change", "change", "wait", *rare))
        match action:
            case "read":
                await self._read(self._client(key))
            case "both":  # at the same moment
                slug = self.chance.choice(SLUGS)
                await asyncio.gather(*(self._read(self._client(key, number), slug) for number in range(2)))
            case "change":  # what two sources told otherwise within this time are taken for two series
                self.clock.advance(DEFAULT_TTL_S + 1)
                self._changed_at = self.clock.now
                self.clock.advance(-min(STEPS_S) if self._moves_clock else 0)
                self.world.change()
            case "wait":
                self.clock.advance(self.chance.choice((901, 3_600, 86_400, 86_400, 86_400 * 5, 86_400 * 31)))
            case "clock":
                self._set_clock(self.chance.choice(STEPS_S))
            case "evict":
                self.figures["evicted"] += await self._client(key).forget()
            case "restart":
                number = self.chance.randrange(3)
                if (client := self._clients.pop((key, number), None)) is not None:
                    await client.aclose()
            case "fail":
                self.world.fails = self.chance.random() < 0.3

    def _set_clock(self, by_s: float) -> None:
        """Set the clock, but not to another day: what was known on which day stays certain.

        Nor to where what a source told before the last change would count as told at the same time as what it tells.
        """
        if utc_day(self.clock.now) == utc_day(self.clock.now + by_s) and self.clock.now + by_s >= self._changed_at:
            self._latest = max(self._latest, self.clock.now)
            self.clock.now += by_s
            self.most_set_back_s = max(self.most_set_back_s, self._latest - self.clock.now)
            self.figures["clock set"] += 1

    async def _read(self, client: AsyncClient, slug: str = "") -> None:
        slug = slug or self.chance.choice(SLUGS)
        today = day_of(self.world.today)
        ago = today - timedelta(days=self.chance.choice((20, 200, 700, 1_500)))
        resources: list[Any] = [
            SignalResource(slug),
            SignalResource(slug),
            HistoryResource(slug),
            HistoryResource(slug, ago),
            HistoryResource(slug, ago, ago + timedelta(days=self.chance.choice((0, 15, 90)))),
        ]
        if self.chance.random() < 0.3:
            await client.refresh(force=self.chance.random() < 0.5)
        is_kept = False
        try:
            is_kept = (await client.read(self.chance.choice(resources))).stale_because is None
        except DataServiceError:
            self.figures["failed reads"] += 1
        self.world.read_ended(is_kept=is_kept)

    async def _ask(self) -> None:
        self.figures["questions"] += 1
        key, slug = self.chance.choice(KEYS), self.chance.choice(SLUGS)
        client, life = self._client(key), self.world.lives[key, slug]
        as_of = self.chance.randrange(self._began - 3, max(self._began - 2, self.world.today))
        day = self.chance.randrange(150, self.world.today + 5)
        match self.chance.choice(("window", "window", "window", "value", "life")):
            case "window":
                await self._ask_window(client, life, slug, as_of, day)
            case "value":
                await self._ask_value(client, life, slug, as_of, day)
            case _:
                changed = [each for each, states in life.states.items() if len(states) > 1]
                await self._ask_life(client, life, slug, self.chance.choice(changed) if changed else day)

    async def _ask_window(self, client: AsyncClient, life: Life, slug: str, as_of: int, day: int) -> None:
        low, high = self.chance.choice(((day, day), (day, day + 40), (day, DAYS - 1), (0, day), (0, DAYS - 1)))
        high, moment = min(high, DAYS - 1), end_of(as_of)
        first = max(life.first_look[low : high + 1])
        asked = f"{slug} from {low} to {high} as of {as_of}"
        try:
            start, end = None if low == 0 else day_of(low), None if high == DAYS - 1 else day_of(high)
            found = await client.observations(slug, start, end, as_of=day_of(as_of))
        except NoVintageError as error:
            self.figures["not known then"] += 1
            first_look = None if first == math.inf else datetime.fromtimestamp(first, UTC).date()
            if first <= moment or error.first_look != first_look:
                self._wrong(f"{asked}: {error}, first look at {first}")
            return
        told = {(each.date() - ORIGIN).days: value for each, value in found if not math.isnan(value)}
        known = {each: life.at(each, moment) for each in life.states if low <= each <= high}
        expected = {each: state for each, state in known.items() if state not in NO_VALUE}
        if first > moment or told != expected:
            self._wrong(f"{asked}: {told} instead of {expected}, first look at {first}")

    async def _ask_value(self, client: AsyncClient, life: Life, slug: str, as_of: int, day: int) -> None:
        """Ask as a cell does: the last value on or before a day, as known on another one."""
        moment, expected = end_of(as_of), None
        for each in range(day, -1, -1):
            if life.first_look[each] > moment:
                break
            state = life.at(each, moment)
            if state not in (GONE, None):
                expected = state
                break
        session = Session(client, clock=self.clock)
        arguments = [slug, "value", day_of(day).isoformat(), f"asof={day_of(as_of)}"]
        (outcome,) = await session.answer([Call("SIGNAL", arguments)])
        told = None if isinstance(outcome.result, CellError) else outcome.result
        self.figures["not known then"] += expected is None
        if told != expected:
            self._wrong(f"SIGNAL {arguments}: {outcome.result} instead of {expected}")

    async def _ask_life(self, client: AsyncClient, life: Life, slug: str, day: int) -> None:
        frame = await client.revisions(slug, day_of(day))
        told = [(value_of(row.value), time_of(row.first_seen), time_of(row.not_before)) for row in frame.itertuples()]
        told = [each for n, each in enumerate(told) if each[0] is not None or (n and told[n - 1][0] is not None)]
        # when a look was is as uncertain as the clock: which of two came later shows only where both are remembered
        unsure_s = self.most_set_back_s + ROUNDED_S
        expected = told_of(life.states.get(day, []), told, unsure_s)
        if [value for value, _, _ in told] != [state.shown for state in expected]:
            self._wrong(f"life of {slug} {day}: {told} instead of {expected}")
            return
        before = -math.inf
        for (_, seen, not_before), state in zip(told, expected, strict=True):
            if abs(seen - state.since) > unsure_s:
                self._wrong(f"life of {slug} {day}: first seen {seen} instead of {state.since}")
            last = state.last_look
            if abs(not_before - last) > ROUNDED_S:
                self.figures["not_before too early"] += 1
            if not_before > last + unsure_s or (not_before < before - unsure_s and before > -math.inf):
                self._wrong(f"life of {slug} {day}: not before {not_before} instead of {last}")
            before = seen

    def _client(self, key: str, number: int | None = None) -> AsyncClient:
        number = self.chance.randrange(3) if number is None else number
        if (key, number) not in self._clients:
            store = self._shared.opened()
            self.stack.push_async_callback(store.aclose)
            client = AsyncClient(
                "https://data.example",
                key,
                store=store,
                clock=self.clock,
                sleep=no_time_passes,
                jitter=lambda: 0.5,
                transport=httpx.MockTransport(self.world.answer),
                evidence=EVIDENCE,
                **({"max_memory_bytes": LITTLE_MEMORY} if number == 2 else {}),
            )
            self.stack.push_async_callback(client.aclose)
            self._clients[key, number] = client
        return self._clients[key, number]

    def _wrong(self, text: str) -> None:
        self.figures["wrong"] += 1
        self.first_wrong = self.first_wrong or f"seed {self._seed}, now {self.clock.now}: {text[:2_000]}"


async def no_time_passes(_: float) -> None:
    await asyncio.sleep(0)


def day_of(number: int) -> date:
    return ORIGIN + timedelta(days=number)


def number_of(text: str | None, otherwise: int) -> int:
    return otherwise if not text else (date.fromisoformat(text) - ORIGIN).days


def end_of(number: int) -> float:
    return datetime.combine(day_of(number + 1), datetime.min.time(), UTC).timestamp() - 1e-6


def told_of(states: list[State], told: list[tuple[Any, float, float]], unsure_s: float) -> list[State]:
    """The states that must be told, and those of the others that are; not again the one that then comes twice."""
    expected: list[State] = []
    for state in states:
        value, seen, _ = told[len(expected)] if len(expected) < len(told) else (GONE, math.inf, 0.0)
        is_told = value == state.shown and abs(seen - state.since) <= unsure_s
        if is_told or (state.is_sure and not (expected and expected[-1].shown == state.shown)):
            expected.append(state)
    return expected


def value_of(value: float) -> float | None:
    return None if math.isnan(value) else value


def time_of(moment: pd.Timestamp) -> float:
    """Its seconds since 1970; never is before all others."""
    return -math.inf if moment is pd.NaT else moment.timestamp()


async def attack(questions: int, kind: str, seed: int, redis_url: str = "") -> Attack:
    """Ask so many questions about the past; the figures."""
    with tempfile.TemporaryDirectory() as folder:
        attack = Attack(kind, seed, redis_url, Path(folder))
        await attack.run(questions)
    return attack


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--store", choices=("memory", "sqlite", "redis"), default="memory")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        server = redis_server(Path(folder)) if given.store == "redis" else nullcontext("")
        with server as redis_url:
            found = asyncio.run(attack(given.questions, given.store, given.seed, redis_url))
    print(given.store, dict(found.figures), found.first_wrong, f"{time.monotonic() - began:.0f} s")  # noqa: T201
    conclude(Told(found.figures["questions"], wrong=found.figures["wrong"]))


if __name__ == "__main__":
    main()
