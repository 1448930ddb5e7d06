"""Writing the made-up data set in the layout an import reads."""

import csv
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

import orjson

from dataservice.server.dataset import CURRENTS, INDICES, OBSERVATIONS, POSTS, WIRE
from dataservice.server.dataset import SIGNALS as CATALOGUE
from dataservice.server.instants import utc_now
from dataservice.server.sample.catalogue import COLUMNS, SIGNALS
from dataservice.server.sample.composites import currents, indices
from dataservice.server.sample.stories import posts, wire
from dataservice.server.sample.walks import walk

# Of some hundreds the one whose walks look most like what they are named after.
SEED = 297


def write_sample(directory: str | Path, *, as_of: date | None = None, seed: int = SEED) -> None:
    """Write a made-up data set whose newest observations are of `as_of` (today in UTC): the same for the same day.

    15 signals, 4 indices, 6 currents, 152 wire items and 12 posts, all of them named as made up.
    """
    directory = Path(directory)
    as_of = as_of or utc_now().date()
    walks = {signal.slug: walk(signal, as_of=as_of, seed=seed) for signal in SIGNALS}
    items = wire(walks, as_of=as_of, seed=seed)
    (directory / OBSERVATIONS).mkdir(parents=True, exist_ok=True)
    _write_csv(directory / CATALOGUE, COLUMNS, (signal.row for signal in SIGNALS))
    for slug, series in walks.items():
        rows = ((f"{day}T00:00:00Z", value) for day, value in zip(series.days, series.values, strict=True))
        _write_csv(directory / OBSERVATIONS / f"{slug}.csv", ["observed_at", "value"], rows)
    _write_array(directory / INDICES, indices(walks))
    _write_array(directory / CURRENTS, currents())
    _write_lines(directory / WIRE, items)
    _write_lines(directory / POSTS, posts(items))


def _write_csv(path: Path, header: list[str], rows: Iterable[Iterable[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _write_array(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_bytes(orjson.dumps(records, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_bytes(b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records))
