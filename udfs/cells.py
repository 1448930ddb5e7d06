"""Results as cells: tables made from rows, and any value or table as a neutral scalar or grid, which hosts can encode.

A scalar is None (blank), bool, int, float, str, date, datetime (UTC, naive) or `CellError`. A grid is made of columns,
so that ten thousand rows are two arrays and not twenty thousand objects.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from udfs.errors import CellError, ErrorCode

if TYPE_CHECKING:
    import pandas as pd

Scalar: TypeAlias = bool | int | float | str | date | datetime | CellError | None

EPOCH = date(1899, 12, 30)
"""Day 0 of spreadsheet serials, right from 1900-03-01 on."""

MAX_TEXT = 32_767
"""Characters that one cell can hold, in Excel and Calc alike."""

DAY_US = 86_400_000_000

EXACT_INTEGER = 2**53
"""Up to here a 64-bit float, which is what a cell holds, is exact."""


class Kind(StrEnum):
    """The kind of all values of a column."""

    NUMBER = "number"
    DATE = "date"
    DATETIME = "datetime"
    ANY = "any"


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column of a grid: a float64 or datetime64 array, or a list of scalars where kinds mix."""

    kind: Kind
    values: NDArray[Any] | list[Scalar]

    def scalars(self) -> list[Scalar]:
        """The values one by one."""
        if isinstance(self.values, list):
            return self.values
        if self.kind is Kind.NUMBER:
            return [None if math.isnan(value) else value for value in self.values.tolist()]
        unit = "datetime64[D]" if self.kind is Kind.DATE else "datetime64[us]"
        return cast("list[Scalar]", self.values.astype(unit).tolist())


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A table of cells: `header` above `columns`, or None where there is no header row."""

    columns: tuple[Column, ...]
    header: tuple[str, ...] | None = None

    @property
    def height(self) -> int:
        """Rows, the header row included."""
        return (len(self.columns[0].values) if self.columns else 0) + (self.header is not None)

    @property
    def width(self) -> int:
        """Columns."""
        return len(self.columns)

    def rows(self) -> Iterator[tuple[Scalar, ...]]:
        """The cells row by row, the header first."""
        if self.header is not None:
            yield self.header
        yield from zip(*(column.scalars() for column in self.columns), strict=True)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The rows of a function: columns of one length, each an array of numbers, datetime64[us] (UTC) or objects.

    `dated_by` names the column of times that the rows belong to: cells show the column, in Python it is the index.
    """

    header: tuple[str, ...]
    columns: tuple[NDArray[Any], ...]
    shows_header: bool = True
    dated_by: str | None = None
    names: tuple[str, ...] | None = None
    """What the columns are called in Python, where their header tells more than their name."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What is told of the columns in Python, as the frame's `attrs`."""

    def frame(self) -> pd.DataFrame:
        """The same as a pandas frame, every column in its place; times have their zone, as in the client's frames."""
        import pandas as pd

        columns = [pd.Series(column) for column in self.columns]
        columns = [each.dt.tz_localize("UTC") if each.dtype.kind == "M" else each for each in columns]
        frame = pd.DataFrame(dict(enumerate(columns)))
        frame.columns = pd.Index(self.names or self.header, dtype=object)  # afterwards: a name may be asked for twice
        if not self.shows_header:
            frame.attrs["header"] = False
        frame.attrs.update(self.notes)
        return frame


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """A table of shape (rows, header): times and numbers in columns of their kind, mixed ones as they are."""
    return Table(tuple(header), tuple(_typed([row[place] for row in rows]) for place in range(len(header))))


def blanks(count: int, kind: type) -> NDArray[Any]:
    """A column without a value of its `kind`, a number or a time: in Python it keeps its type, in cells it is blank."""
    return np.full(count, "NaT", "datetime64[us]") if kind is datetime else np.full(count, np.nan)


def objects(values: Sequence[Any]) -> NDArray[Any]:
    """A column of values of any kind, as they are."""
    column = np.empty(len(values), object)
    column[:] = values
    return column


def in_python(result: Any) -> Any:
    """A result as Python has it: a table as a frame, a dated one with the UTC index `observed_at`, as the client's."""
    if not isinstance(result, Table):
        return result
    frame = result.frame()
    if result.dated_by is None:
        return frame
    import pandas as pd

    place = result.header.index(result.dated_by)
    index = pd.DatetimeIndex(result.columns[place], name="observed_at").tz_localize("UTC")
    return frame.iloc[:, [other for other in range(len(result.header)) if other != place]].set_axis(index)


def cells_of(result: Any) -> Scalar | Grid:
    """The scalar or grid for any result of a function: a table, a list of lists, a value."""
    if isinstance(result, list):
        columns = zip(*result, strict=True)
        return Grid(tuple(Column(Kind.ANY, [scalar(value) for value in column]) for column in columns))
    if isinstance(result, Table):
        header = tuple(str(scalar(name)) for name in result.header) if result.shows_header else None
        return Grid(tuple(map(_column, result.columns)), header)
    return scalar(result)


def scalar(value: Any) -> Scalar:
    """One value as a cell can hold it: not-a-number and infinity are blank, text is cut to 32,767 characters."""
    match value:
        case np.datetime64():
            return None if np.isnat(value) else scalar(value.astype("datetime64[us]").item())
        case np.generic():
            return scalar(value.item())
        case None | bool() | int() | CellError():
            return value
        case float():
            return value if math.isfinite(value) else None
        case str():
            return value if len(value) <= MAX_TEXT else value[: MAX_TEXT - 1] + "…"
        case datetime():
            return _naive_utc(value)
        case date():
            return value
        case list() | tuple():
            return scalar(", ".join(str(item) for item in value))
        case dict():
            return scalar(", ".join(f"{key}: {item}" for key, item in value.items()))
        case _:
            return CellError(ErrorCode.NA, f"a result of the type {type(value).__name__} cannot be shown in a cell")


def restyled(result: Any, style: str) -> Any:
    """The same result with every error in it as its text (`style` "text") or blank ("blank")."""
    if isinstance(result, CellError):
        return result.message if style == "text" else None
    if isinstance(result, list):
        return [[restyled(value, style) for value in row] for row in result]
    if not isinstance(result, Table):
        return result
    columns = [
        objects([restyled(value, style) for value in column]) if column.dtype.kind == "O" else column
        for column in result.columns
    ]
    return replace(result, columns=tuple(columns))


def serial(moment: date | datetime) -> float:
    """The spreadsheet's serial number of a date or date-time: days since 1899-12-30."""
    if isinstance(moment, datetime):
        return (moment - datetime(EPOCH.year, EPOCH.month, EPOCH.day)).total_seconds() / 86_400  # noqa: DTZ001 - naive UTC
    return float((moment - EPOCH).days)


def serials(times: NDArray[Any]) -> NDArray[np.float64]:
    """The serial numbers of a datetime64 array, NaN for not-a-time."""
    microseconds = (times.astype("datetime64[us]") - np.datetime64(EPOCH, "us")).astype(np.float64)
    microseconds[np.isnat(times)] = np.nan
    return microseconds / DAY_US


def whole_serials(days: NDArray[Any]) -> NDArray[np.int64]:
    """The serial numbers of a datetime64[us] array of whole days, none of them not-a-time."""
    return days.view(np.int64) // DAY_US + _EPOCH_SERIAL  # integers: half the time of `serials`


def midnights(times: NDArray[Any]) -> NDArray[Any]:
    """The days of a datetime64[us] array, in the same unit; not-a-time becomes some other time."""
    days: NDArray[Any] = (times.view(np.int64) // DAY_US * DAY_US).view("datetime64[us]")
    return days  # a fifth of the time of numpy's own conversions


_EPOCH_SERIAL = (date(1970, 1, 1) - EPOCH).days


def _naive_utc(moment: datetime) -> datetime | None:
    """A plain date-time in UTC; pandas' own kind counts as one, its not-a-time as blank."""
    if moment != moment:
        return None
    if hasattr(moment, "to_pydatetime"):
        moment = moment.to_pydatetime()
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def _column(values: NDArray[Any]) -> Column:
    match values.dtype.kind:
        case "M":
            whole_days = bool(np.all((values == midnights(values)) | np.isnat(values)))
            return Column(Kind.DATE if whole_days else Kind.DATETIME, values)
        case "f":
            finite = np.isfinite(values)
            return Column(Kind.NUMBER, values if finite.all() else np.where(finite, values, np.nan))
        case "i":
            return Column(Kind.NUMBER, values.astype(np.float64))
        case _:
            return Column(Kind.ANY, [scalar(value) for value in values.tolist()])


def _typed(values: list[Any]) -> NDArray[Any]:
    present = [value for value in values if value is not None]
    kinds = {type(value) for value in present}
    if kinds and kinds <= {date, datetime}:
        return np.array([scalar(value) for value in values], "datetime64[us]")
    if kinds == {int} and len(present) == len(values) and _exact(present):
        return np.array(values, np.int64)
    if kinds and kinds <= {int, float} and _exact(value for value in present if type(value) is int):
        return np.array([np.nan if value is None else value for value in values], np.float64)
    return objects(values)


def _exact(integers: Any) -> bool:
    return all(abs(value) <= EXACT_INTEGER for value in integers)
