"""A directory of data, read and checked: everything an import writes, before it writes anything."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from dataservice.server.errors import ImportRefusedError
from dataservice.server.imports.file_readers import OnBytes, Place, csv_table, json_array, json_lines, shown
from dataservice.server.imports.series_file import Series, read_series
from dataservice.server.records import CodexPost, Current, Index, Open, Signal, WireItem
from dataservice.server.timestamps import microseconds

SIGNALS = "signals.csv"
OBSERVATIONS = "observations"
INDICES = "indices.json"
CURRENTS = "currents.json"
POSTS = "codex.jsonl"
WIRE = "wire.jsonl"

_CATALOGUE_COLUMNS = {"slug", "name", "category", "signal_type", "source", "is_premium"}
_COMPUTED_FIELDS = {"latest", "history"}
_DATA_SUFFIXES = {".csv", ".json", ".jsonl"}


@dataclass(frozen=True)
class CheckedRecord:
    """A record that fits the contract: unknown fields kept, nullable ones left out set to null, date-times in UTC."""

    fields: dict[str, Any]
    json: str
    """The record as the API returns it."""
    published_at_us: int = 0


@dataclass(frozen=True)
class DataSet:
    """The data in a directory."""

    signals: list[CheckedRecord]
    series: dict[str, Series]
    indices: list[CheckedRecord]
    currents: list[CheckedRecord]
    posts: list[CheckedRecord]
    wire: list[CheckedRecord]
    ignored: list[str]
    """Names of data files that have no place in the layout."""

    @property
    def observation_count(self) -> int:
        """Observations of all signals."""
        return sum(len(series) for series in self.series.values())


def data_files(directory: Path) -> list[Path]:
    """The files an import of this directory reads.

    Raises `ImportRefusedError` when there is no catalogue, and for what has the name of a file or folder of the layout
    and is none: an import that passed over it would delete what the store has.
    """
    if not directory.is_dir():
        raise ImportRefusedError(directory, None, "is not a directory")
    if not os.path.lexists(directory / SIGNALS):
        raise ImportRefusedError(directory / SIGNALS, None, "is missing: it names the signals")
    named = [directory / name for name in (SIGNALS, INDICES, CURRENTS, POSTS, WIRE)]
    found = [*_series_files(directory), *(path for path in named if os.path.lexists(path))]
    for path in found:
        if not path.is_file():
            raise ImportRefusedError(path, None, "is not a file that can be read")
    return found


def read_directory(directory: Path, *, on_bytes: OnBytes = lambda _: None) -> DataSet:
    """Everything in a directory of the layout, checked; `ImportRefusedError` names the first bad row."""
    files = data_files(directory)

    def texts(name: str) -> Iterator[tuple[Place, str]]:
        path = directory / name
        if path in files:
            yield from (json_array if path.suffix == ".json" else json_lines)(path, on_bytes)

    signals = _checked_records(Signal, _catalogue(directory / SIGNALS, on_bytes), identity="slug")
    known = {record.fields["slug"] for record in signals}
    return DataSet(
        signals=signals,
        series={path.stem: _read_series(path, known, on_bytes) for path in _series_files(directory)},
        indices=_checked_records(Index, texts(INDICES), identity="slug"),
        currents=_checked_records(Current, texts(CURRENTS), identity="slug"),
        posts=_checked_records(CodexPost, texts(POSTS), identity="slug"),
        wire=_checked_records(WireItem, texts(WIRE), identity="id"),
        ignored=_ignored(directory, set(files)),
    )


def _series_files(directory: Path) -> list[Path]:
    return [path for path in _entries(directory / OBSERVATIONS) if path.name.endswith(".csv")]


def _entries(folder: Path) -> list[Path]:
    """List a folder, nothing where there is no such folder; `ImportRefusedError` where it cannot be read."""
    if not os.path.lexists(folder):
        return []
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise ImportRefusedError(folder, None, f"is not a folder that can be read: {error.strerror}") from error


def _ignored(directory: Path, files: set[Path]) -> list[str]:
    """The names of what looks like data and has no place in the layout."""
    entries = [*_entries(directory), *_entries(directory / OBSERVATIONS)]
    found = [path for path in entries if path.suffix.lower() in _DATA_SUFFIXES and path not in files]
    return sorted(path.relative_to(directory).as_posix() for path in found)


def _catalogue(path: Path, on_bytes: OnBytes) -> Iterator[tuple[Place, str]]:
    """The rows of the catalogue as JSON texts, so that they are checked like every other record."""
    for place, row in csv_table(path, on_bytes, required=_CATALOGUE_COLUMNS, forbidden=_COMPUTED_FIELDS):
        premium = row["is_premium"].lower()
        if premium not in {"true", "false"}:
            raise place.refuse(f"is_premium: must be true or false, not {shown(row['is_premium'])}")
        fields: dict[str, Any] = {name: text or None for name, text in row.items()}
        yield place, orjson.dumps({**fields, "is_premium": premium == "true"}).decode()


def _read_series(path: Path, known: set[str], on_bytes: OnBytes) -> Series:
    if path.stem not in known:
        raise ImportRefusedError(path, None, f"{SIGNALS} names no signal {path.stem!r}")
    return read_series(path, on_bytes)


def _checked(model: type[Open], place: Place, text: str) -> CheckedRecord:
    """The record of a JSON text; `ImportRefusedError` at its place when it does not fit the model."""
    try:
        orjson.loads(text)  # stricter than pydantic: NaN and infinities are no JSON
        record = model.model_validate_json(text)
    except orjson.JSONDecodeError as error:
        raise place.refuse(f"is not JSON: {error}") from error
    except ValidationError as error:
        raise place.refuse(_first_problem(error)) from error
    if "\\u0000" in text:  # PostgreSQL cannot hold it
        raise place.refuse("holds a NUL character")
    published_at = getattr(record, "published_at", None)
    fields, json = _dumped(record, place)
    return CheckedRecord(fields, json, 0 if published_at is None else microseconds(published_at))


def _dumped(record: Open, place: Place) -> tuple[dict[str, Any], str]:
    """The record as fields and as JSON text; refused where no answer could hold it."""
    try:
        fields = record.model_dump(mode="json")
        return fields, orjson.dumps(fields).decode()
    except (ValueError, TypeError, RecursionError) as error:
        raise place.refuse(f"cannot be returned as JSON: {error}") from error


def _checked_records(model: type[Open], texts: Iterator[tuple[Place, str]], *, identity: str) -> list[CheckedRecord]:
    """The records of JSON texts; one that repeats the identity of another, in whatever case, is refused."""
    first: dict[str, int] = {}
    records = []
    for place, text in texts:
        record = _checked(model, place, text)
        name = str(record.fields[identity]).lower()
        if name in first:
            raise place.refuse(f"{identity}: {name} stands on line {first[name]} already")
        first[name] = place.line
        records.append(record)
    return records


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"]) or "the record"
    return f"{where}: {problem['msg'].removeprefix('Value error, ')}, not {shown(problem['input'])}"
