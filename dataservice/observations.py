"""Observations as two columns: 16 bytes each, however many there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dataservice.moments import Times, read_moments
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
        return cls(np.empty(0, "datetime64[us]"), np.empty(0, np.float64))

    @classmethod
    def from_columns(cls, times: Sequence[str], values: Sequence[float | None]) -> Observations:
        """The observations of two columns, RFC 3339 texts and numbers, sorted; of a time given twice the later counts.

        Raises `ValueError` where a text is no time, or two differ by less than a microsecond.
        """
        return cls(read_moments(times), np.array(values, np.float64)).sorted()

    def sorted(self) -> Observations:
        """The same observations oldest first, of a time given twice the later one."""
        if len(self) < 2 or bool((self.times[1:] > self.times[:-1]).all()):
            return self
        order = np.argsort(self.times, kind="stable")
        times, values = self.times[order], self.values[order]
        last_of_its_time = np.append(times[1:] != times[:-1], True)
        return Observations(times[last_of_its_time], values[last_of_its_time])

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

    @property
    def first_day(self) -> date:
        """The day of the first observation; raises `IndexError` where there is none."""
        return _day(self.times[0])

    @property
    def last_day(self) -> date:
        """The day of the last observation; raises `IndexError` where there is none."""
        return _day(self.times[-1])

    @property
    def nbytes(self) -> int:
        """The memory both columns take, in bytes."""
        return int(self.times.nbytes + self.values.nbytes)

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, part: slice) -> Observations:
        return Observations(self.times[part], self.values[part])

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


_DAY = np.timedelta64(1, "D")


def _day(time: np.datetime64) -> date:
    day: date = time.astype("datetime64[D]").item()
    return day
