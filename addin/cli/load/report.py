"""A load test: its plan, its rounds, and what they showed."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx

from addin.cli.load.users import IDLE_S, TIMEOUT_S, Times, User, held_bytes, timed_round, user_of
from addin.errors import AddinError

SLUGS = ("us-cpi", "us-10y", "sp-500", "cboe.vix", "btc-usd", "eth-usd", "fx.eur-usd", "fx.usd-jpy", "wb.gold")
"""Signals that the embedded service has as well as most others; others are `#N/A` cells, which take as long."""

COLD, ALONE, BESIDE = "in the morning", "users alone", "beside the large one"

MOST_REASONS = 3


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


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The times of the users' batches by kind of round, and the memory that each user takes.

    The first round of all is that of the morning.
    """

    rounds: Mapping[str, Times]
    bytes_per_user: float | None

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
        rounds = {
            name: {f"p{percent}_s": round(times.percentile(percent), 4) for percent in (50, 95, 99, 100)}
            | {"batches": len(times.seconds), "cells": times.cells, "errors": times.errors}
            | {"reasons": dict(times.reasons.most_common(MOST_REASONS))}
            for name, times in self.rounds.items()
        }
        return {"rounds": rounds, "p99_ratio": self.ratio, "bytes_per_user": self.bytes_per_user}


async def run(plan: LoadPlan, say: Callable[[str], None]) -> LoadReport:
    """Let all users load all that they show in the morning, then recalculate: alone, and beside the large one in turn.

    What the morning is like, the cache decides: a backend that was just started, or told to ask for everything again,
    asks the service.
    """
    today = datetime.now(UTC).date()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=IDLE_S)
    options: dict[str, Any] = {"timeout": TIMEOUT_S, "limits": limits, "verify": plan.verify, "trust_env": False}
    async with httpx.AsyncClient(base_url=plan.url, **options) as http:
        try:
            before = await held_bytes(http)
            users = [user_of(key, plan.cells, SLUGS, today) for key in plan.keys]
            large = [user_of(key, plan.large, SLUGS, today) for key in plan.large_key] if plan.large else []
            if plan.is_cold:
                await _forget(http, users, "force")
            say(f"{len(users)} users open their workbooks …")
            morning = await timed_round(http, users, within_s=plan.within_s)
            for user in large:
                await timed_round(http, [user_of(user.key, len(SLUGS), SLUGS, today)])
            rounds = {COLD: morning, **await _rounds(http, plan, users, large, say)}
            after = await held_bytes(http)
        except httpx.HTTPError as error:
            raise AddinError(f"{plan.url} does not answer ({type(error).__name__}: {error})") from error
    per_user = None if before is None or after is None else max(0.0, after - before) / len(users)
    return LoadReport(rounds, per_user)


async def _rounds(
    http: httpx.AsyncClient, plan: LoadPlan, users: Sequence[User], large: Sequence[User], say: Callable[[str], None]
) -> dict[str, Times]:
    """The rounds; each begins with a refresh, so that every cell is worked out again."""
    found = {ALONE: Times()} | ({BESIDE: Times()} if large else {})
    for number in range(plan.rounds):
        say(f"Round {number + 1} of {plan.rounds} …")
        for name, beside in ((ALONE, []), (BESIDE, large)):
            if name in found:
                await _forget(http, [*users, *large], "stale")
                found[name] = found[name].plus(await timed_round(http, users, beside))
    return found


async def _forget(http: httpx.AsyncClient, users: Sequence[User], mode: str) -> None:
    for headers in {user.key: user.headers for user in users}.values():
        await http.post("/refresh", json={"mode": mode}, headers=headers)
