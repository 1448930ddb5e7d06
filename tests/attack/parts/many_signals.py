"""A service with many small signals, whose values tell their names: a value in a wrong cell is seen."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dataservice.server import Store, import_directory, running
from dataservice.server.sample.signals import COLUMNS
from tests.embedded import EmbeddedService


def slug_of(number: int) -> str:
    """The signal with this number."""
    return f"many.s{number}"


def value_of(number: int) -> float:
    """Its latest value."""
    return number + 0.5


def write_data(folder: Path, signals: int, *, more: float = 0.0) -> Path:
    """Write so many signals, each with three observations, `more` than their values; the folder to import."""
    (folder / "many" / "observations").mkdir(parents=True)
    today = datetime.now(UTC).date()
    rows = [
        [slug_of(n), f"M{n}", f"Number {n}", "macro", "level", "made up", "", "units", "false"] for n in range(signals)
    ]
    _write(folder / "many" / "signals.csv", COLUMNS, rows)
    for n in range(signals):
        observed = [[f"{today - timedelta(days=days)}T00:00:00Z", value_of(n) + more - days] for days in (2, 1, 0)]
        _write(folder / "many" / "observations" / f"{slug_of(n)}.csv", ["observed_at", "value"], observed)
    return folder / "many"


@contextmanager
def service_of(folder: Path, signals: int) -> Iterator[EmbeddedService]:
    """A service with so many signals inside the block, each with three observations."""
    data = write_data(folder, signals)
    with Store(folder / "many.db") as store:
        import_directory(store, data)
        with running(store) as service:
            yield EmbeddedService(service, store.create_key("pro"), store.create_key("free"))


def _write(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
