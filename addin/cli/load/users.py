"""Users made up: each sends one batch, all at once, and each batch is timed."""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import cycle, islice, product
from time import perf_counter
from typing import Any

import httpx
import orjson

from addin.backend.sign_in.gate import SIGN_IN
from addin.errors import AddinError

TIMEOUT_S = 120.0

IDLE_S = 2.0
"""A connection that was idle for longer is not used again: servers close theirs after five seconds or more."""

DAYS = 360
"""So many days back a value is asked for: one request serves them all."""

FIELDS = ("value", "observed_at", "previous", "change", "pct_change")
OPTIONS = ("", "err=code", "err=blank", "err=text", "vintage=latest")


_MESSAGE = re.compile(rb'"message":"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Times:
    """The seconds that the batches of a round took, and how many of their cells show an error, by what it says."""

    seconds: tuple[float, ...] = ()
    cells: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def errors(self) -> int:
        """Return how many cells show an error."""
        return self.reasons.total()

    def percentile(self, percent: float) -> float:
        """The time within which so many percent of the batches were answered.

        >>> Times((0.1, 0.4, 0.2)).percentile(50)
        0.2
        """
        ordered = sorted(self.seconds)
        return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]

    def plus(self, other: Times) -> Times:
        """These and others."""
        return Times(self.seconds + other.seconds, self.cells + other.cells, self.reasons + other.reasons)


@dataclass(frozen=True, slots=True)
class User:
    """Somebody with a key of their own, and the batch they send; no key for the backend's own."""

    key: str | None
    body: bytes
    cells: int

    @property
    def headers(self) -> dict[str, str]:
        """Return what goes with each of their requests. A proxy on this machine would say that they came over HTTPS."""
        headers = {"content-type": "application/json", "x-forwarded-proto": "https"}
        return headers if self.key is None else headers | {"x-data-service-key": self.key}


def user_of(key: str | None, cells: int, slugs: Sequence[str], today: date) -> User:
    """A user with so many cells, all different: fields of these signals on different days, with different options."""
    days = [str(today - timedelta(days=back)) for back in range(DAYS)]
    kinds = product(OPTIONS, FIELDS, days, slugs)
    calls = [["SIGNAL", slug, field, day, option] for option, field, day, slug in islice(cycle(kinds), cells)]
    return User(key, orjson.dumps({"calls": calls}), cells)


async def timed_round(
    http: httpx.AsyncClient, users: Sequence[User], beside: Sequence[User] = (), *, within_s: float = 0.0
) -> Times:
    """The batches of all `users`, who begin one after another `within_s`, or at once.

    Those of `beside` begin first, and are awaited but not timed.
    """
    others = [asyncio.ensure_future(_timed(http, user)) for user in beside]
    await asyncio.sleep(0)
    pause_s = within_s / len(users)
    timed = [asyncio.ensure_future(_timed(http, user, pause_s * number)) for number, user in enumerate(users)]
    await asyncio.gather(*others, *timed, return_exceptions=True)  # the first that failed is raised when none is left
    found = [each.result() for each in [*timed, *others]][: len(timed)]
    reasons = sum((each for _, each in found), Counter[str]())
    return Times(tuple(each for each, _ in found), sum(user.cells for user in users), reasons)


async def _timed(http: httpx.AsyncClient, user: User, begins_after_s: float = 0.0) -> tuple[float, Counter[str]]:
    await asyncio.sleep(begins_after_s)
    began = perf_counter()
    response = await http.post("/functions/call", content=user.body, headers=user.headers)
    took_s = perf_counter() - began
    if response.status_code != httpx.codes.OK:
        raise AddinError(f"the backend refused a batch ({response.status_code}): {_reason(response)}")
    return took_s, Counter(message.decode() for message in _MESSAGE.findall(response.content))


def _reason(response: httpx.Response) -> str:
    try:
        content: Any = response.json()
        if content.get("kind") == SIGN_IN:
            return "its users sign in, which a load test cannot; try one with the same settings but no oidc_issuer"
        return str(content["error"])[:300]
    except (ValueError, KeyError, TypeError, AttributeError):
        return "its answer is no JSON of the backend's; is this its address?"


async def held_bytes(http: httpx.AsyncClient) -> float | None:
    """The memory of the backend's processes as /metrics tells it; None where it does not."""
    response = await http.get("/metrics")
    for line in response.text.splitlines():
        if line.startswith("addin_memory_bytes "):
            return float(line.split()[1])
    return None
