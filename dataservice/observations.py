"""Observations as two columns: 16 bytes each, however many there are."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from operator import index
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from dataservice.moments import DAY_US, Times, in_order, read_axis, read_moment
from dataservice.shown import short_html

if TYPE_CHECKING:
    import pandas as pd

Values: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """A series of dated values, oldest first, each time once.

    `times` is datetime64[us], in UTC or by the clock of a source that names its offset, `values` float64, both of
    length n; a null value is NaN.
    """

    times: Times
    values: Values

    @classmethod
    def empty(cls) -> Observations:
        """No observations."""
        return _EMPTY

    @classmethod
    def from_columns(cls, times: Sequence[str], values: Sequence[float | None]) -> Observations:
        """The observations of two columns, RFC 3339 texts and numbers, sorted; of a time given twice the later counts.

        Raises `ValueError` where a text is no time, or two differ by less than a microsecond.
        """
        moments, rows = read_axis(times)
        try:
            column = np.frombuffer(struct.pack(f"{len(values)}d", *values))  # in a third of the time
        except struct.error:  # some are null
            column = np.array(values, np.float64)
        return cls(moments, column if rows is None else column[rows])

    def sorted(self) -> Observations:
        """The same observations oldest first, of a time given twice the later one."""
        times, rows = in_order(self.times)
        return self if rows is None else Observations(times, self.values[rows])

    def merged(self, newer: Observations) -> Observations:
        """Both together; where both have a time, `newer` counts."""
        return Observations(
            np.concatenate([self.times, newer.times]), np.concatenate([self.values, newer.values])
        ).sorted()

    def between(self, start: date | None = None, end: date | None = None) -> Observations:
        """The observations from `start` to `end`, both days or times included; None is an open end."""
        low = 0 if start is None else int(np.searchsorted(self.times, np.datetime64(start, "us")))
        high = len(self)
        if isinstance(end, datetime):
            high = int(np.searchsorted(self.times, np.datetime64(end, "us"), side="right"))
        elif end is not None:
            high = int(np.searchsorted(self.times, np.datetime64(end, "us") + _DAY))
        return self[low:high]

    def ends_with(self, time: str, value: float | None, last_day: date) -> bool:
        """Return whether the last of them is that one, and not later than `last_day`; raises as `from_columns`."""
        if not len(self):
            return False
        moment, last = read_moment(time), float(self.values[-1])
        is_it = moment == self.times.view(np.int64)[-1] and (last != last if value is None else last == value)
        return bool(is_it) and moment < (last_day.toordinal() + 1 - _EPOCH_DAY) * DAY_US

    @property
    def first_day(self) -> date:
        """The day of the first observation; raises `IndexError` where there is none."""
        return day_of(self.times[0])

    @property
    def last_day(self) -> date:
        """The day of the last observation; raises `IndexError` where there is none."""
        return day_of(self.times[-1])

    @property
    def nbytes(self) -> int:
        """The memory both columns take, in bytes."""
        return int(self.times.nbytes + self.values.nbytes)

    @property
    def lacks_values(self) -> bool:
        """Return whether any of them has no value."""
        return bool(np.isnan(self.values.dot(self.values)))  # only of NaN the square is none

    def __len__(self) -> int:
        return len(self.times)

    @overload
    def __getitem__(self, part: slice) -> Observations: ...

    @overload
    def __getitem__(self, part: SupportsIndex) -> tuple[datetime, float]: ...

    def __getitem__(self, part: slice | SupportsIndex) -> Observations | tuple[datetime, float]:
        if isinstance(part, slice):
            return Observations(self.times[part], self.values[part])
        place = index(part)
        time: datetime = self.times[place].item()
        return time.replace(tzinfo=UTC), float(self.values[place])

    def __iter__(self) -> Iterator[tuple[datetime, float]]:
        for time, value in zip(self.times.tolist(), self.values.tolist(), strict=True):
            yield time.replace(tzinfo=UTC), value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Observations):
            return NotImplemented
        if len(self) != len(other) or not (self.times == other.times).all():
            return False
        same = self.values == other.values
        return bool(same.all() or (same | (np.isnan(self.values) & np.isnan(other.values))).all())

    __hash__ = None  # type: ignore[assignment]  # arrays are no keys

    def __repr__(self) -> str:
        if not len(self):
            return "Observations(none)"
        return f"Observations({len(self)} from {self.first_day} to {self.last_day}, the last {self.values[-1]:.15g})"

    def _repr_html_(self) -> str:
        return short_html(self)

    def to_frame(self, name: str = "value") -> pd.DataFrame:
        """A frame of shape (n, 1) with a UTC `observed_at` index and one column `name`."""
        import pandas as pd

        index = pd.DatetimeIndex(self.times, tz="UTC", name="observed_at")
        return pd.DataFrame({name: self.values}, index=index)


_EMPTY = Observations(np.empty(0, "datetime64[us]"), np.empty(0, np.float64))
_DAY = np.timedelta64(1, "D")
_EPOCH_DAY = date(1970, 1, 1).toordinal()


def day_of(time: np.datetime64) -> date:
    """The day of a moment."""
    day: date = time.astype("datetime64[D]").item()
    return day
