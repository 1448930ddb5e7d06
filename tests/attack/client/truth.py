"""A service that changes, fails and breaks off, read by several clients on one store: what they show is checked.

    python -m tests.attack.client.truth --steps 100000 --store sqlite

The run is a row of worlds. In every other one the clocks of all processes, or of one of them, are set forward and back.
Nobody knows then how old an answer is, so that a set clock may cost what is known once more, and no more than that: a
read of a detail one request, a read of a history at most all its pages and one request for each part of it that was
pulled at another time.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from dataservice.client import AsyncClient, HistoryResource, SignalDetail, SignalResource
from dataservice.client.contract.completeness.evidence import Evidence
from dataservice.errors import DataServiceError
from dataservice.observations import Observations
from tests.attack.parts.changing_world import DAYS, KEYS, LIVE, MODES, NEVER, SLUGS, World, day_numbers, number_of
from tests.attack.parts.shared_store import SharedStore
from tests.attack.parts.told import Told, conclude
from tests.dataservice.client.parts.clocks import Clock

STEPS_A_WORLD = 400
"""Then a new one begins: series that grow for centuries take long to answer, and find nothing else."""

PROCESSES = 3
"""Of each key."""

TRIES = 5
"""How often a failing request is tried at most."""

ACTIONS = ("read", "read", "read", "read", "change", "wait", "mode", "restart", "refresh")
ZERO = ("wrong", "old", "part", "lost", "two values", "freshness", "over need")


class ProcessClock:
    """The world's time, as the clock of one process shows it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return self._clock() + self.ahead_s


@dataclass
class Check:
    """What was shown, and what was wrong with it."""

    figures: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)
    where: str = ""
    """The seed, the step and the client, with which what is wrong comes up again."""

    def wrong(self, kind: str, text: str) -> None:
        self.figures[kind] += 1
        self.found.append(f"{kind} at {self.where}: {text}")

    @property
    def first_wrong(self) -> str:
        """What was wrong first; empty where nothing was."""
        return next(iter(self.found), "")

    @property
    def is_clean(self) -> bool:
        """Whether every promise was kept."""
        return not any(self.figures[kind] for kind in ZERO)


class Attack:
    """Several clients, each as a process of its own, on one store of a kind."""

    def __init__(self, kind: str, seed: int, redis_url: str, folder: Path, check: Check, *, clocks: bool) -> None:
        self.chance, self.clock, self._seed = random.Random(seed), Clock(), seed
        self.check, self.world = check, World(self.chance, self.clock)
        self.stack = AsyncExitStack()
        self._moves_clocks = clocks
        for series in self.world.series.values() if clocks else ():
            series.sources.near_s = math.inf
        self._actions = (*ACTIONS, "clock") if clocks else ACTIONS
        self._shared = SharedStore(kind, redis_url, folder, self.clock)
        self._clients: dict[tuple[str, int], AsyncClient] = {}
        self._clocks = {(key, number): ProcessClock(self.clock) for key in KEYS for number in range(PROCESSES)}
        self._not_before: dict[tuple[str, int], float] = {}
        self._shown: dict[tuple[str, Any], set[int]] = {}
        """Which processes have to show an answer once more: who showed it, and who began since."""
        self._first_today = date.max

    async def step(self, number: int) -> None:
        """One random step, the one of this `number`."""
        who = self.chance.choice(KEYS), self.chance.randrange(PROCESSES)
        action = self.chance.choice(self._actions)
        self.check.figures[action] += 1
        self.check.where = f"world {self._seed}, step {number}, client {who[0][3]}/{who[1]}, {action}"
        match action:
            case "read":
                await self._read(*who)
            case "change":
                self.world.change()
            case "wait":
                self.clock.advance(self.chance.choice((1, 60, 901, 3_600, 86_400, 86_400 * 8, 86_400 * 31)))
            case "mode":
                self.world.mode = self.chance.choice(MODES)
            case "restart" if who in self._clients:
                await self._clients.pop(who).aclose()
                self._not_before.pop(who, None)
                self._forget(*who)
            case "refresh":
                await self._refresh(who, force=self.chance.random() < 0.5)
            case "clock":
                self._set_clocks(who)

    def _forget(self, key: str, number: int) -> None:
        """A process ended: the next one finds in the store what all have shown, and was told nothing itself."""
        for slug in SLUGS:
            self.world.series[key, slug].sources.agreed.discard(number)
        for name, numbers in self._shown.items():
            if name[0] == key:
                numbers.add(number)

    async def _refresh(self, who: tuple[str, int], *, force: bool) -> None:
        await self._client(*who).refresh(force=force)
        if force:
            self._not_before[who] = math.nextafter(self.clock.now, math.inf)

    def _set_clocks(self, who: tuple[str, int]) -> None:
        """Set the clock of one process or of all, forward or back, by minutes or by a year."""
        by = self.chance.choice((-86_400 * 365, -86_400, -3_600, -600, 600, 3_600, 86_400, 86_400 * 365))
        for each in self.chance.choice(([who], list(self._clocks))):
            ahead_s = self._clocks[each].ahead_s + by
            self._clocks[each].ahead_s = ahead_s if abs(ahead_s) < 86_400 * 400 else 0.0

    def _client(self, key: str, number: int) -> AsyncClient:
        if (key, number) not in self._clients:
            store = self._shared.opened()
            self.stack.push_async_callback(store.aclose)
            client = AsyncClient(
                "https://data.example",
                key,
                store=store,
                clock=self._clocks[key, number],
                sleep=self.clock.sleep,
                jitter=lambda: 0.5,
                transport=httpx.MockTransport(self.world.answer),
                evidence=Evidence(start_included=True),
            )
            self.stack.push_async_callback(client.aclose)
            self._clients[key, number] = client
        return self._clients[key, number]

    async def _read(self, key: str, number: int) -> None:
        """Read one signal in several ways at one time, and compare."""
        client, slug = self._client(key, number), self.chance.choice(SLUGS)
        today = datetime.fromtimestamp(self._clocks[key, number](), UTC).date()
        resources: list[Any] = [
            SignalResource(slug),
            HistoryResource(slug, today - timedelta(days=self.chance.choice((20, 200, 360, 900)))),
            HistoryResource(slug),
            HistoryResource(slug, date(2023, 1, 1), date(2023, 6, 30)),
            HistoryResource(slug, date(2023, 3, 1)),
        ]
        asked = self.chance.sample(resources, self.chance.randint(1, 3))
        for resource in asked:
            await self._read_one(key, number, resource)
        shown: list[list[Observations]] = [[], []]
        for resource in asked:  # what is known after all this is what cells show
            if last := await client.last_known(resource):
                shown[last.is_fresh(self._clocks[key, number]())] += shown_by(last.value)
        self._agree(key, slug, number, shown, asked)

    async def _read_one(self, key: str, number: int, resource: Any) -> None:
        check, client, clock = self.check, self._client(key, number), self._clocks[key, number]
        fixed = isinstance(resource, SignalResource) or resource.start is None or resource.start.year == 2023
        series, before, self.world.asked_by = self.world.series[key, resource.slug], self.world.spent, number
        most = series.most_requests(
            resource, self.clock.now, self.world.today(), self._not_before.get((key, number), NEVER)
        )
        revisions, most_from_nothing = series.revisions, series.most_from_nothing(resource)
        cut_alike = self.world.cut_alike
        try:
            answer = await client.read(resource)
        except DataServiceError:
            if number in self._shown.get((key, resource), ()):
                check.wrong("lost", f"{resource} in mode {self.world.mode}")
            return
        finally:
            if self._moves_clocks:
                most = most_from_nothing
                if series.sources.have_differed and isinstance(resource, SignalResource):
                    most += series.most_from_nothing(HistoryResource(resource.slug))
            most += self.world.cut_alike > cut_alike  # the days beside are asked for until nothing comes
            if series.revisions > revisions:
                check.figures["after a revision"] += 1
                most += series.whole() + 1
            self._count(resource, self.world.spent - before, most)
        if fixed:
            waiting = {other for other in range(PROCESSES) if (key, other) not in self._clients}
            self._shown.setdefault((key, resource), set()).update({number, *waiting})
        if answer.fresh_until - clock() > 900.001 and answer.stale_because is None:
            check.wrong("freshness", f"{resource}: {answer.fresh_until - clock()}")
        self._check_shown(key, resource, answer.value, answer.fetched_at, datetime.fromtimestamp(clock(), UTC).date())

    def _count(self, resource: Any, requests: int, most: int) -> None:
        """Compare what was spent with what was needed; what fails is tried again, each page by itself."""
        tries = 1 if self.world.mode == "fine" else TRIES
        most += isinstance(resource, HistoryResource)  # a detail and a window that were not compared yet are not joined
        # A window from the beginning that holds just a year looks cut: what lies before it is asked once.
        most += isinstance(resource, HistoryResource) and resource.start is None
        self.check.figures["needed"] += min(requests, most)
        if requests > most * tries:
            self.check.wrong("over need", f"{resource}: {requests} requests, {most} needed, mode {self.world.mode}")

    def _check_shown(self, key: str, resource: Any, value: Any, fetched_at: float, today: date) -> None:
        """Each value was once true for this key, and nothing is missing that was there all the time."""
        name = (key, resource.slug)
        for found in shown_by(value):
            if wrong := self.world.never_true(name, found):
                self.check.wrong("wrong", f"{resource}: {wrong}")
        if not self._moves_clocks:
            self._check_age(name, resource, value, fetched_at)
        if isinstance(resource, SignalResource):
            return
        told = np.zeros(DAYS, bool)
        told[day_numbers(value.between(resource.start, resource.end))] = True
        first = 0 if resource.start is None else number_of(resource.start)
        self._first_today = min(self._first_today, today)  # days to come, by a process's clock, are not kept
        last = number_of(min(resource.end or date.max, self._first_today if self._moves_clocks else today))
        series, since = self.world.series[name], NEVER if self._moves_clocks else fetched_at - 60
        missing = [
            day
            for day in series.days.tolist()
            if first <= day <= last and not told[day] and series.touched_at[day] <= since
        ]
        if missing:
            self.check.wrong("part", f"{resource}: {len(missing)} days from number {missing[0]} are missing")

    def _check_age(self, name: tuple[str, str], resource: Any, value: Any, fetched_at: float) -> None:
        """What changed before an answer was given shows in it: anywhere in a detail, in the live part of a history.

        A detail that was never told as such is shown by a history.
        """
        if isinstance(resource, SignalResource):
            is_told = fetched_at in self.world.series[name].details_at
            found = value.history if is_told else value.history[1 - LIVE :]
        elif resource.end is None:
            found = value[1 - LIVE :]
        else:
            return
        series, days = self.world.series[name], day_numbers(found)
        is_old = (series.touched_at[days] < fetched_at) & (series.values[days] != found.values)
        if series.sources.have_differed:  # then windows are shown, whenever they told it
            is_old &= series.sources.values[False][days] != found.values
        old = days[is_old]
        if len(old):
            self.check.wrong("old", f"{resource}: {len(old)} days from number {old[0]} changed before {fetched_at}")

    def _agree(self, key: str, slug: str, number: int, shown: list[list[Observations]], asked: list[Any]) -> None:
        """No observation has two values at one time, whatever is `shown`, what is fresh apart from what is old.

        Where no process has seen that detail and windows agree, an answer is of one of them; an old one counts as what
        was known then.
        """
        old, fresh = shown
        is_one = number in self.world.series[key, slug].sources.agreed
        for found in [[*old, *fresh]] if is_one else [fresh]:
            days = np.concatenate([day_numbers(each) for each in found] or [np.empty(0, int)])
            values = np.concatenate([each.values for each in found] or [np.empty(0)])
            pairs = np.unique(np.stack([days, values]), axis=1)
            twice = np.flatnonzero(np.diff(pairs[0]) == 0)
            if len(twice):
                both = pairs[:, twice[0] : twice[0] + 2].tolist()
                self.check.wrong("two values", f"{both}, read in this order: {asked}")


def shown_by(value: Any) -> list[Observations]:
    """The observations in an answer, and the latest one of a detail."""
    if not isinstance(value, SignalDetail):
        return [value]
    latest = value.latest
    if latest is None:
        return [value.history]
    return [value.history, Observations.from_columns([latest.observed_at], [latest.value])]


async def attack(steps: int, kind: str, seed: int, redis_url: str = "", *, clocks: bool | None = None) -> Check:
    """Run `steps` random steps; the figures. Any exception that is not the client's own ends it.

    `clocks`: whether clocks are moved; None for every other world.
    """
    check = Check()
    for first in range(0, steps, STEPS_A_WORLD):
        with tempfile.TemporaryDirectory() as folder:
            number = seed * 1_000_000 + first // STEPS_A_WORLD
            moved = number % 2 == 1 if clocks is None else clocks
            attack = Attack(kind, number, redis_url, Path(folder), check, clocks=moved)
            async with attack.stack:
                for step in range(min(STEPS_A_WORLD, steps - first)):
                    await attack.step(step)
            check.figures["requests"] += attack.world.requests
    return check


def main() -> None:
    """Run it from the command line; the exit code is 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--store", choices=("memory", "sqlite", "redis"), default="memory")
    parser.add_argument("--redis-url", default="redis://127.0.0.1:6379/0")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.monotonic()
    check = asyncio.run(attack(given.steps, given.store, given.seed, given.redis_url))
    print(dict(check.figures), f"{time.monotonic() - began:.0f} s", *check.found[:20], sep="\n")  # noqa: T201
    broken = {kind: check.figures[kind] for kind in ZERO}
    lost, over = broken.pop("lost"), broken.pop("over need")
    conclude(Told(given.steps, wrong=sum(broken.values()), lost=lost, over=over))


if __name__ == "__main__":
    main()
