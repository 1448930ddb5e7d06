"""Cached formulas in one batch, beside a bare server with a dictionary: `python -m benchmarks.batch`."""

from __future__ import annotations

import asyncio
import json
import time
from bisect import bisect_left
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime

import httpx
import numpy as np
import orjson

from addin.config.connect import open_client, open_store
from addin.protocol.batch import Batches
from addin.protocol.consent import Consent
from addin.protocol.limits import BatchLimits
from addin.protocol.response_cache import ResponseCache
from benchmarks.figures.measuring import REPEATS, Row, alternating, report
from benchmarks.figures.results import run_alone
from benchmarks.figures.served import (
    LONG_ROWS,
    LONG_SLUG,
    backend,
    bare_server,
    collecting_rarely,
    connection_to,
    service_settings,
)
from dataservice.client import AsyncClient
from udfs.cells import serial
from udfs.engine.session import Session

ANY_NUMBER = Consent(10**9, lambda: None, timer=time.monotonic)
"""Any number of requests is sent without a question."""

SIZES = (100, 1_000, 10_000, 100_000)
DIFFERENT = 10_000
EACH_S = 5e-6
"""What a call may take that has nothing in common with another."""
GROWTH = (1_000, 10_000, 100_000, 1_000_000)
SLUGS = (
    b"us-10y",
    b"eia.wti.spot",
    b"eia.henry-hub",
    b"sp-500",
    b"cboe.vix",
    b"etf.world",
    b"fx.eur-usd",
    b"fx.usd-jpy",
)
FIELDS = (b"value", b"unit", b"change", b"name")
JSON = {"content-type": "application/json"}


def latest_calls(size: int, salt: int = 0) -> list[bytes]:
    """Calls of the latest value, each of another text: the JSON differs in its white space."""
    return [
        b'["SIGNAL",%b"%b",%b"%b"%b]' % (_gap(n // 32), SLUGS[n % 8], _gap(n // 1024), FIELDS[n // 8 % 4], _gap(salt))
        for n in range(size)
    ]


def dated_calls(size: int, salt: int = 0) -> list[bytes]:
    """Calls of the value on a day, each of another text: date-times of one day are the same question."""
    today = int(serial(datetime.now(UTC).date()))
    return [
        b'["SIGNAL","%b","%b",%.9f]'
        % (SLUGS[n % 8], FIELDS[n // 8 % 4], today - n // 32 % 200 + (n + 1 + salt * size) / 10**7)
        for n in range(size)
    ]


def _gap(number: int) -> bytes:
    """A piece of white space for a number, another one for each up to 1,024."""
    return bytes(b" \n\t\r"[number >> shift & 3] for shift in (0, 2, 4, 6, 8))


REACH = {
    10_000: {"again": 2, "latest values": 6, "values on a day": 10},
    100_000: {"again": 2, "latest values": 3, "values on a day": 3},
}
"""How many times the floor each may take."""

MAKERS: dict[str, Callable[[int, int], list[bytes]]] = {"latest values": latest_calls, "values on a day": dated_calls}


def main() -> None:
    """Print both tables."""
    with backend() as ours:
        report(
            "One batch of different cached formulas, over HTTP", [row for size in SIZES for row in _rows(ours, size)]
        )
    report(f"{DIFFERENT:,} calls, each about another signal, in the process", _different_rows())
    report(f"A table of {LONG_ROWS:,} rows (date, number), in the process", _table_rows())
    report("Tables of ever more observations, from memory to JSON", [_growth_row(rows) for rows in GROWTH])


def _different_rows() -> list[Row]:
    """Calls that have nothing in common, about signals in memory, beside reading them and finding ready answers."""

    def detail(request: httpx.Request) -> httpx.Response:
        slug = request.url.path.rpartition("/")[2]
        history = [{"observed_at": f"2026-11-{day:02d}T00:00:00Z", "value": day * 1.5} for day in range(1, 21)]
        signal = {"slug": slug, "name": slug, "unit": "USD", "latest": history[-1], "history": history}
        return httpx.Response(200, content=orjson.dumps({"data": signal}))

    loop = asyncio.new_event_loop()
    client = AsyncClient("https://data.example", "ds_" + 40 * "0", transport=httpx.MockTransport(detail))
    batches = Batches(Session(client), ResponseCache(2**27), deadline_s=600, limits=BatchLimits(), consent=ANY_NUMBER)
    day = int(serial(date(2026, 11, 5)))
    asked = {
        "latest values": [b'["SIGNAL","made.up-%d"]' % n for n in range(DIFFERENT)],
        "values on a day": [b'["SIGNAL","made.up-%d","value",%d]' % (n, day + n % 15) for n in range(DIFFERENT)],
    }
    rows: list[Row] = []
    for name, calls in asked.items():
        body = _body(calls)

        def ours(calls: list[bytes] = calls) -> bytes:
            batches.forget()
            return loop.run_until_complete(batches.answer(calls)).text

        answers = orjson.loads(ours())
        assert not [answer for answer in answers if "error" in answer]
        ready = {tuple(orjson.loads(call)): orjson.dumps(each) for call, each in zip(calls, answers, strict=True)}

        def floor(body: bytes = body, ready: dict[tuple[object, ...], bytes] = ready) -> bytes:
            return b",".join([ready[tuple(call)] for call in orjson.loads(body)["calls"]])

        with collecting_rarely():
            times = alternating({"ours": ours, "floor": floor})
        note = _each(times["ours"], DIFFERENT)
        rows.append(Row(name, times["ours"], times["floor"], note=note, reach_s=DIFFERENT * EACH_S))
    loop.run_until_complete(client.aclose())
    loop.close()
    return rows


def _growth_row(rows: int) -> Row:
    """A table of so many hourly observations, beside the JSON of its ready columns."""
    texts = np.datetime_as_string(np.datetime64("2026-01-01", "h") - np.arange(rows)[::-1], "s")
    history = [{"observed_at": f"{text}Z", "value": n * 0.37 % 91} for n, text in enumerate(texts.tolist())]
    days = [row["observed_at"][:10] for row in history]

    def page(request: httpx.Request) -> httpx.Response:
        first = bisect_left(days, request.url.params.get("start", ""))
        return httpx.Response(200, content=orjson.dumps({"data": history[first : first + 1_000]}))

    loop = asyncio.new_event_loop()
    client = AsyncClient(
        "https://data.example", "ds_" + 40 * "0", transport=httpx.MockTransport(page), max_pages=2_000, deadline_s=600
    )
    batches = Batches(Session(client), ResponseCache(2**27), deadline_s=600, limits=BatchLimits(), consent=ANY_NUMBER)
    call = b'["SIGNAL_HISTORY","x","MAX"]'

    def table() -> bytes:
        batches.forget()
        return loop.run_until_complete(batches.answer([call])).text

    columns = orjson.loads(table())[0]["columns"]
    assert len(columns[0]["values"]) == rows
    with collecting_rarely():
        times = alternating({"table": table, "orjson": lambda: orjson.dumps(columns)}, repeats=REPEATS)
    held = client.held_bytes / rows
    loop.run_until_complete(client.aclose())
    loop.close()
    note = f"floor: ready columns by orjson; {held:.0f} bytes each in memory"
    return Row(f"{rows:,} observations", times["table"], times["orjson"], note=note)


def _rows(ours: httpx.Client, size: int) -> list[Row]:
    hot = _body(latest_calls(size))
    works = {name: _every_time_new(ours, make, size) for name, make in MAKERS.items()}
    answers = orjson.loads(_post(ours, hot))["answers"]
    assert not [answer for answer in answers if "error" in answer], "the batch is to be answered from the cache"
    asked = latest_calls(size)
    ready = {tuple(orjson.loads(call)): orjson.dumps(answer) for call, answer in zip(asked, answers, strict=True)}
    with connection_to(bare_server(ready)) as bare:
        times = alternating({"floor": lambda: _post(bare, hot), "again": lambda: _post(ours, hot), **works})
    floor = times.pop("floor")
    return [
        Row(f"{size:,} {name}", seconds, floor, REACH.get(size, {}).get(name), _each(seconds, size))
        for name, seconds in times.items()
    ]


def _every_time_new(ours: httpx.Client, make: Callable[[int, int], list[bytes]], size: int) -> Callable[[], object]:
    """A work that never sends the same texts twice, so that each call is worked out from the cached answers."""
    bodies = iter([_body(make(size, salt)) for salt in range(1, REPEATS + 2)])
    return lambda: _post(ours, next(bodies))


def _table_rows() -> list[Row]:
    call = orjson.dumps(["SIGNAL_HISTORY", LONG_SLUG, "MAX"])
    loop = asyncio.new_event_loop()
    with service_settings() as (settings, key), closing(loop):
        store = open_store(settings)
        client = open_client(settings, key, store)
        batches = Batches(
            Session(client), ResponseCache(2**27), deadline_s=60, limits=BatchLimits(), consent=ANY_NUMBER
        )
        columns = orjson.loads(loop.run_until_complete(batches.answer([call])).text)[0]["columns"]
        assert len(columns[0]["values"]) == LONG_ROWS

        def table() -> object:
            batches.forget()
            return loop.run_until_complete(batches.answer([call]))

        works = {"table": table, "json": lambda: json.dumps(columns), "orjson": lambda: orjson.dumps(columns)}
        with collecting_rarely():
            times = alternating(works, repeats=3 * REPEATS)
        loop.run_until_complete(client.aclose())
        loop.run_until_complete(store.aclose())
    return [
        Row("from cache to JSON", times["table"], times["json"], 2, "floor: ready columns by the standard library"),
        Row("", times["table"], times["orjson"], 3, "floor: ready columns by orjson"),
    ]


def _body(calls: list[bytes]) -> bytes:
    return b'{"calls":[%b]}' % b",".join(calls)


def _post(http: httpx.Client, body: bytes) -> bytes:
    return http.post("/functions/call", content=body, headers=JSON).raise_for_status().content


def _each(seconds: float, size: int) -> str:
    return f"{seconds / size * 1e6:.1f} µs each"


if __name__ == "__main__":
    run_alone(main)
