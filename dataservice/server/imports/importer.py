"""Importing a directory: the data of the store are replaced by it, in one transaction, or not at all."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, delete, insert

from dataservice.server.db.repository import Store
from dataservice.server.db.schema import (
    DATA_TABLES,
    currents,
    indices,
    observations,
    posts,
    signals,
    wire_items,
    wire_tickers,
)
from dataservice.server.imports.dataset import DataSet, data_files, read_directory

# Rows a statement: few enough to show progress and keep memory flat, enough that the statement's cost vanishes.
BATCH_ROWS = 10_000

PROGRESS_BYTES = 2**18  # telling it of every line would take longer than reading it

OnProgress = Callable[[str, int, int], None]
"""Told the step (`reading` in bytes, `writing` in rows), how much of it is done, and how much there is."""

Rows = Iterator[dict[str, Any]]


@dataclass(frozen=True)
class ImportSummary:
    """How much was imported, and which data files had no place in the layout."""

    signals: int
    observations: int
    indices: int
    currents: int
    posts: int
    wire_items: int
    ignored: list[str]


def import_directory(
    store: Store, directory: str | Path, *, on_progress: OnProgress = lambda _step, _done, _total: None
) -> ImportSummary:
    """Replace all data of a store by what a directory holds; keys and their counts stay.

    The layout: `signals.csv`, and where there is something to say `observations/<slug>.csv`, `indices.json`,
    `currents.json`, `codex.jsonl`, `wire.jsonl`. Raises `ImportRefusedError` with file and line at the first row that
    does not fit; the store then keeps what it had. Callers see the old data until all of the new is there.
    """
    directory = Path(directory)
    total = sum(path.stat().st_size for path in data_files(directory))
    read = told = 0

    def on_bytes(count: int) -> None:
        nonlocal read, told
        read += count
        if read - told >= PROGRESS_BYTES or read == total:
            told = read
            on_progress("reading", read, total)

    dataset = read_directory(directory, on_bytes=on_bytes)
    with store.database.writing() as connection:
        _replace(connection, dataset, on_progress)
    return ImportSummary(
        signals=len(dataset.signals),
        observations=dataset.observation_count,
        indices=len(dataset.indices),
        currents=len(dataset.currents),
        posts=len(dataset.posts),
        wire_items=len(dataset.wire),
        ignored=dataset.ignored,
    )


def _replace(connection: Connection, dataset: DataSet, on_progress: OnProgress) -> None:
    for table in reversed(DATA_TABLES):
        connection.execute(delete(table))
    total = dataset.observation_count
    written = 0
    for table, rows in _tables(dataset):
        while batch := list(islice(rows, BATCH_ROWS)):
            connection.execute(insert(table), batch)
            if table is observations:
                written += len(batch)
                on_progress("writing", written, total)


def _tables(dataset: DataSet) -> Iterator[tuple[Table, Rows]]:
    yield signals, _signal_rows(dataset)
    yield observations, _observation_rows(dataset)
    for table, records in ((indices, dataset.indices), (currents, dataset.currents)):
        yield table, ({"slug": record.fields["slug"], "record": record.json} for record in records)
    yield posts, _post_rows(dataset)
    yield wire_items, _wire_rows(dataset)
    yield wire_tickers, _ticker_rows(dataset)


def _signal_rows(dataset: DataSet) -> Rows:
    for number, record in enumerate(dataset.signals, start=1):
        fields = record.fields
        yield {"id": number, "slug": fields["slug"], "category": fields["category"], "record": record.json}


def _observation_rows(dataset: DataSet) -> Rows:
    for number, record in enumerate(dataset.signals, start=1):
        series = dataset.series.get(record.fields["slug"])
        if series is not None:
            for at, value in zip(series.observed_at_us, series.values, strict=True):
                yield {"signal_id": number, "observed_at_us": at, "value": value}


def _post_rows(dataset: DataSet) -> Rows:
    for record in dataset.posts:
        fields = record.fields
        yield {
            "slug": fields["slug"],
            "published_at_us": record.published_at_us,
            "handle": fields["byline"]["handle"],
            "beat": fields["byline"].get("topic_beat"),
            "story_type": fields["story_type"],
            "record": record.json,
        }


def _wire_rows(dataset: DataSet) -> Rows:
    for number, record in enumerate(dataset.wire, start=1):
        fields = record.fields
        yield {
            "id": number,
            "uuid": fields["id"],
            "published_at_us": record.published_at_us,
            **{name: fields[name] for name in ("kind", "beat", "source", "importance_score")},
            "record": record.json,
        }


def _ticker_rows(dataset: DataSet) -> Rows:
    for number, record in enumerate(dataset.wire, start=1):
        for ticker in dict.fromkeys(record.fields["tickers"]):
            yield {"ticker": ticker, "wire_item_id": number}
