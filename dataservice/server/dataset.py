"""A directory of data, read and checked: everything an import writes, before it writes anything."""

import math
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from dataservice.server.errors import ImportRefusedError
from dataservice.server.instants import microseconds, parse_instant
from dataservice.server.readers import OnBytes, Place, csv_rows, json_array, json_lines
from dataservice.server.records import CodexPost, Current, Index, Open, Signal, WireItem

SIGNALS = "signals.csv"
OBSERVATIONS = "observations"
INDICES = "indices.json"
CURRENTS = "currents.json"
POSTS = "codex.jsonl"
WIRE = "wire.jsonl"

_COMPUTED_FIELDS = ("latest", "history")


@dataclass
class Series:
    """The observations of one signal in two columns, 16 bytes each: years of daily data stay small."""

    observed_at_us: "array[int]" = field(default_factory=lambda: array("q"))
    values: "array[float]" = field(default_factory=lambda: array("d"))

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class CheckedRecord:
    """A record that fits the contract: its fields, null where it left one out, and its JSON text."""

    fields: dict[str, Any]
    published_at_us: int = 0

    @property
    def json(self) -> str:
        """The record as the API returns it."""
        return orjson.dumps(self.fields).decode()


@dataclass(frozen=True)
class DataSet:
    """What a directory holds."""

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
    """The files an import of this directory reads; `ImportRefusedError` when there is no catalogue."""
    catalogue = directory / SIGNALS
    if not directory.is_dir():
        raise ImportRefusedError(directory, None, "is not a directory")
    if not catalogue.is_file():
        raise ImportRefusedError(catalogue, None, "is missing: it names the signals")
    series = sorted((directory / OBSERVATIONS).glob("*.csv"))
    others = [directory / name for name in (INDICES, CURRENTS, POSTS, WIRE)]
    return [catalogue, *series, *(path for path in others if path.is_file())]


def read_directory(directory: Path, *, on_bytes: OnBytes = lambda _: None) -> DataSet:
    """Everything in a directory of the layout, checked; `ImportRefusedError` names the first bad row."""
    files = data_files(directory)
    signals = _read_signals(directory / SIGNALS, on_bytes)
    known = {record.fields["slug"] for record in signals}
    series = {}
    for path in files:
        if path.parent.name == OBSERVATIONS and path.parent != directory:
            if path.stem not in known:
                raise ImportRefusedError(path, None, f"{SIGNALS} names no signal {path.stem!r}")
            series[path.stem] = _read_series(path, on_bytes)

    def records(name: str, model: type[Open], identity: str, read: Callable[..., Iterator[tuple[Place, str]]]) -> Any:
        path = directory / name
        return _unique(_checked_records(model, read(path, on_bytes)), identity) if path in files else []

    return DataSet(
        signals=signals,
        series=series,
        indices=records(INDICES, Index, "slug", json_array),
        currents=records(CURRENTS, Current, "slug", json_array),
        posts=records(POSTS, CodexPost, "slug", json_lines),
        wire=records(WIRE, WireItem, "id", json_lines),
        ignored=_ignored(directory, files),
    )


def _ignored(directory: Path, files: list[Path]) -> list[str]:
    data = {".csv", ".json", ".jsonl"}
    return sorted(path.name for path in directory.iterdir() if path.suffix in data and path not in files)


def _read_signals(path: Path, on_bytes: OnBytes) -> list[CheckedRecord]:
    rows = csv_rows(path, on_bytes)
    _, header = _header(path, rows, required={"slug", "name", "category", "signal_type", "source", "is_premium"})
    for name in _COMPUTED_FIELDS:
        if name in header:
            raise ImportRefusedError(path, 1, f"{name} comes from the observations and cannot be a column")
    return _unique(((place, _checked_signal(place, header, row)) for place, row in rows), "slug")


def _checked_signal(place: Place, header: list[str], row: list[str]) -> CheckedRecord:
    _check_width(place, header, row)
    fields: dict[str, Any] = {name: text or None for name, text in zip(header, row, strict=True)}
    premium = (fields["is_premium"] or "").lower()
    if premium not in {"true", "false"}:
        raise place.refuse(f"is_premium: must be true or false, not {fields['is_premium']!r}")
    fields["is_premium"] = premium == "true"
    return _checked(Signal, place, orjson.dumps(fields).decode())


def _read_series(path: Path, on_bytes: OnBytes) -> Series:
    rows = csv_rows(path, on_bytes)
    _, header = _header(path, rows, required={"observed_at", "value"})
    if len(header) > 2:
        raise ImportRefusedError(path, 1, f"the columns are observed_at and value only, not {', '.join(header)}")
    series, seen = Series(), set()
    time_column = header.index("observed_at")
    for place, row in rows:
        _check_width(place, header, row)
        at = _checked_time(place, row[time_column])
        if at in seen:
            raise place.refuse(f"observed_at: {row[time_column]} is there twice")
        seen.add(at)
        series.observed_at_us.append(at)
        series.values.append(_checked_value(place, row[1 - time_column]))
    return series


def _checked_time(place: Place, text: str) -> int:
    try:
        return microseconds(parse_instant(text))
    except ValueError as error:
        raise place.refuse(f"observed_at: {error}, not {text[:80]!r}") from None


def _checked_value(place: Place, text: str) -> float:
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise place.refuse(f"value: must be a finite number, not {text[:80]!r} (leave the row out for a gap)")
    return value


def _header(path: Path, rows: Iterator[tuple[Place, list[str]]], *, required: set[str]) -> tuple[Place, list[str]]:
    place, header = next(rows, (Place(path, 1), []))
    if missing := sorted(required - set(header)):
        raise place.refuse(f"the header lacks {', '.join(missing)}")
    if len(set(header)) < len(header) or "" in header:
        raise place.refuse("the header names a column twice or leaves one unnamed")
    return place, header


def _check_width(place: Place, header: list[str], row: list[str]) -> None:
    if len(row) != len(header):
        raise place.refuse(f"has {len(row)} values where the header names {len(header)}")


def _checked_records(model: type[Open], texts: Iterator[tuple[Place, str]]) -> Iterator[tuple[Place, CheckedRecord]]:
    for place, text in texts:
        yield place, _checked(model, place, text)


def _checked(model: type[Open], place: Place, text: str) -> CheckedRecord:
    """The record of a JSON text: unknown fields kept, nullable ones left out set to null, date-times in UTC."""
    try:
        orjson.loads(text)  # stricter than pydantic: NaN and infinities are no JSON
        record = model.model_validate_json(text)
    except orjson.JSONDecodeError as error:
        raise place.refuse(f"is not JSON: {error}") from error
    except ValidationError as error:
        raise place.refuse(_first_problem(error)) from error
    if "\\u0000" in text:
        raise place.refuse("holds a NUL character")
    published_at = getattr(record, "published_at", None)
    return CheckedRecord(record.model_dump(mode="json"), 0 if published_at is None else microseconds(published_at))


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"]) or "the record"
    return f"{where}: {problem['msg']}, not {str(problem['input'])[:80]!r}"


def _unique(records: Iterator[tuple[Place, CheckedRecord]], identity: str) -> list[CheckedRecord]:
    first: dict[str, int] = {}
    kept = []
    for place, record in records:
        name = str(record.fields[identity]).lower()
        if name in first:
            raise place.refuse(f"{identity}: {name} stands on line {first[name]} already")
        first[name] = place.line
        kept.append(record)
    return kept
