"""What a counted request costs the embedded service, beside a bare route: `python -m benchmarks.service`."""

from __future__ import annotations

import argparse
import csv
import http.client
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from benchmarks.figures.measuring import Row, report
from benchmarks.figures.results import run_alone
from dataservice.server import Store, import_directory, write_sample
from dataservice.server.db.keys import hash_key
from dataservice.server.http.app import create_app
from dataservice.server.running import SERVER_OPTIONS

REACH = 1.2
SIGNALS, OBSERVATIONS = 1_000, 400
REPEATS = 5
ASKED = 300
"""Requests of each endpoint: enough for a 99th percentile."""

IMPORTED_A_SECOND = 200_000
DETAIL = "/v1/signals/s{}?history=365"
ENDPOINTS = (
    "/v1/signals",
    "/v1/signals/s{}?history=365",
    "/v1/signals/s{}/observations?start=2020-01-01",
    "/v1/indices",
    "/v1/currents",
    "/v1/codex",
    "/v1/almanac",
    "/v1/wire",
)


def main(arguments: Sequence[str] = ()) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--signals", type=int, default=SIGNALS, help=f"how many are imported (default: {SIGNALS})")
    parser.add_argument("--observations", type=int, default=OBSERVATIONS, help="of each (default: %(default)s)")
    given = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="dataservice-benchmark-") as name:
        folder = Path(name)
        key, import_s = _imported(folder, given.signals, given.observations)
        _prepare_bare(folder / "service.db")
        count = given.signals * given.observations
        report(
            f"The embedded service with {given.signals:,} signals",
            [
                Row(
                    f"import of {count:,} observations",
                    import_s,
                    _inserted_s(folder, given.signals, given.observations),
                    note=f"{count / import_s:,.0f} a second; floor: the database takes ready rows",
                    reach_s=count / IMPORTED_A_SECOND,
                ),
                *_cpu_rows(folder / "service.db", key, given.signals),
            ],
        )
        report("How long an answer takes, one at a time", _latency_rows(folder / "service.db", key, given.signals))


def _cpu_rows(database: Path, key: str, signals: int) -> list[Row]:
    """The processor time of a request: of one that was asked before, and of one that was not."""
    once = range(0, signals, max(1, signals // 400))
    again = [number for _ in range(4) for number in range(0, signals, max(1, signals // 100))]
    cpu: dict[str, list[float]] = {}
    for _ in range(REPEATS):
        for kind in ("bare", "ours"):
            with _serving(kind, database) as ask:
                cpu.setdefault(f"{kind} once", []).append(_cpu_s(ask, key, once))
                cpu.setdefault(f"{kind} again", []).append(_cpu_s(ask, key, again))
    best = {name: min(taken) for name, taken in cpu.items()}
    floor = "floor: a bare route that counts and reads the ready answer from one row"
    return [
        Row("processor time of a counted request", best["ours again"], best["bare again"], REACH, floor),
        Row("… of the first one about a signal", best["ours once"], best["bare once"]),
    ]


def _latency_rows(database: Path, key: str, signals: int) -> list[Row]:
    """How long the answers of each endpoint take: first about things not asked before, then about the same ones."""
    numbers = [number * 7 % signals for number in range(ASKED)]
    with _serving("bare", database) as ask:
        _taken(ask, DETAIL, key, numbers)
        bare = statistics.median(_taken(ask, DETAIL, key, numbers))
    rows = []
    with _serving("ours", database) as ask:
        for path in ENDPOINTS:
            first = _taken(ask, path, key, numbers) if "{}" in path else []
            again = _taken(ask, path, key, numbers)
            rows.append(Row(path.format("…"), statistics.median(again), bare, note=_p99(again)))
            if first:
                rows.append(Row("… the first time", statistics.median(first), bare, note=_p99(first)))
    return rows


def _taken(ask: Ask, path: str, key: str, numbers: Sequence[int]) -> list[float]:
    taken = []
    for number in numbers:
        begun = time.perf_counter()
        ask(path.format(number), key)
        taken.append(time.perf_counter() - begun)
    return taken


def _p99(taken: Sequence[float]) -> str:
    return f"p99 {statistics.quantiles(taken, n=100)[98] * 1000:.2f} ms; floor: the bare route"


Ask = Callable[[str, str], bytes]


def _cpu_s(ask: Ask, key: str, numbers: Sequence[int]) -> float:
    """Seconds of the server's processor for one request."""
    before = float(ask("/cpu", key))
    for number in numbers:
        ask(DETAIL.format(number), key)
    return (float(ask("/cpu", key)) - before) / len(numbers)


@contextmanager
def _serving(kind: str, database: Path) -> Iterator[Ask]:
    """What asks a server of that kind, in a process of its own, over one connection."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        command = [sys.executable, "-m", "benchmarks.service", "--serve", kind, str(database), str(listener.fileno())]
        process = subprocess.Popen(command, pass_fds=[listener.fileno()])
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", listener.getsockname()[1], timeout=30)) as connection:

                def ask(path: str, key: str) -> bytes:
                    connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
                    response = connection.getresponse()
                    body = response.read()
                    if response.status != 200:
                        raise RuntimeError(f"{path}: {response.status} {body[:200]!r}")
                    return body

                yield ask
        finally:
            process.terminate()
            process.wait()


def _imported(folder: Path, signals: int, observations: int) -> tuple[str, float]:
    """A database of made-up data with so many signals, a key, and the seconds that the import took."""
    sample = folder / "sample"
    write_sample(sample)
    with (sample / "signals.csv").open(encoding="utf-8") as file:
        columns = next(csv.reader(file))
    with (sample / "signals.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        for number in range(signals):
            row = {"slug": f"s{number}", "name": f"Signal {number}", "category": "c", "signal_type": "t", "source": "x"}
            writer.writerow({**dict.fromkeys(columns, ""), **row, "is_premium": "false"})
    for old in (sample / "observations").iterdir():
        old.unlink()
    days = [date(2026, 8, 31) - timedelta(days=n) for n in range(observations)][::-1]
    for number in range(signals):
        lines = [f"{day}T00:00:00Z,{100 + (number + place) * 0.37 % 91:.2f}" for place, day in enumerate(days)]
        text = "\n".join(["observed_at,value", *lines, ""])
        (sample / "observations" / f"s{number}.csv").write_text(text, encoding="utf-8")
    with Store(folder / "service.db") as store:
        begun = time.perf_counter()
        import_directory(store, sample)
        return store.create_key("enterprise"), time.perf_counter() - begun


def _inserted_s(folder: Path, signals: int, observations: int) -> float:
    """The seconds that SQLite takes for so many ready rows."""
    rows = [(signal, 10**6 * place, place * 0.37) for signal in range(signals) for place in range(observations)]
    with closing(sqlite3.connect(folder / "floor.db", isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE rows (a INTEGER, b INTEGER, c REAL, PRIMARY KEY (a, b)) WITHOUT ROWID")
        begun = time.perf_counter()
        db.execute("BEGIN")
        db.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows)
        db.execute("COMMIT")
        return time.perf_counter() - begun


def _prepare_bare(database: Path) -> None:
    """A table with the ready answer about each signal in one row."""
    with Store(database) as store, closing(sqlite3.connect(database, isolation_level=None)) as db:
        slugs = [slug for (slug,) in db.execute("SELECT slug FROM signals").fetchall()]
        db.execute("CREATE TABLE ready (slug TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID")
        db.execute("BEGIN")
        for slug in slugs:
            found = store.signal(slug, history=365)
            assert found is not None
            data = {**found.record, "latest": found.latest, "history": found.history}
            db.execute("INSERT INTO ready VALUES (?, ?)", (slug, orjson.dumps({"data": data}, option=orjson.OPT_UTC_Z)))
        db.execute("COMMIT")


def _bare_app(database: str) -> ASGIApp:
    """The least that can count a request and read its answer from one row."""
    db = sqlite3.connect(database, isolation_level=None)
    db.execute("PRAGMA synchronous = NORMAL")
    count = (
        "INSERT INTO usage VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET used = used + 1 WHERE used < 1000000 "
        "RETURNING used"
    )

    async def detail(request: Request) -> Response:
        key = request.headers["authorization"].removeprefix("Bearer ")
        month = datetime.now(UTC).strftime("%Y-%m")
        ((used,),) = db.execute(count, (hash_key(key), month)).fetchall()
        (body,) = db.execute("SELECT body FROM ready WHERE slug = ?", (request.path_params["slug"],)).fetchone()
        headers = {
            "x-service-tier": "enterprise",
            "x-service-ratelimit-cap": "1000000",
            "x-service-ratelimit-remaining": str(1_000_000 - used),
        }
        return Response(body, media_type="application/json", headers=headers)

    return Starlette(routes=[Route("/v1/signals/{slug}", detail)])


def _serve(kind: str, database: str, listener: int) -> None:
    app: ASGIApp = _bare_app(database) if kind == "bare" else create_app(Store(database))

    async def measured(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/cpu":
            await Response(str(time.process_time()))(scope, receive, send)
        else:
            await app(scope, receive, send)

    config = uvicorn.Config(
        measured, interface="asgi3", log_level="warning", access_log=False, server_header=False, **SERVER_OPTIONS
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=listener)])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        _serve(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        run_alone(lambda: main(sys.argv[1:]))
