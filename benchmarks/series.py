"""How well many different series are fetched side by side: `python -m benchmarks.series`."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import orjson

from benchmarks.figures.measuring import Row, alternating, report
from benchmarks.figures.results import run_alone
from dataservice.client import AsyncClient, SignalResource
from dataservice.client.network.transport import MAX_CONNECTIONS
from dataservice.stores import SqliteStore, Store

SERIES = 200
LATENCY_S = 0.05
BOUND_S = LATENCY_S * ceil(SERIES / MAX_CONNECTIONS)
"""Rounds times latency: the last round takes as long as any other, however few answers are left for it."""
REACH = 1.1
GROWTH = (10, 100, 1_000, 10_000)

KEY = "ds_" + 40 * "0"
HEADERS = "X-Service-Tier: pro\r\nX-Service-RateLimit-Cap: 50000\r\nX-Service-RateLimit-Remaining: 40000\r\n"


def main() -> None:
    """Print the table."""
    with slow_service() as url, TemporaryDirectory() as folder:
        shelves = (Path(folder) / f"{number}.sqlite" for number in count())
        works: dict[str, Callable[[], object]] = {
            "bare": lambda: asyncio.run(_bare(url)),
            "memory": lambda: asyncio.run(_ours(url, None)),
            "shelf": lambda: asyncio.run(_ours(url, SqliteStore(next(shelves)))),
        }
        times = alternating(works)
    rows = [
        Row("kept in memory", times["memory"], BOUND_S, REACH),
        Row("kept on a new shelf", times["shelf"], BOUND_S, REACH),
        Row(
            "httpx alone, nothing decoded",
            times["bare"],
            BOUND_S,
            note=f"floor: {MAX_CONNECTIONS} at a time",
        ),
    ]
    report(f"{SERIES} series from a service that answers in {LATENCY_S * 1000:g} ms", rows)
    with slow_service(0.0) as url, TemporaryDirectory() as folder:
        report("New signals from a service that answers at once", _growth(url, Path(folder)))


def _growth(url: str, folder: Path) -> list[Row]:
    """The time of ever more new signals, beside that of bare httpx for as many."""
    rows = []
    for count_ in GROWTH:
        repeats = max(1, min(5, 2_000 // count_))
        stores = (folder / f"{count_}-{number}.sqlite" for number in count())
        works: dict[str, Callable[[], object]] = {
            "bare": lambda number=count_: asyncio.run(_bare(url, number)),  # type: ignore[misc]
            "memory": lambda number=count_: asyncio.run(_ours(url, None, number)),  # type: ignore[misc]
            "store": lambda number=count_, stores=stores: asyncio.run(  # type: ignore[misc]
                _ours(url, SqliteStore(next(stores)), number)
            ),
        }
        times = alternating(works, repeats=repeats, warm_up=count_ < 1_000)
        for kind in ("memory", "store"):
            more_ms = (times[kind] - times["bare"]) / count_ * 1_000
            note = f"{more_ms:+.2f} ms a request over bare httpx, the floor"
            rows.append(Row(f"{count_:,} new signals, {kind}", times[kind], times["bare"], note=note))
    return rows


async def _ours(url: str, store: Store | None, series: int = SERIES) -> None:
    async with AsyncClient(url, KEY, store=store, deadline_s=600) as client:
        await asyncio.gather(*(client.read(SignalResource(f"s{number}")) for number in range(series)))
    if store is not None:
        await store.aclose()


async def _bare(url: str, series: int = SERIES) -> None:
    places = asyncio.Semaphore(MAX_CONNECTIONS)

    async def get(number: int) -> bytes:
        async with places:
            return (await http.get(f"{url}/v1/signals/s{number}")).content

    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=MAX_CONNECTIONS), trust_env=False) as http:
        await asyncio.gather(*(get(number) for number in range(series)))


@contextmanager
def slow_service(latency_s: float = LATENCY_S) -> Iterator[str]:
    """The address of the least service that can answer so late, in a process of its own."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        command = [sys.executable, "-m", "benchmarks.series", "--serve", str(listener.fileno()), str(latency_s)]
        process = subprocess.Popen(command, pass_fds=[listener.fileno()])
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            process.terminate()
            process.wait()


async def _serve(listener: socket.socket, latency_s: float) -> None:
    server = await asyncio.start_server(partial(_converse, latency_s=latency_s), sock=listener)
    await server.serve_forever()


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, latency_s: float) -> None:
    """Answer every request on one connection with a year of daily values."""
    history = [{"observed_at": f"2025-{n // 28 % 12 + 1:02}-{n % 28 + 1:02}T00:00:00Z", "value": n} for n in range(336)]
    while head := await _head(reader):
        slug = head.split(b" ")[1].partition(b"?")[0].rpartition(b"/")[2].decode()
        await asyncio.sleep(latency_s)
        body = orjson.dumps({"data": {"slug": slug, "latest": history[-1], "history": history}})
        writer.write(f"HTTP/1.1 200 OK\r\n{HEADERS}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
    writer.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        asyncio.run(_serve(socket.socket(fileno=int(sys.argv[2])), float(sys.argv[3])))
    else:
        run_alone(main)
