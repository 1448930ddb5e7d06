"""Users made up, who post as pages do: the cells of a book, and again those that are pending, until all are there."""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from http import HTTPStatus
from itertools import cycle, islice, product
from statistics import NormalDist
from time import perf_counter
from typing import Any, TypeAlias

import aiohttp
import msgspec
import orjson

from addin.backend.operation.stopping import RESTARTING
from addin.backend.sign_in.gate import SIGN_IN
from addin.errors import AddinError
from addin.protocol.messages import BUSY

TIMEOUT_S = 35.0
"""So long a page waits for an answer; then its cells show an error."""

NO_ANSWER = 0
"""In place of a status."""

IDLE_S = 2.0
"""A connection that was idle for longer is not used again: servers close theirs after five seconds or more."""

DAYS = 360
"""So many days back a value is asked for: one request serves them all."""

FIELDS = ("value", "observed_at", "previous", "change", "pct_change")
OPTIONS = ("", "err=code", "err=blank", "err=text", "vintage=latest")


MOST_REASONS = 3

SIGMAS = 2.0
"""Of a bell, to each side of its middle: nearly all come within these."""

PAUSES_S = (0.05, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Before pages send again what a busy or restarting backend refused, within the same time."""

REPEATED = (BUSY, RESTARTING)

REFUSED = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""Statuses whose reason pages show in every cell in the end."""

Connect: TypeAlias = Callable[[], aiohttp.ClientSession]
"""Opens a session at the backend."""

_PENDING = b'{"pending":true'


class _Answers(msgspec.Struct):
    answers: list[msgspec.Raw]


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

    def members(self) -> dict[str, Any]:
        """As JSON; times in seconds."""
        times = {f"p{percent}_s": round(self.percentile(percent), 4) for percent in (50, 95, 99, 100)}
        counts = {"batches": len(self.seconds), "cells": self.cells, "errors": self.errors}
        return {**times, **counts, "reasons": dict(self.reasons.most_common(MOST_REASONS))}

    def plus(self, other: Times) -> Times:
        """These and others."""
        return Times(self.seconds + other.seconds, self.cells + other.cells, self.reasons + other.reasons)


@dataclass(frozen=True, slots=True)
class User:
    """Somebody with a key of their own, and the calls of their book as JSON; no key for the backend's own."""

    key: str | None = field(repr=False)
    calls: Sequence[bytes]

    @property
    def cells(self) -> int:
        """Return how many cells they have."""
        return len(self.calls)

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
    return User(key, [orjson.dumps(call) for call in calls])


def arrivals(users: int, within_s: float) -> list[float]:
    """Return when so many users come `within_s` in the morning: most of them in its middle, or all at once.

    >>> [round(each, 1) for each in arrivals(5, 60.0)]
    [10.8, 22.1, 30.0, 37.9, 49.2]
    """
    bell = NormalDist(within_s / 2, within_s / (2 * SIGMAS)) if within_s else None
    places = ((number + 0.5) / users for number in range(users))
    return [min(within_s, max(0.0, bell.inv_cdf(place))) if bell else 0.0 for place in places]


async def timed_round(
    connect: Connect, users: Sequence[User], beside: Sequence[User] = (), *, within_s: float = 0.0
) -> Times:
    """The batches of all `users`, who begin `within_s`, or at once, and wait until no cell is pending.

    Those of `beside` begin first, and are awaited but not timed. Each has connections of their own, as browsers do, so
    that of several workers the same one answers when they come again.
    """
    others = [asyncio.ensure_future(_timed(connect, user)) for user in beside]
    await asyncio.sleep(0)
    begin = zip(users, arrivals(len(users), within_s), strict=True)
    timed = [asyncio.ensure_future(_timed(connect, user, begins_after_s)) for user, begins_after_s in begin]
    await asyncio.gather(*others, *timed, return_exceptions=True)  # the first that failed is raised when none is left
    found = [each.result() for each in [*timed, *others]][: len(timed)]
    reasons = sum((each for _, each in found), Counter[str]())
    return Times(tuple(each for each, _ in found), sum(user.cells for user in users), reasons)


async def _timed(connect: Connect, user: User, begins_after_s: float = 0.0) -> tuple[float, Counter[str]]:
    await asyncio.sleep(begins_after_s)
    async with connect() as http:
        return await _waited(http, user)


async def _waited(http: aiohttp.ClientSession, user: User) -> tuple[float, Counter[str]]:
    began, reasons, calls = perf_counter(), Counter[str](), user.calls
    while calls:
        body = b'{"calls":[%s]}' % b",".join(calls)
        status, content = await _answered(http, user, body)
        if status in REFUSED or status == NO_ANSWER:
            reasons[_reason(content)] += len(calls)
            break
        if status != HTTPStatus.OK:
            raise AddinError(f"the backend refused a batch ({status}): {_reason(content)}")
        reasons.update(message.decode() for message in _MESSAGE.findall(content))
        if _PENDING not in content:
            break
        answers = msgspec.json.decode(content, type=_Answers).answers
        calls = [call for call, answer in zip(calls, answers, strict=True) if bytes(answer).startswith(_PENDING)]
    return perf_counter() - began, reasons


async def _answered(http: aiohttp.ClientSession, user: User, body: bytes) -> tuple[int, bytes]:
    """The status and the content of a post, which is sent again as pages do it; `NO_ANSWER` with the reason."""
    status, content = NO_ANSWER, b'{"error":"the backend did not answer within %d s"}' % TIMEOUT_S
    with suppress(TimeoutError):
        async with asyncio.timeout(TIMEOUT_S):
            for pause_s in (*PAUSES_S, None):
                async with http.post("functions/call?pending=yes", data=body, headers=user.headers) as response:
                    status, content = response.status, await response.read()
                if status not in REFUSED or _told(content).get("kind") not in REPEATED or pause_s is None:
                    break
                await asyncio.sleep(pause_s)
    return status, content


def _told(content: bytes) -> dict[str, Any]:
    """The members of a refusal; none where it is not the backend's."""
    try:
        told: Any = orjson.loads(content)
    except orjson.JSONDecodeError:
        return {}
    return told if isinstance(told, dict) else {}


def _reason(content: bytes) -> str:
    told = _told(content)
    if told.get("kind") == SIGN_IN:
        return "its users sign in, which a load test cannot; try one with the same settings but no oidc_issuer"
    return str(told.get("error", "its answer is no JSON of the backend's; is this its address?"))[:300]
