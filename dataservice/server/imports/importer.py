"""Importing a directory: the data of the store are replaced by it, in one transaction, or not at all."""

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, delete, insert

from dataservice.server.db import database as db
from dataservice.server.db.repository import Store
from dataservice.server.errors import ImportRefusedError
from dataservice.server.imports.dataset import CheckedRecord, DataSet, data_files, read_directory
from dataservice.server.imports.series_file import Series

CHUNK_ROWS = 50_000
"""Rows at a time: few enough to show progress and keep memory flat."""

ROWS_A_STATEMENT = 100
"""Rows that SQLite inserts by one statement, in half the time of one each."""

_INTO = "observations (signal_id, observed_at_us, value)"
_PLACES = "(?, ?, ?)"

Row = tuple[int, int, float]


def write_observations(connection: Connection, series: Iterable[tuple[int, Series]]) -> Iterator[int]:
    """Write the observations of signals by their ids in the database; yields how many each step has written."""
    rows = chain.from_iterable(
        zip(repeat(signal_id), each.observed_at_us, each.values, strict=False) for signal_id, each in series
    )
    cursor: Any = connection.connection.cursor()
    write = _insert if connection.dialect.name == "sqlite" else _copy
    try:
        while chunk := list(islice(rows, CHUNK_ROWS)):
            write(cursor, chunk)
            yield len(chunk)
    finally:
        cursor.close()


def _insert(cursor: Any, rows: list[Row]) -> None:
    whole = len(rows) - len(rows) % ROWS_A_STATEMENT
    values = list(chain.from_iterable(rows[:whole]))
    width = ROWS_A_STATEMENT * 3
    parts = [values[start : start + width] for start in range(0, len(values), width)]
    cursor.executemany(f"INSERT INTO {_INTO} VALUES {', '.join([_PLACES] * ROWS_A_STATEMENT)}", parts)  # noqa: S608 - constants
    cursor.executemany(f"INSERT INTO {_INTO} VALUES {_PLACES}", rows[whole:])  # noqa: S608 - constants


def _copy(cursor: Any, rows: list[Row]) -> None:
    with cursor.copy(f"COPY {_INTO} FROM STDIN") as copy:
        copy.write("".join([f"{signal_id}\t{at}\t{value!r}\n" for signal_id, at, value in rows]))


BATCH_ROWS = 10_000
"""Rows a statement: few enough to keep memory flat, enough that the statement's cost vanishes."""

PROGRESS_BYTES = 2**18
"""Progress is reported in steps of this size: reporting every line would take longer than reading it."""

OnProgress = Callable[[str, int, int], None]
"""Called with the step (`reading` in bytes, `writing` in rows), how much of it is done, and how much there is."""

Rows = Iterator[dict[str, Any]]


@dataclass(frozen=True)
class ImportSummary:
    """The result of an import: how much came in, and which data files were ignored."""

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
    """Replace all data of a store by what a directory holds; keys and their usage are kept.

    The layout: `signals.csv`, and optionally `observations/<slug>.csv`, `indices.json`,
    `currents.json`, `codex.jsonl`, `wire.jsonl`. Raises `ImportRefusedError` with file and line at the first row that
    does not fit; the store is then unchanged. Callers see the old data until all of the new is there.
    """
    directory = Path(directory)
    total = _size(data_files(directory))
    read = reported = 0

    def on_bytes(count: int) -> None:
        nonlocal read, reported
        read += count
        if read - reported >= PROGRESS_BYTES or read == total:
            reported = read
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


def _size(files: list[Path]) -> int:
    try:
        return sum(path.stat().st_size for path in files)
    except OSError as error:
        raise ImportRefusedError(Path(error.filename), None, f"cannot be read: {error.strerror}") from error


def _replace(connection: Connection, dataset: DataSet, on_progress: OnProgress) -> None:
    for table in (*reversed(db.DATA_TABLES), db.data_state):
        connection.execute(delete(table))
    connection.execute(insert(db.data_state).values(id=1, version=secrets.randbits(62)))
    for table, rows in _tables(dataset):
        while batch := list(islice(rows, BATCH_ROWS)):
            connection.execute(insert(table), batch)
    total, written = dataset.observation_count, 0
    for count in write_observations(connection, _numbered_series(dataset)):
        written += count
        on_progress("writing", written, total)


def _tables(dataset: DataSet) -> Iterator[tuple[Table, Rows]]:
    """Every table but the observations, with its rows, a table after those it refers to."""
    signals, wire = list(enumerate(dataset.signals, start=1)), list(enumerate(dataset.wire, start=1))
    yield db.signals, ({"id": number, **_columns(record, "slug", "category")} for number, record in signals)
    yield db.indices, (_columns(record, "slug") for record in dataset.indices)
    yield db.currents, (_columns(record, "slug") for record in dataset.currents)
    yield db.posts, (_post_row(record) for record in dataset.posts)
    yield db.wire_items, ({"id": number, **_wire_row(record)} for number, record in wire)
    yield (
        db.wire_tickers,
        (
            {"ticker": ticker, "wire_item_id": number}
            for number, record in wire
            for ticker in dict.fromkeys(record.fields["tickers"])
        ),
    )


def _columns(record: CheckedRecord, *names: str) -> dict[str, Any]:
    return {**{name: record.fields[name] for name in names}, "record": record.json}


def _numbered_series(dataset: DataSet) -> Iterator[tuple[int, Series]]:
    """The series with the numbers of their signals, in the order of the key."""
    for number, record in enumerate(dataset.signals, start=1):
        series = dataset.series.get(record.fields["slug"])
        if series is not None:
            yield number, series


def _post_row(record: CheckedRecord) -> dict[str, Any]:
    byline = record.fields["byline"]
    author = {"handle": byline["handle"], "beat": byline.get("topic_beat")}
    return {"published_at_us": record.published_at_us, **author, **_columns(record, "slug", "story_type")}


def _wire_row(record: CheckedRecord) -> dict[str, Any]:
    columns = _columns(record, "kind", "beat", "source", "importance_score")
    return {"uuid": record.fields["id"], "published_at_us": record.published_at_us, **columns}
