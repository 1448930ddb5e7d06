"""Faults by the thousand: what batches and clients tell is what the service counted, and nothing known is lost.

python -m tests.attack.client.faults --steps 50000
"""

import argparse
import asyncio
import gzip
import json
import logging
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache

import httpx
import orjson

from dataservice.client import AsyncClient, HistoryResource, Meter, SignalResource
from dataservice.client.contract.quota import month_of
from dataservice.errors import DataServiceError
from tests.attack.parts.told import Told, conclude
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import KEY, URL, quota
from udfs.engine.session import Call, Session
from udfs.errors import CellError

SLUGS = [f"s-{number}" for number in range(12)]
LAST_DAY = date(2026, 8, 14)
DAYS = 1_100
BOMB = gzip.compress(bytes(2_000_000))
MAX_ANSWER_BYTES = 1_000_000
HUNG_S = 30.0


def truth(slug: str) -> float:
    """The latest value of a signal."""
    return float(len(slug) * 100 + SLUGS.index(slug))


@dataclass
class FaultyService:
    """A service that fails as often as told, and counts what it counts against the month."""

    chance: random.Random
    share: float = 0.4
    counted: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.chance.random() >= self.share:
            return self._right(request)
        name = self.chance.choice(list(FAULTS))
        self.faults[name] += 1
        return FAULTS[name](self, request)

    def headers(self) -> dict[str, str]:
        """The headers of an answer that is counted."""
        self.counted += 1
        return quota(remaining=50_000_000 - self.counted)

    def _right(self, request: httpx.Request) -> httpx.Response:
        headers, parts = self.headers(), request.url.path.split("/")
        if len(parts) == 3:
            signals = [{"slug": slug, "name": slug, "shortcode": slug.upper()} for slug in SLUGS]
            pagination = {"limit": 500, "offset": 0, "total": len(signals)}
            data = {"signals": signals}.get(parts[2], [])
            return httpx.Response(200, headers=headers, json={"data": data, "pagination": pagination})
        if parts[3] not in SLUGS:
            return httpx.Response(404, headers=headers, json={"error": "no such signal"})
        first = max(date.fromisoformat(request.url.params.get("start", "1900-01-01")), _day(0))
        if parts[-1] != "observations":
            first = _day(DAYS - 365)
        content = _content(parts[3], (first - _day(0)).days, observations=parts[-1] == "observations")
        return httpx.Response(200, headers=headers, content=content)


@cache
def _content(slug: str, first: int, *, observations: bool) -> bytes:
    rows = [_row(slug, number) for number in range(first, DAYS)][:1_000]
    return orjson.dumps({"data": rows if observations else {"slug": slug, "latest": rows[-1], "history": rows}})


def _day(number: int) -> date:
    return LAST_DAY - timedelta(days=DAYS - 1 - number)


def _row(slug: str, number: int) -> dict[str, object]:
    return {"observed_at": f"{_day(number)}T00:00:00Z", "value": truth(slug) - (DAYS - 1 - number)}


def _status(status: int, *, told: bool = True, counts: bool = True, **more: str):
    def fault(service: FaultyService, _: httpx.Request) -> httpx.Response:
        headers = service.headers() if counts else quota(remaining=50_000_000 - service.counted)
        return httpx.Response(status, headers={**(headers if told else {}), **more}, json={"error": f"no, {KEY}"})

    return fault


def _body(content: bytes, **more: str):
    def fault(service: FaultyService, _: httpx.Request) -> httpx.Response:
        stream = httpx.ByteStream(content)
        return httpx.Response(200, headers={**service.headers(), **more}, stream=_Unread(stream))

    return fault


def _raised(error: Callable[[], Exception], *, counts: bool = True):
    def fault(service: FaultyService, _: httpx.Request) -> httpx.Response:
        service.counted += counts
        raise error()

    return fault


class _Unread(httpx.AsyncByteStream):
    """A body that has not been read yet, as one from the network."""

    def __init__(self, stream: httpx.ByteStream) -> None:
        self._stream = stream

    async def __aiter__(self):
        for part in self._stream:
            yield part


FAULTS = {
    "400": _status(400),
    "404": _status(404),
    "402": _status(402),
    "500": _status(500),
    "503": _status(503),
    "503 without headers": _status(503, told=False),
    "503 and when to come back": _status(503, **{"Retry-After": "2"}),
    "429 and when to come back": _status(429, counts=False, **{"Retry-After": "1"}),
    "429 without headers": _status(429, counts=False, told=False, **{"Retry-After": "1"}),
    "418": _status(418),
    "302": _status(302, Location="https://elsewhere.example/"),
    "no JSON": _body(b"<html>"),
    "another shape": _body(b'{"data": {"slug": 7}}'),
    "nested too deeply": _body(b'{"data":' + b"[" * 5_000 + b"]" * 5_000 + b"}"),
    "cut off": _body(b'{"data": [', **{"Content-Encoding": "identity"}),
    "not packed as said": _body(b"plain", **{"Content-Encoding": "gzip"}),
    "packed strangely": _body(b"plain", **{"Content-Encoding": "zstd"}),
    "a bomb": _body(BOMB, **{"Content-Encoding": "gzip"}),
    "half a packed answer": _body(BOMB[:200], **{"Content-Encoding": "gzip"}),
    "no connection": _raised(lambda: httpx.ConnectError(f"to {KEY}"), counts=False),
    "no connection in time": _raised(lambda: httpx.ConnectTimeout("x"), counts=False),
    "lost answer": _raised(lambda: httpx.ReadError(f"x {KEY}")),
    "late answer": _raised(lambda: httpx.ReadTimeout("x")),
    "broken protocol": _raised(lambda: httpx.RemoteProtocolError("x")),
    "an error of the system": _raised(lambda: OSError(f"x {KEY}")),
    "an error of a library": _raised(lambda: ValueError(f"x {KEY}")),
}


@dataclass
class Report:
    """What a run found; everything but the first three should be 0."""

    steps: int = 0
    faults: int = 0
    counted: int = 0
    told_wrong: int = 0
    foreign: int = 0
    wrong: int = 0
    lost: int = 0
    hung: int = 0
    keys: int = 0
    seconds: float = 0.0

    @property
    def is_clean(self) -> bool:
        """Whether every promise was kept."""
        return not (self.told_wrong or self.foreign or self.wrong or self.lost or self.hung or self.keys)


class Attack:
    """One client under faults, asked in every way."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.clock = Clock()
        self.service = FaultyService(self.chance)
        self.report = Report()
        self.told = 0
        self._known: set[SignalResource | HistoryResource] = set()

    async def run(self, faults: int, limit_s: float) -> Report:
        """Go on until so many faults were met, or the time is up."""
        began = time.monotonic()
        transport = httpx.MockTransport(self.service)
        options = {"clock": self.clock, "sleep": self.clock.sleep, "jitter": self.chance.random}
        async with AsyncClient(URL, KEY, transport=transport, max_answer_bytes=MAX_ANSWER_BYTES, **options) as client:
            session = Session(client, clock=self.clock)
            ends = began + limit_s
            while self.service.faults.total() < faults and time.monotonic() < ends:
                await self._step(client, session)
        self.report.faults, self.report.counted = self.service.faults.total(), self.service.counted
        self.report.seconds = round(time.monotonic() - began, 1)
        return self.report

    async def _step(self, client: AsyncClient, session: Session) -> None:
        self.report.steps += 1
        before, used, month = self.service.counted, _used(client), month_of(self.clock())
        sent = client.requests_sent
        action = self.chance.choice([self._batch, self._batch, self._read])
        try:
            async with asyncio.timeout(HUNG_S):
                told = await action(client, session)
        except TimeoutError:
            self.report.hung += 1
            return
        spent = self.service.counted - before
        told_by_quota = _used(client) - used if month_of(self.clock()) == month else spent
        self.report.told_wrong += not (told == spent == client.requests_sent - sent == told_by_quota)
        self.clock.advance(self.chance.choice([0, 1, 30, 400, 1_000]))
        if self.chance.random() < 0.2:
            await client.refresh(force=self.chance.random() < 0.5)

    async def _batch(self, _: AsyncClient, session: Session) -> int:
        slugs = self.chance.choices([*SLUGS, "nope", "no-such"], k=self.chance.randint(1, 5))
        extra = [Call("SIGNAL", ("S-3",)), Call("SIGNALS"), Call("CODEX_POST", ("x", "citations")), Call("CURRENTS")]
        calls = [Call("SIGNAL", (slug,)) for slug in slugs]
        calls += [Call("SIGNAL_HISTORY", (slug, "-5Y")) for slug in slugs[:1]] + [self.chance.choice(extra)]
        outcomes = await session.answer(calls)
        for call, outcome in zip(calls, outcomes, strict=True):
            self._note_words(str(outcome))
            if call.function_id == "SIGNAL" and call.args[0] in SLUGS:
                self._check(SignalResource(call.args[0]), outcome.result)
        return sum(outcome.requests for outcome in outcomes)

    async def _read(self, client: AsyncClient, _: Session) -> int:
        slug, meter = self.chance.choice(SLUGS), Meter()
        resource = self.chance.choice([SignalResource(slug), HistoryResource(slug, date(2021, 1, 1))])
        try:
            answer = await client.read(resource, meter=meter)
        except DataServiceError as error:
            self._note_words(f"{error!r} {error.path}")
            self.report.lost += resource in self._known
        except Exception:  # noqa: BLE001 - that there is none is what is tested
            self.report.foreign += 1
        else:
            is_signal = isinstance(resource, SignalResource)
            value = answer.value.latest.value if is_signal else float(answer.value.values[-1])
            self._check(resource, value)
        return meter.requests

    def _check(self, resource: SignalResource | HistoryResource, value: object) -> None:
        if isinstance(value, CellError):
            self.report.lost += resource in self._known
            self.report.foreign += "please report" in value.message
        elif value == truth(resource.slug):
            self._known.add(resource)
        else:
            self.report.wrong += 1

    def _note_words(self, words: str) -> None:
        self.report.keys += KEY in words


def _used(client: AsyncClient) -> int:
    """What the client says it used in this month, which the service has to have told something for."""
    return client.quota_now.used_here if client.quota_now else client.requests_sent


class KeyWatch(logging.Handler):
    """Counts the log records that hold the key."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.keys = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Look at one record."""
        self.keys += KEY in record.getMessage()


async def attack(faults: int, seed: int, limit_s: float = float("inf")) -> Report:
    """The report on so many faults, or on those within `limit_s` seconds."""
    watch = KeyWatch()
    logging.getLogger().addHandler(watch)
    try:
        report = await Attack(seed).run(faults, limit_s)
    finally:
        logging.getLogger().removeHandler(watch)
    report.keys += watch.keys
    return report


def main() -> None:
    """Run it from the command line; the exit code is 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50_000, help="faults to inject")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    given = parser.parse_args()
    report = asyncio.run(attack(given.steps, given.seed, given.seconds))
    print(json.dumps(report.__dict__))  # noqa: T201 - a program's output
    conclude(
        Told(
            report.faults,
            hung=report.hung,
            wrong=report.wrong + report.foreign,
            lost=report.lost,
            leaked=report.keys,
            over=report.told_wrong,
        )
    )


if __name__ == "__main__":
    main()
