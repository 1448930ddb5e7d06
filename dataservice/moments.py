"""Times as texts become microseconds since 1970, a page of them at once.

The fields are checked as numbers before they are joined: numpy's own reading of texts raises from compiled code that
does not hold Python's lock, which ends the process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Times: TypeAlias = NDArray[np.datetime64]
Rows: TypeAlias = NDArray[np.intp]
_Numbers: TypeAlias = NDArray[np.int64]

MAX_KNOWN_TIMES = 4_096
"""Most series share the days on which they are observed: ten years of days, or half a megabyte."""

_known: dict[str, int] = {}
"""The times that were read last, in microseconds since 1970: to find one again is faster than to read it."""

MAX_AXES, MAX_AXIS_TIMES = 64, 1_024
"""Columns of times that are remembered whole, and how long one of them may be: those of details."""

_axes: dict[str, tuple[int, Times, Rows | None]] = {}
"""By their texts, and with how many that are, the columns that were read last: series of one calendar share one."""

_worked_out: dict[int, tuple[Times, dict[Callable[[Times], Any], Any]]] = {}
"""By the identity of such a column, the column itself, and what was worked out of it."""

_RFC_3339 = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[Tt ]([0-9]{2}:[0-9]{2})(?:(:[0-9]{2})(?:\.([0-9]+))?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?)?"
).fullmatch

_FORM = np.frombuffer(b"0000-00-00T00:00:00Z", np.uint8)
_ZERO = np.uint8(ord("0"))
_DIGITS = np.where(_FORM == _ZERO, 9, 0).astype(np.uint8)
"""By how much each letter of a time may be more than that of the form."""

_FIELDS = {"year": 0, "month": 5, "day": 8, "hour": 11, "minute": 14, "second": 17}
"""At which letter each field begins."""
_WEIGHTS = np.zeros((len(_FIELDS), len(_FORM)), np.float32)  # small whole numbers, exact, and multiplied the fastest
_WEIGHTS[0, :4] = (1_000, 100, 10, 1)
for _field, _at in enumerate(list(_FIELDS.values())[1:], 1):
    _WEIGHTS[_field, _at : _at + 2] = (10, 1)

_LEAST = np.array([[1], [1], [1], [0], [0], [0]])
_MOST = np.array([[9_999], [12], [31], [23], [59], [60]])

SECOND_US = 1_000_000
DAY_US = 86_400 * SECOND_US
FIRST_US = int(np.datetime64("0001-01-01", "us").astype(np.int64))
END_US = int(np.datetime64("9999-12-31", "us").astype(np.int64)) + DAY_US
"""The moments between which Python has dates."""


def read_axis(texts: Sequence[str]) -> tuple[Times, Rows | None]:
    """The moments of texts, each once and oldest first, and the rows that tell them: None where all do, in order.

    Of a moment that is told twice it is the later row. Columns of the same texts are one, which nobody may change.
    Raises as `read_moments`.
    """
    if not 1 < len(texts) <= MAX_AXIS_TIMES:
        return in_order(read_moments(texts))
    name = "\n".join(texts)
    known = _axes.get(name)
    if known is None or known[0] != len(texts):  # a line break inside of a text is no time
        times, rows = in_order(read_moments(texts))
        if len(_axes) >= MAX_AXES:
            _axes.clear()
            _worked_out.clear()
        known = _axes[name] = len(texts), times, rows
        times.flags.writeable = False
        _worked_out[id(times)] = times, {}
    return known[1:]


def in_order(times: Times) -> tuple[Times, Rows | None]:
    """Times each once and oldest first, and where the last of each stands: None where they are so already."""
    if len(times) < 2 or bool((times[1:] > times[:-1]).all()):
        return times, None
    order = np.argsort(times, kind="stable")
    rising = times[order]
    is_last_of_its_time = np.append(rising[1:] != rising[:-1], True)
    return rising[is_last_of_its_time], order[is_last_of_its_time]


def of_axis(work: Callable[[Times], T], times: Times) -> T:
    """Return what `work` makes of a column of times: of one that many series share once for all of them."""
    known = _worked_out.get(id(times))
    if known is None:
        return work(times)
    facts = known[1]
    if work not in facts:
        facts[work] = work(times)
    found: T = facts[work]
    return found


def read_moment(text: str) -> int:
    """The moment of one text in microseconds since 1970; raises as `read_moments`."""
    known = _known.get(text)
    return int(read_moments([text]).view(np.int64)[0]) if known is None else known


def read_moments(texts: Sequence[str]) -> Times:
    """The moments of RFC 3339 texts, dates and times, as datetime64[us], in their order.

    A time in UTC is that instant. One with an offset is what the clock at its source showed, because an observation
    belongs to the calendar day that its source gave: `2026-07-01T00:00:00+09:00` is the first of July. An hour that a
    clock shows twice when it is set back comes a microsecond later the second time, so that none is lost.

    A leap second counts as the last microsecond before the next day. Raises `ValueError` where a text is no time, and
    where two differ by so little that they would become one.
    """
    with suppress(KeyError):
        return np.fromiter(map(_known.__getitem__, texts), np.int64, len(texts)).view("datetime64[us]")
    letters = _service_form(texts)
    if letters is None:
        return _written_otherwise(texts).view("datetime64[us]")
    moments = _joined(letters, texts)
    if len(_known) + len(texts) > MAX_KNOWN_TIMES:
        _known.clear()
    if len(texts) <= MAX_KNOWN_TIMES:
        _known.update(zip(texts, moments.tolist(), strict=True))
    return moments.view("datetime64[us]")


def _service_form(texts: Sequence[str]) -> NDArray[np.uint8] | None:
    """The letters of the texts as a table, where all are written as the service writes them."""
    width = len(_FORM)
    letters = np.frombuffer("".join(texts).encode(errors="replace"), np.uint8)
    if set(map(len, texts)) != {width} or len(letters) != width * len(texts):
        return None
    table = letters.reshape(-1, width)
    return table if (table - _FORM <= _DIGITS).all() else None


def _joined(letters: NDArray[np.uint8], texts: Sequence[str]) -> _Numbers:
    """The microseconds of times as a table of letters; `texts` says which is none."""
    fields = (_WEIGHTS @ (letters - _ZERO).T.astype(np.float32)).astype(np.int64)
    fits = np.logical_and.reduce((fields >= _LEAST) & (fields <= _MOST), axis=0)
    year, month, day, hour, minute, second = fields
    months = (year - 1970) * 12 + month - 1
    first, after = (_first_days(each) for each in (months, months + 1))
    is_leap = second == 60
    fits = fits & (day <= after - first) & (~is_leap | (minute == 59))
    if not fits.all():
        raise _wrong(texts[int(np.argmin(fits))])
    seconds = (((first + day - 1) * 24 + hour) * 60 + minute) * 60 + second
    moments: _Numbers = seconds * SECOND_US - is_leap
    return moments


def _first_days(months: _Numbers) -> _Numbers:
    """The days since 1970 at which months since 1970 begin."""
    return months.view("datetime64[M]").astype("datetime64[D]").view(np.int64)


def _written_otherwise(texts: Sequence[str]) -> _Numbers:
    """The microseconds of texts with fractions, offsets, or no time of day."""
    parts = [_parts(text) for text in texts]
    whole = [f"{day}T{time or '00:00'}{seconds or ':00'}Z" for day, time, seconds, _, _ in parts]
    letters = np.frombuffer("".join(whole).encode(), np.uint8).reshape(-1, len(_FORM))
    moments = _joined(letters, texts)
    fractions = np.array([_fraction_us(fraction) for _, _, _, fraction, _ in parts], np.int64)
    fractions[moments % SECOND_US != 0] = 0  # a leap second has been put before the next day already
    moments += fractions
    offsets = np.array([_offset_us(zone) for _, _, _, _, zone in parts], np.int64)
    if offsets.any():
        _tell_apart(moments, offsets)
    fits = (moments >= FIRST_US) & (moments < END_US)
    if not fits.all():
        raise ValueError(f"{texts[int(np.argmin(fits))][:40]!r} lies outside the years 1 to 9999")
    if any(fraction and len(fraction) > 6 for _, _, _, fraction, _ in parts):
        _require_apart(texts, moments)
    return moments


def _tell_apart(clock: _Numbers, offsets: _Numbers) -> None:
    """Put a time that the clock shows a second time, with another offset, a microsecond later."""
    order = np.lexsort((clock - offsets, clock))
    same_clock = clock[order][1:] == clock[order][:-1]
    other_offset = offsets[order][1:] != offsets[order][:-1]
    clock[order[1:][same_clock & other_offset]] += 1


def _parts(text: str) -> Sequence[Any]:
    match = _RFC_3339(text)
    if match is None:
        raise _wrong(text)
    return match.groups()


@lru_cache(maxsize=1_024)
def _fraction_us(digits: str | None) -> int:
    return int(digits[:6].ljust(6, "0")) if digits else 0


@lru_cache(maxsize=1_024)
def _offset_us(zone: str | None) -> int:
    if zone is None or zone in "Zz":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:])
    if hours > 23 or minutes > 59:
        raise ValueError(f"{zone!r} is no offset from UTC")
    return (hours * 60 + minutes) * 60 * SECOND_US * (-1 if zone[0] == "-" else 1)


def _require_apart(texts: Sequence[str], moments: _Numbers) -> None:
    """Refuse times that differ by less than a microsecond: all but one of them would be lost unseen."""
    if len(set(texts)) > len(np.unique(moments)):
        raise ValueError("some times differ by less than a microsecond")


def _wrong(text: str) -> ValueError:
    return ValueError(f"{text[:40]!r} is no date or time")
