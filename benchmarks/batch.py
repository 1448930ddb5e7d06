"""Cached formulas in one batch, beside a bare server with a dictionary: `python -m benchmarks.batch`."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from datetime import UTC, datetime
from itertools import count
from typing import Any

import httpx
import orjson

from addin.batch import Batches
from addin.connection import open_client, open_store
from addin.memo import Memo
from benchmarks.measuring import REPEATS, Row, alternating, report
from benchmarks.served import LONG_ROWS, LONG_SLUG, backend, bare_server, connection_to, service_settings
from udfs.cells import serial
from udfs.session import Session

SIZES = (100, 1_000, 10_000, 100_000)
SLUGS = ("us-10y", "eia.wti.spot", "eia.henry-hub", "sp-500", "cboe.vix", "etf.world", "fx.eur-usd", "fx.usd-jpy")
FIELDS = ("value", "previous", "change", "pct_change")
JSON = {"content-type": "application/json"}


def calls_of(size: int, salt: int = 0) -> list[list[Any]]:
    """Different calls on a few signals; date-times of one day are different texts for the same question."""
    today = int(serial(datetime.now(UTC).date()))
    return [
        ["SIGNAL", SLUGS[n % 8], FIELDS[n // 8 % 4], round(today - n // 32 % 200 + (n + 1 + salt * size) / 10**8, 8)]
        for n in range(size)
    ]


def main() -> None:
    """Print both tables."""
    with backend() as ours:
        report(
            "One batch of different cached formulas, over HTTP", [row for size in SIZES for row in _rows(ours, size)]
        )
    report(f"A table of {LONG_ROWS:,} rows (date, number), in the process", _table_rows())


def _rows(ours: httpx.Client, size: int) -> list[Row]:
    hot = _body(calls_of(size))
    cold = [_body(calls_of(size, salt)) for salt in range(1, REPEATS + 2)]
    answers = orjson.loads(_post(ours, hot))["answers"]
    assert not [answer for answer in answers if "error" in answer], "the batch is to be answered from the cache"
    ready = {tuple(call): orjson.dumps(answer) for call, answer in zip(calls_of(size), answers, strict=True)}
    turn = count()
    with connection_to(bare_server(ready)) as bare:
        times = alternating(
            {
                "floor": lambda: _post(bare, hot),
                "hot": lambda: _post(ours, hot),
                "cold": lambda: _post(ours, cold[next(turn)]),
            }
        )
    return [
        Row(f"{size:,} asked again", times["hot"], times["floor"], 6, _each(times["hot"], size)),
        Row(f"{size:,} worked out", times["cold"], times["floor"], None, _each(times["cold"], size)),
    ]


def _table_rows() -> list[Row]:
    call = orjson.dumps(["SIGNAL_HISTORY", LONG_SLUG, "MAX"])
    loop = asyncio.new_event_loop()
    with service_settings() as (settings, key), closing(loop):
        store = open_store(settings)
        client = open_client(settings, key, store)
        batches = Batches(Session(client), Memo(2**27), deadline_s=60)
        columns = orjson.loads(loop.run_until_complete(batches.answer([call])).text)[0]["columns"]
        assert len(columns[0]["values"]) == LONG_ROWS

        def table() -> object:
            batches.forget()
            return loop.run_until_complete(batches.answer([call]))

        works = {"table": table, "json": lambda: json.dumps(columns), "orjson": lambda: orjson.dumps(columns)}
        times = alternating(works, repeats=3 * REPEATS)
        loop.run_until_complete(client.aclose())
        loop.run_until_complete(store.aclose())
    return [
        Row("from cache to JSON", times["table"], times["json"], 2, "floor: ready columns by the standard library"),
        Row("", times["table"], times["orjson"], None, "floor: ready columns by orjson"),
    ]


def _body(calls: list[list[Any]]) -> bytes:
    return orjson.dumps({"calls": calls})


def _post(http: httpx.Client, body: bytes) -> bytes:
    return http.post("/functions/call", content=body, headers=JSON).raise_for_status().content


def _each(seconds: float, size: int) -> str:
    return f"{seconds / size * 1e6:.1f} µs each"


if __name__ == "__main__":
    main()
