"""What 10,000 cells of ours cost LibreOffice: `python -m benchmarks.calc_cells`.

Each time is `soffice --convert-to csv` from a fresh profile to the written file; the floor is the same book with
constants in place of formulas. With a cold cache the backend asks the service for every slug meanwhile.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send
from xlsxwriter import Workbook

from addin.backend import create_app
from addin.backend.serving import listen, running
from addin.calc.extension import Extension
from addin.calc.soffice import convert
from addin.config.api_key import ConfiguredKey, KeySource, KeyStore, no_keychain
from addin.config.settings import Settings
from benchmarks.figures.measuring import Row, report
from benchmarks.figures.results import run_alone
from dataservice.server import Store, import_directory

CELLS = (1_000, 10_000, 50_000)
SLUGS = 500
REPEATS = 3
MORE_S = 2.0
"""What the cells may take longer than constants."""

BATCHES = 5
"""Requests to the backend that 10,000 cells may be."""


@dataclass
class Counted:
    """The backend, and how many batches it was sent."""

    app: ASGIApp
    batches: list[str] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/functions/call":
            self.batches.append(scope["path"])
        await self.app(scope, receive, send)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="dataservice-benchmark-") as name, _service(Path(name)) as service:
        rows = [row for cells in CELLS for row in _measure(Path(name), service, cells)]
    report(f"LibreOffice, DS.SIGNAL on {SLUGS} slugs, to a csv from cold", rows)


@dataclass
class Turns:
    """The seconds of several runs taken in turns, so that a busy moment of the machine hits all kinds alike."""

    constants: list[float] = field(default_factory=list)
    asking: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)
    batches: int = 0
    requests: int = 0


def _measure(folder: Path, service: Service, cells: int) -> Iterator[Row]:
    constants, ours = (_book(folder / f"{kind}.xlsx", cells, kind) for kind in ("constants", "ours"))
    turns = Turns()
    for number in range(REPEATS):
        turns.constants.append(_timed(lambda: convert(constants, to="csv", into=folder / "out")))
        with _backend(service, folder / f"alone-{cells}-{number}") as (url, _):
            turns.asking.append(_timed(lambda: _ask_all(url)))
        service.forget_requests()
        for taken in (turns.cold, turns.warm):
            with _backend(service, folder / f"cache-{cells}-{number}") as (url, counted):
                extension = Extension(url=url)
                taken.append(_timed(lambda: convert(ours, to="csv", into=folder / "out", extension=extension)))  # noqa: B023
            turns.batches = max(turns.batches, len(counted.batches))
        turns.requests = max(turns.requests, service.request_count)
    if cells <= 10_000 and turns.batches > BATCHES:
        raise SystemExit(f"{cells:,} cells were {turns.batches} batches, more than {BATCHES}")
    yield _row(f"{cells:,} cells, warm cache", turns.warm, median(turns.constants), f"{turns.batches} batch(es)", cells)
    asking = f"{turns.requests} requests, asking alone {median(turns.asking):.2f} s"
    yield _row(f"{cells:,} cells, cold cache", turns.cold, median(turns.constants), asking, cells)


def _row(what: str, taken: list[float], floor: float, note: str, cells: int) -> Row:
    more, reach_s = median(taken) - floor, round(floor + MORE_S, 2) if cells <= 10_000 else None
    return Row(what, median(taken), floor, reach_s=reach_s, note=f"{more:+.2f} s, {note}")


def _ask_all(url: str) -> None:
    calls = [["SIGNAL", f"made.up.{number:03}"] for number in range(SLUGS)]
    httpx.post(f"{url}/functions/call", json={"calls": calls}, timeout=60, trust_env=False).raise_for_status()


def _timed(work: Callable[[], object]) -> float:
    begun = perf_counter()
    work()
    return perf_counter() - begun


def _book(path: Path, cells: int, kind: str) -> Path:
    with Workbook(path) as book:
        sheet = book.add_worksheet()
        for row in range(cells):
            sheet.write_string(row, 0, f"made.up.{row % SLUGS:03}")
            if kind == "ours":
                formula = f"=_xldudf_DS_SIGNAL(A{row + 1})"
                sheet.write_dynamic_array_formula(row, 1, row, 1, formula, None, 0)
            else:
                sheet.write_number(row, 1, row)
    return path


@dataclass
class Service:
    """The embedded service in a process of its own, as services are: in ours it would take turns with the backend."""

    url: str
    key: str
    store: Store
    before: int = 0

    @property
    def request_count(self) -> int:
        """Requests spent since `forget_requests`."""
        return self.store.usage(self.key) - self.before

    def forget_requests(self) -> None:
        """Count from zero."""
        self.before = self.store.usage(self.key)


@contextmanager
def _service(folder: Path) -> Iterator[Service]:
    _write_data(folder / "data")
    with Store(folder / "service.db") as store:
        import_directory(store, folder / "data")
        command = [
            sys.executable,
            "-u",
            "-m",
            "dataservice",
            "serve",
            "--db",
            str(folder / "service.db"),
            "--port",
            "0",
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            words = (word.strip(",.") for line in process.stdout for word in line.split())
            yield Service(
                next(word for word in words if word.startswith("http://")), store.create_key("enterprise"), store
            )
            process.terminate()


@contextmanager
def _backend(service: Service, cache: Path) -> Iterator[tuple[str, Counted]]:
    keys = KeyStore(service.url, open_keychain=no_keychain, file=cache / "keys.json")
    settings = Settings(url=service.url, cache_dir=cache, ask_above=SLUGS)
    counted = Counted(create_app(settings, keys=keys, key=ConfiguredKey(service.key, KeySource.CONFIG)))
    with running(counted, listen("127.0.0.1", 0)) as url:
        yield url, counted


def _write_data(folder: Path) -> None:
    (folder / "observations").mkdir(parents=True)
    header = ("slug", "shortcode", "name", "category", "signal_type", "source", "description", "unit", "is_premium")
    with (folder / "signals.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for number in range(SLUGS):
            slug = f"made.up.{number:03}"
            writer.writerow(
                (slug, "", f"Made-up series {number}", "macro", "level", "Made-up data", "", "points", "false")
            )
            lines = "".join(f"2026-01-{day:02}T00:00:00Z,{number + day / 100}\n" for day in range(1, 29))
            (folder / "observations" / f"{slug}.csv").write_text(f"observed_at,value\n{lines}", encoding="utf-8")


if __name__ == "__main__":
    run_alone(main)
