"""Counted requests a second of two processes of the service on PostgreSQL: `python -m benchmarks.throughput`.

The load comes from a process of its own over raw sockets. On a machine with few cores it and the database take their
share of the processors, so the time of the processes themselves is told too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import psutil
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp
from uvicorn.supervisors import Multiprocess

from benchmarks.figures.measuring import Row, report
from benchmarks.figures.results import run_alone
from dataservice.server import Store, import_directory, write_sample
from dataservice.server.running import SERVER_OPTIONS, address_of, listen
from tests.postgresql import is_installed, postgresql_server

REQUESTS = 8_000
CONNECTIONS = 64
WORKERS = 2
REACH_A_SECOND = 2_000
SLUGS = ("us-cpi", "us-10y", "eia.wti.spot", "sp-500", "cboe.vix", "fx.eur-usd", "fx.usd-jpy", "btc-usd")
SELF = (sys.executable, "-m", "benchmarks.throughput")
CAP = 1_000
"""Of the key whose cap is reached."""


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS, help="of each load (default: %(default)s)")
    given = parser.parse_args(arguments)
    if not is_installed():
        sys.exit("there is no PostgreSQL here")
    with TemporaryDirectory(prefix="dataservice-benchmark-") as name, postgresql_server(is_durable=True) as database:
        write_sample(Path(name))
        with Store(database) as store:
            import_directory(store, Path(name))
            key, spent = store.create_key("enterprise", cap=10**9), store.create_key("enterprise", cap=CAP)
            bare = _measured([*SELF, "--serve"], [key], given.requests)
            rows = [
                _row("counted requests, one key", _measured(_service(database), [key], given.requests), bare),
                _row("… the keys of 50 users", _measured(_service(database), _keys(store, 50), given.requests), bare),
            ]
            with _serving(_service(database)) as (address, _):
                statuses = _load(address, [spent], CAP + CAP // 2)["statuses"]
            assert statuses.pop("200") == CAP == store.usage(spent), f"the cap is not exact: {statuses}"
            assert set(statuses) == {"429"}, f"the cap was not reached, or something failed: {statuses}"
    report(f"{WORKERS} processes of the service on PostgreSQL, {CONNECTIONS} connections; the cap was exact", rows)


def _keys(store: Store, count: int) -> list[str]:
    return [store.create_key("enterprise", cap=10**9) for _ in range(count)]


Found = dict[str, Any]


def _row(what: str, found: Found, bare: Found) -> Row:
    note = (
        f"{1 / found['each_s']:,.0f} a second (floor: nothing counted, {1 / bare['each_s']:,.0f}); "
        f"{found['cpu_s'] * 1000:.2f} ms of their processors each; "
        f"p50 {found['p50_s'] * 1000:.0f} ms, p99 {found['p99_s'] * 1000:.0f} ms"
    )
    return Row(what, found["each_s"], bare["each_s"], note=note, reach_s=1 / REACH_A_SECOND)


def _measured(command: Sequence[str], keys: Sequence[str], requests: int) -> Found:
    """What a load finds, and the seconds of the serving processors for one request."""
    with _serving(command) as (address, cpu_s):
        _load(address, keys, REQUESTS // 8)  # every answer is known then
        before_s = cpu_s()
        found = _load(address, keys, requests)
        each_s = (cpu_s() - before_s) / requests
    assert found["statuses"] == {"200": requests}, found["statuses"]
    return {**found, "cpu_s": each_s}


def _cpu_s(process: psutil.Process) -> float:
    """The processor time of a process and its children: its supervisor replaces one that answers too late."""
    times = process.cpu_times()
    spent_s = times.user + times.system + times.children_user + times.children_system
    for child in process.children():
        with suppress(psutil.NoSuchProcess):
            spent_s += _cpu_s(child)
    return spent_s


def _service(database: str) -> list[str]:
    return [sys.executable, "-m", "dataservice", "serve", "--db", database, "--port", "0", "--workers", str(WORKERS)]


def bare_app() -> ASGIApp:
    """The floor: a route that counts nothing, and answers with as many bytes as the service."""

    async def detail(_: Request) -> Response:
        return Response(bytes(2_500), media_type="application/json")

    return Starlette(routes=[Route("/v1/signals/{slug}", detail)])


def _serve_bare() -> None:
    listener = listen("127.0.0.1", 0)
    print(address_of(listener), flush=True)
    app, quiet = "benchmarks.throughput:bare_app", {"log_level": "warning", "access_log": False}
    config = uvicorn.Config(app, factory=True, workers=WORKERS, **quiet, **SERVER_OPTIONS)
    Multiprocess(config, sockets=[listener]).run()


@contextmanager
def _serving(command: Sequence[str]) -> Iterator[tuple[str, Callable[[], float]]]:
    """The address of a server, and what tells the processor time of its processes so far."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            address = next(word for word in serving.stdout.readline().split() if word.startswith("http://")).rstrip(",")
            _load(address, ["ds_" + "0" * 40], CONNECTIONS)  # answered as soon as a worker listens
            yield address, lambda: _cpu_s(psutil.Process(serving.pid))
        finally:
            serving.terminate()
            serving.wait()


def _load(address: str, keys: Sequence[str], requests: int) -> Found:
    """What a process that asks as fast as it can over all connections was answered."""
    command = [*SELF, "--load", address, ",".join(keys), str(requests)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


async def _ask(address: str, keys: Sequence[str], requests: int) -> Found:
    where = urlsplit(address)
    turns = iter(range(requests))
    taken: list[float] = []
    statuses: Counter[str] = Counter()

    async def connection() -> None:
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        for turn in turns:  # all connections take from one iterator
            begun = time.perf_counter()
            writer.write(
                f"GET /v1/signals/{SLUGS[turn % len(SLUGS)]}?history=30 HTTP/1.1\r\nHost: {where.netloc}\r\n"
                f"Authorization: Bearer {keys[turn % len(keys)]}\r\n\r\n".encode()
            )
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
            await reader.readexactly(length)
            statuses[head[9:12].decode()] += 1
            taken.append(time.perf_counter() - begun)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    begun = time.perf_counter()
    await asyncio.gather(*(connection() for _ in range(CONNECTIONS)))
    each_s = (time.perf_counter() - begun) / requests
    p50, p99 = statistics.median(taken), statistics.quantiles(taken, n=100)[98]
    return {"each_s": each_s, "statuses": statuses, "p50_s": p50, "p99_s": p99}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--load"]:
        print(json.dumps(asyncio.run(_ask(sys.argv[2], sys.argv[3].split(","), int(sys.argv[4])))))
    elif sys.argv[1:2] == ["--serve"]:
        _serve_bare()
    else:
        run_alone(lambda: main(sys.argv[1:]))
