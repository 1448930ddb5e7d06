"""What 10,000 cells of ours cost LibreOffice: `python -m benchmarks.calc_cells`.

Each time is `soffice --convert-to csv` from a fresh profile to the written file; the floor is the same book with
constants in place of formulas. With a cold cache the backend must ask the service first: what that takes without any
spreadsheet is part of the floor then.
"""

from __future__ import annotations

import csv
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
from addin.keys import ApiKey, KeySource, KeyStore, no_keychain
from addin.settings import Settings
from benchmarks.measuring import Row, report
from dataservice.server import RunningService, Store, import_directory
from dataservice.server import running as running_service

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
    with tempfile.TemporaryDirectory(prefix="dataservice-benchmark-") as name, _service(Path(name)) as (service, key):
        rows = [row for cells in CELLS for row in _measure(Path(name), service, key, cells)]
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


def _measure(folder: Path, service: RunningService, key: str, cells: int) -> Iterator[Row]:
    constants, ours = (_book(folder / f"{kind}.xlsx", cells, kind) for kind in ("constants", "ours"))
    turns = Turns()
    for number in range(REPEATS):
        turns.constants.append(_timed(lambda: convert(constants, to="csv", into=folder / "out")))
        with _backend(service, key, folder / f"alone-{cells}-{number}") as (url, _):
            turns.asking.append(_timed(lambda: _ask_all(url)))
        service.forget_requests()
        for taken in (turns.cold, turns.warm):
            with _backend(service, key, folder / f"cache-{cells}-{number}") as (url, counted):
                extension = Extension(url=url)
                taken.append(_timed(lambda: convert(ours, to="csv", into=folder / "out", extension=extension)))  # noqa: B023
            turns.batches = max(turns.batches, len(counted.batches))
        turns.requests = max(turns.requests, service.request_count)
    if cells <= 10_000 and turns.batches > BATCHES:
        raise SystemExit(f"{cells:,} cells were {turns.batches} batches, more than {BATCHES}")
    yield _row(f"{cells:,} cells, warm cache", turns.warm, median(turns.constants), f"{turns.batches} batch(es)", cells)
    floor = median(turns.constants) + median(turns.asking)
    yield _row(f"{cells:,} cells, cold cache", turns.cold, floor, f"{turns.requests} requests", cells)


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


@contextmanager
def _service(folder: Path) -> Iterator[tuple[RunningService, str]]:
    _write_data(folder / "data")
    with Store(folder / "service.db") as store:
        import_directory(store, folder / "data")
        with running_service(store) as service:
            yield service, store.create_key("enterprise")


@contextmanager
def _backend(service: RunningService, key: str, cache: Path) -> Iterator[tuple[str, Counted]]:
    keys = KeyStore(service.url, open_keychain=no_keychain, file=cache / "keys.json")
    settings = Settings(url=service.url, cache_dir=cache)
    counted = Counted(create_app(settings, keys=keys, key=ApiKey(key, KeySource.CONFIG)))
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
    main()
