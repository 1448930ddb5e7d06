"""The observations of one signal out of a CSV file: read column by column, or row by row where anything is unusual."""

import codecs
import math
import re
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from dataservice.server.errors import ImportRefusedError
from dataservice.server.imports.file_readers import OnBytes, Place, csv_table, shown
from dataservice.server.timestamps import microseconds, parse_instant

COLUMNS = {"observed_at", "value"}

HEADER = b"observed_at,value\n"

UNUSUAL = re.compile(rb"[^0-9TZtz:.,+\-\neE]")
"""What stands in no plain row: quotes, spaces, other line ends, words such as NaN."""

AT_ONCE_BYTES = 64 * 2**20
"""A file of so many bytes, of some two million rows, is read in one go; a larger one row by row."""

KNOWN_TIMES = 65_536
"""Texts of times that are kept with what they mean: the series of one directory share most of their days."""


@dataclass(frozen=True)
class Series:
    """The observations of one signal in two columns, 16 bytes each: years of daily data stay small."""

    observed_at_us: "array[int]" = field(default_factory=lambda: array("q"))
    values: "array[float]" = field(default_factory=lambda: array("d"))

    def __len__(self) -> int:
        return len(self.values)


class UnusualError(Exception):
    """The file is to be read row by row, which also finds what is wrong, and where."""


def read_series(path: Path, on_bytes: OnBytes) -> Series:
    """The observations in the order of their times; `ImportRefusedError` at the first row that does not fit."""
    try:
        series, size = read_by_columns(path)
    except UnusualError:
        return _in_order(read_by_rows(path, on_bytes))
    on_bytes(size)
    return _in_order(series)


def read_by_columns(path: Path) -> tuple[Series, int]:
    """All rows in one go, in a tenth of the time, and the size of the file.

    Raises `UnusualError` where that is not possible.
    """
    try:
        with path.open("rb") as file:
            data = file.read(AT_ONCE_BYTES + 1)
    except OSError as error:
        raise ImportRefusedError(path, None, f"cannot be read: {error.strerror}") from error
    plain = data.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n")  # as Excel writes it
    if len(data) > AT_ONCE_BYTES or not plain.startswith(HEADER) or UNUSUAL.search(plain, len(HEADER)):
        raise UnusualError
    # A row that has not two values moves those of all others, and no time is a number.
    texts = plain[len(HEADER) :].decode().strip().replace("\n", ",").split(",")
    try:
        series = Series(array("q", map(_time, texts[::2])), array("d", map(float, texts[1::2])))
    except ValueError as error:
        raise UnusualError from error
    times, values = series.observed_at_us, series.values
    if not len(set(times)) == len(times) == len(values) or not np.isfinite(np.frombuffer(values)).all():
        raise UnusualError
    return series, len(data)


def read_by_rows(path: Path, on_bytes: OnBytes) -> Series:
    """The rows one after the other."""
    series, seen = Series(), set()
    for place, row in csv_table(path, on_bytes, required=COLUMNS, closed=True):
        at = _checked_time(place, row["observed_at"])
        if at in seen:
            raise place.refuse(f"observed_at: {row['observed_at']} is there twice")
        seen.add(at)
        series.observed_at_us.append(at)
        series.values.append(_checked_value(place, row["value"]))
    return series


def _in_order(series: Series) -> Series:
    """The same by time: a database takes rows in the order of their key in a fraction of the time."""
    times = np.frombuffer(series.observed_at_us, dtype=np.int64)
    if bool((times[1:] > times[:-1]).all()):
        return series
    order = np.argsort(times)
    values = np.frombuffer(series.values, dtype=np.float64)
    return Series(array("q", times[order].tobytes()), array("d", values[order].tobytes()))


def _read_time(text: str) -> int:
    return microseconds(parse_instant(text))


_time: Callable[[str], int] = lru_cache(maxsize=KNOWN_TIMES)(_read_time)


def _checked_time(place: Place, text: str) -> int:
    try:
        return _read_time(text)
    except ValueError as error:
        raise place.refuse(f"observed_at: {error}, not {shown(text)}") from None


def _checked_value(place: Place, text: str) -> float:
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise place.refuse(f"value: must be a finite number, not {shown(text)} (leave the row out for a gap)")
    return value
