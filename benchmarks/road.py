"""How fast new signals come from a service behind TLS and some distance away: `python -m benchmarks.road`.

The service, the nginx in front of it, and the distance are processes of their own; so is each client, whose processor
time is its own then. The floors are two bare clients over aiohttp with as many connections: one that decodes nothing,
for the wall, and one that makes the values of each answer, as any client has to, for the processor time. The proxy
offers HTTP/2 as well: a third bare client asks by that, with as many streams of one connection, where the proxy does
not renew it meanwhile. Ours never does: with a connection that is renewed its requests are lost, and each is paid for.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import ssl
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp
import httpx
import msgspec
import numpy as np

from benchmarks.figures.measuring import Row, report
from benchmarks.figures.results import run_alone
from dataservice.client import AsyncClient, SignalResource
from dataservice.client.network.connections import Connections
from dataservice.client.network.transport import MAX_CONNECTIONS
from dataservice.stores import SqliteStore
from tests.road.distance import far_away
from tests.road.nginx import is_installed, nginx
from tests.road.service import KEY, service

DISTANCES_S = (0.0, 0.02, 0.1, 0.2)
SIGNALS = (500, 5_000)
FAR_S = 0.1
"""The distance at which the promise is made, and at which most signals are asked for."""

REACH, CPU_REACH, FIRST_S = 1.15, 1.5, 2.0
REPEATS = 5
CLIENTS = ("bare", "http2", "reading", "memory", "store")
KEEPALIVE_REQUESTS = 1_000
"""As nginx has it: after so many it renews a connection."""

SELF = (sys.executable, "-m", "benchmarks.road")

Taken = dict[str, list[float]]


def main(arguments: Sequence[str] = ()) -> None:
    """Print a table for each distance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="runs of each (default: %(default)s)")
    parser.add_argument("--signals", type=int, nargs="+", default=SIGNALS, help="how many (default: %(default)s)")
    parser.add_argument("--distances", type=float, nargs="+", default=DISTANCES_S, help="seconds there and back")
    given = parser.parse_args(arguments)
    if not is_installed():
        sys.exit("there is no nginx here")
    for away_s in given.distances:
        rows: list[Row] = []
        for signals in given.signals if away_s == FAR_S else given.signals[:1]:
            rows += _rows(signals, _measured(signals, away_s, given.repeats), is_promised=away_s == FAR_S)
        report(f"New signals from a service behind nginx and TLS, {away_s * 1000:g} ms away", rows)


def _rows(signals: int, taken: dict[str, Taken], *, is_promised: bool) -> list[Row]:
    rows = []
    reach, cpu_reach, first_reach_s = (REACH, CPU_REACH, FIRST_S) if is_promised else (None, None, None)
    if "http2" in taken:
        last = _in_turn(taken["http2"], taken["bare"], "last_s")
        rows.append(Row(f"{signals:,} answers by bare httpx over HTTP/2: the last", *last, note="nothing is kept"))
    for client, kept in (("memory", "in memory"), ("store", "in a new file")):
        first, last, cpu = (_in_turn(taken[client], taken["bare"], part) for part in ("first_s", "last_s", "cpu_s"))
        beside_reading = _in_turn(taken[client], taken["reading"], "cpu_s")
        what = f"{signals:,} signals, kept {kept}"
        rows += [
            Row(f"{what}: the first value", *first, reach_s=first_reach_s),
            Row("… the last value", *last, reach),
            Row("… its processor time, beside one that decodes nothing", *cpu),
            Row(
                "… beside one that makes the values",
                *beside_reading,
                cpu_reach,
                note=f"{cpu[0] / signals * 1000:.2f} ms each",
            ),
        ]
    return rows


def _in_turn(ours: Taken, bare: Taken, part: str) -> tuple[float, float]:
    """The medians of two clients that were measured in turns."""
    return statistics.median(ours[part]), statistics.median(bare[part])


def _measured(signals: int, away_s: float, repeats: int) -> dict[str, Taken]:
    """What each client took, in turns, so that a busy moment hits all alike."""
    clients = [each for each in CLIENTS if each != "http2" or signals < KEEPALIVE_REQUESTS]
    taken: dict[str, Taken] = {client: {"first_s": [], "last_s": [], "cpu_s": []} for client in clients}
    with ExitStack() as stack:
        running = stack.enter_context(service())
        proxy = stack.enter_context(nginx(running.port, keepalive_requests=KEEPALIVE_REQUESTS, http2=True))
        port = stack.enter_context(far_away(proxy.port, away_s)) if away_s else proxy.port
        for _ in range(repeats):
            for client in clients:
                command = [
                    *SELF,
                    "--client",
                    client,
                    f"https://localhost:{port}",
                    str(proxy.authority),
                    str(signals),
                ]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
                for part, seconds in json.loads(done.stdout).items():
                    taken[client][part].append(seconds)
    return taken


class _Observed(msgspec.Struct, gc=False):
    observed_at: str
    value: float | None


class _Signal(msgspec.Struct):
    slug: str
    name: str
    latest: _Observed
    history: list[_Observed]


class _Answer(msgspec.Struct):
    data: _Signal


_decode = msgspec.json.Decoder(_Answer).decode


def _made(body: bytes) -> tuple[_Signal, object, object]:
    """What a client that keeps nothing makes of an answer: its fields, and two columns."""
    signal = _decode(body).data
    times = np.array([each.observed_at.removesuffix("Z") for each in signal.history], "datetime64[us]")
    return signal, times, np.array([each.value for each in signal.history], float)


async def _bare(
    url: str,
    trusted: ssl.SSLContext,
    numbers: Iterable[int],
    arrived: Callable[[], None],
    made: Callable[[bytes], object],
) -> None:
    headers, kept = {"Authorization": f"Bearer {KEY}"}, list[object]()
    connector = aiohttp.TCPConnector(limit=MAX_CONNECTIONS, ssl=trusted)
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

        async def get(number: int) -> None:
            async with session.get(f"{url}/v1/signals/s{number}?history=365") as answer:
                kept.append(made(await answer.read()))
                arrived()

        await asyncio.gather(*map(get, numbers))


async def _by_http2(url: str, trusted: ssl.SSLContext, numbers: Iterable[int], arrived: Callable[[], None]) -> None:
    headers, kept = {"Authorization": f"Bearer {KEY}"}, list[bytes]()
    streams = asyncio.Semaphore(MAX_CONNECTIONS)
    async with httpx.AsyncClient(http2=True, verify=trusted, headers=headers, timeout=60) as client:

        async def get(number: int) -> None:
            async with streams:
                answer = await client.get(f"{url}/v1/signals/s{number}?history=365")
            assert answer.http_version == "HTTP/2"
            kept.append(answer.content)
            arrived()

        await asyncio.gather(*map(get, numbers))


async def _ours(
    url: str, trusted: ssl.SSLContext, numbers: Iterable[int], arrived: Callable[[], None], file: Path | None
) -> None:
    store = None if file is None else SqliteStore(file)
    transport = Connections(url, MAX_CONNECTIONS, verify=trusted)

    async def read(number: int) -> None:
        await client.read(SignalResource(f"s{number}"))
        arrived()

    async with AsyncClient(url, KEY, store=store, transport=transport, deadline_s=600) as client:
        await asyncio.gather(*map(read, numbers))
    if store is not None:
        await store.aclose()


def _client(kind: str, url: str, authority: str, signals: str) -> None:
    """Be one client, and print what it took."""
    trusted, arrivals, numbers = ssl.create_default_context(cafile=authority), list[float](), range(int(signals))
    begun, cpu_begun = time.perf_counter(), _cpu_s()

    def arrived() -> None:
        arrivals.append(time.perf_counter() - begun)

    with TemporaryDirectory(prefix="dataservice-benchmark-") as folder:
        file = Path(folder) / "cache.sqlite" if kind == "store" else None
        if kind == "http2":
            work = _by_http2(url, trusted, numbers, arrived)
        elif kind in ("bare", "reading"):
            work = _bare(url, trusted, numbers, arrived, _made if kind == "reading" else len)
        else:
            work = _ours(url, trusted, numbers, arrived, file)
        asyncio.run(work)
        assert len(arrivals) == len(numbers)
        print(json.dumps({"first_s": arrivals[0], "last_s": arrivals[-1], "cpu_s": _cpu_s() - cpu_begun}))


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    if sys.argv[1:2] == ["--client"]:
        _client(*sys.argv[2:])
    else:
        run_alone(lambda: main(sys.argv[1:]))
