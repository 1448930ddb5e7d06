"""A load test: its plan, its rounds, and what they showed."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

import aiohttp

from addin.cli.load.backend_measures import BackendMeasures, measured
from addin.cli.load.prediction import waits
from addin.cli.load.users import IDLE_S, TIMEOUT_S, Connect, Times, User, arrivals, timed_round, user_of
from addin.errors import AddinError

SLUGS = ("us-cpi", "us-10y", "sp-500", "cboe.vix", "btc-usd", "eth-usd", "fx.eur-usd", "fx.usd-jpy", "wb.gold")
"""Signals that the embedded service has as well as most others; others are `#N/A` cells, which take as long."""

COLD, ALONE, BESIDE = "in the morning", "users alone", "beside the large one"

CHANCE = 1
"""The same each time, so that equal measurements foretell the same."""

QUEUE_PART = 0.5
"""Of the median wait: with more of it the queue is what users wait for."""


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """A backend, the keys of its users and of the one with the large batch, cells of each, and the number of rounds.

    In the morning nothing is known yet, and the users come one after another `within_s`.
    """

    url: str
    keys: Sequence[str | None]
    large_key: Sequence[str | None]
    cells: int
    large: int
    rounds: int
    within_s: float = 0.0
    is_cold: bool = False
    """Whether the backend is to ask for everything again first."""
    verify: ssl.SSLContext | bool = True
    """Whom https to the backend trusts."""
    predicted: int = 0
    """For how many users the waits are to be predicted; then those who come `within_s` are these, and the few who are
    there come at once, but the first, who is alone."""


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The times of the users' batches by kind of round, and the memory that each user takes.

    The first round of all is that of the morning. `predicted` has the times of more users; `queues` says of a round
    what users waited for, where that was a queue.
    """

    rounds: Mapping[str, Times]
    bytes_per_user: float | None
    predicted: Mapping[str, Times]
    predicted_users: int
    queues: Mapping[str, str]

    @property
    def ratio(self) -> float | None:
        """Return how many times longer the slowest percent takes beside the large batch; None without one."""
        if BESIDE not in self.rounds:
            return None
        return self.rounds[BESIDE].percentile(99) / self.rounds[ALONE].percentile(99)

    @property
    def cells(self) -> int:
        """Return how many cells were asked for."""
        return sum(times.cells for times in self.rounds.values())

    @property
    def errors(self) -> int:
        """Return how many of them show an error."""
        return sum(times.errors for times in self.rounds.values())

    def members(self) -> dict[str, Any]:
        """As JSON; times in seconds."""
        return {
            "rounds": {name: times.members() for name, times in self.rounds.items()},
            "predicted": {name: times.members() for name, times in self.predicted.items()},
            "queues": dict(self.queues),
            "p99_ratio": self.ratio,
            "bytes_per_user": self.bytes_per_user,
        }


async def run(plan: LoadPlan, say: Callable[[str], None]) -> LoadReport:
    """Let all users load all that they show in the morning, then recalculate: alone, and beside the large one in turn.

    What the morning is like, the cache decides: a backend that was just started, or told to ask for everything again,
    asks the service.
    """
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=TIMEOUT_S, sock_read=TIMEOUT_S)

    def connect() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_S, ssl=plan.verify)
        return aiohttp.ClientSession(f"{plan.url.rstrip('/')}/", connector=connector, timeout=timeout)

    async with connect() as http:
        try:
            return await _Load(http, connect, plan, say).report()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise AddinError(f"{plan.url} does not answer ({type(error).__name__}: {error})") from error


class _Load:
    """The rounds of one load test, and what the backend told meanwhile."""

    def __init__(
        self, http: aiohttp.ClientSession, connect: Connect, plan: LoadPlan, say: Callable[[str], None]
    ) -> None:
        self._http, self._connect, self._plan, self._say = http, connect, plan, say
        today = datetime.now(UTC).date()
        users = [user_of(key, plan.cells, SLUGS, today) for key in plan.keys]
        self._first, self._users = (users[:1], users[1:]) if plan.predicted else ([], users)
        self._large = [user_of(key, plan.large, SLUGS, today) for key in plan.large_key] if plan.large else []
        self._beside = [user_of(key, len(SLUGS), SLUGS, today) for key in plan.large_key]
        self._alone = dict[str, Times]()
        self._rounds = dict[str, Times]()
        self._measures = dict[str, tuple[BackendMeasures, BackendMeasures]]()

    async def report(self) -> LoadReport:
        """Run it all."""
        plan, before = self._plan, await measured(self._http)
        if plan.is_cold:
            await self._forget(self._first + self._users, "force")
        await timed_round(self._connect, self._beside)  # what only the very first user of a backend waits for
        self._say(f"{len(self._users)} users open their workbooks …")
        await self._round(COLD, self._users, within_s=0.0 if plan.predicted else plan.within_s)
        for number in range(plan.rounds):
            self._say(f"Round {number + 1} of {plan.rounds} …")
            for name, beside in ((ALONE, []), (BESIDE, self._large)):
                if name == ALONE or beside:
                    await self._forget([*self._first, *self._users, *self._large], "stale")
                    await self._round(name, self._users, beside)
        held = [each.memory_bytes for each in (before, await measured(self._http))]
        per_user = None if None in held else max(0.0, (held[1] or 0) - (held[0] or 0)) / len(self._users)
        queues = {name: self._queue(name, times) for name, times in self._rounds.items()}
        predicted = self._predicted() if plan.predicted else {}
        told = {name: text for name, text in queues.items() if text}
        return LoadReport(self._rounds, per_user, predicted, plan.predicted, told)

    async def _round(
        self, name: str, users: Sequence[User], beside: Sequence[User] = (), within_s: float = 0.0
    ) -> None:
        """One round; the first user is there before, alone."""
        if self._first:
            alone = await timed_round(self._connect, self._first)
            self._alone[name] = self._alone.get(name, Times()).plus(alone)
        before = await measured(self._http)
        found = await timed_round(self._connect, users, beside, within_s=within_s)
        self._rounds[name] = self._rounds.get(name, Times()).plus(found)
        self._measures[name] = (before, await measured(self._http))

    async def _forget(self, users: Sequence[User], mode: str) -> None:
        for headers in {user.key: user.headers for user in users}.values():
            async with self._http.post("refresh", json={"mode": mode}, headers=headers):
                pass

    def _predicted(self) -> dict[str, Times]:
        plan, found = self._plan, dict[str, Times]()
        for name, few in self._rounds.items():
            rounds = len(few.seconds) // len(self._users)
            of_one_round_s = sorted(few.seconds)[rounds // 2 :: rounds]
            come_s = arrivals(plan.predicted, plan.within_s if name == COLD else 0.0)
            alone_s, workers = self._alone[name].percentile(50), max(1, int(self._measures[name][1].workers))
            times = waits(alone_s, of_one_round_s, come_s, workers=workers, chance=Random(CHANCE))  # noqa: S311 - no secret
            found[name] = Times(tuple(times), plan.predicted * plan.cells)
        return found

    def _queue(self, name: str, times: Times) -> str:
        """Return what users of a round waited for, if that was a queue."""
        median_s, shortest_s = times.percentile(50), min(times.seconds)
        if len(times.seconds) == 1 or median_s - shortest_s < QUEUE_PART * median_s:
            return ""
        before, after = self._measures[name]
        is_of_service = after.service_s_since(before) > QUEUE_PART * median_s
        whom = "the service, which answers late" if is_of_service else "the backend's processors"
        return f"{median_s - shortest_s:,.1f} s of {median_s:,.1f} s are the queue before {whom}"
