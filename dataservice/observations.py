"""Observations as two columns: 16 bytes each, however many there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dataservice.shown import short_html

if TYPE_CHECKING:
    import pandas as pd

Times: TypeAlias = NDArray[np.datetime64]
Values: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """A series of dated values, oldest first, each time once.

    `times` is datetime64[us] in UTC, `values` float64, both of length n; a null value is NaN.
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

        Raises `ValueError` where a text is no time.
        """
        moments = _known_moments(times)
        if moments is None:
            moments = _of_service_form(times)
        if moments is not None:
            return cls(moments, np.array(values, np.float64)).sorted()
        if not all(map(_RFC_3339, times)):
            wrong = next(text for text in times if not _RFC_3339(text))
            raise ValueError(f"{wrong[:40]!r} is no date or time")
        # Times in UTC with a Z are cut in place: a call a row would take longer than all the rest.
        moments = np.array([text[:-1] if text[-1:] == "Z" else _utc_text(text) for text in times], "datetime64[us]")
        return cls(moments, np.array(values, np.float64)).sorted()

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
        """The observations from `start` to `end`, both days included; None is an open end."""
        low = 0 if start is None else int(np.searchsorted(self.times, np.datetime64(start, "us")))
        high = len(self) if end is None else int(np.searchsorted(self.times, np.datetime64(end, "us") + _DAY))
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

_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})?)?"
).fullmatch


_FORM = np.frombuffer(b"0000-00-00T00:00:00Z", np.uint8)
_DIGITS = np.where(ord("0") == _FORM, 9, 0).astype(np.uint8)
"""By how much each letter of a time may be more than that of the form."""


MAX_KNOWN_TIMES = 4_096
"""Most series share the days on which they are observed: ten years of days, or half a megabyte."""

_known: dict[str, int] = {}
"""The times that were read last, in microseconds since the epoch: to find one again is faster than to read it."""


def _known_moments(times: Sequence[str]) -> Times | None:
    """The times, where each of them was read lately."""
    found = list(map(_known.get, times))
    return None if None in found else np.array(found, np.int64).view("datetime64[us]")


def _of_service_form(times: Sequence[str]) -> Times | None:
    """The times, where all are written as the service writes them, in a fifth of the time; None for other texts."""
    width = len(_FORM)
    letters = np.frombuffer("".join(times).encode(errors="replace"), np.uint8)
    if set(map(len, times)) != {width} or len(letters) != width * len(times):
        return None
    table = letters.reshape(-1, width)
    if not (table - _FORM <= _DIGITS).all():
        return None
    moments = np.ascontiguousarray(table[:, :-1]).view(f"S{width - 1}")[:, 0].astype("datetime64[us]")
    if len(_known) + len(times) > MAX_KNOWN_TIMES:
        _known.clear()
    if len(times) <= MAX_KNOWN_TIMES:
        _known.update(zip(times, moments.view(np.int64).tolist(), strict=True))
    return moments


def _day(time: np.datetime64) -> date:
    day: date = time.astype("datetime64[D]").item()
    return day


def _utc_text(text: str) -> str:
    """RFC 3339 text as numpy reads it: in UTC, without a zone."""
    if len(text) <= 10:
        return text
    moment = datetime.fromisoformat(text)
    try:
        return (moment.astimezone(UTC) if moment.tzinfo else moment).replace(tzinfo=None).isoformat()
    except OverflowError:
        raise ValueError(f"{text!r} lies outside the years 1 to 9999") from None
