"""The observations of a signal as a variant of the service shows them: in a window, and as recent history."""

import struct
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeAlias

from dataservice.server.db.repository import Store

Rows: TypeAlias = list[tuple[datetime, float | None]]
"""Observations, oldest first; None where there is a row without a value."""

EVENING = timedelta(hours=21)
NULL_EVERY, NULL_AT = 50, 7
"""Which rows have no value where there are such rows: by their days; never the newest."""

EVERYTHING = 2**31 - 1
CAPS = {"cap-360": 360, "cap-100": 100, "ignored": 30, "absent": 0}


def true_rows(store: Store, slug: str, variant: Mapping[str, str]) -> Rows | None:
    """All observations of a signal in such a service, or None when there is no such signal."""
    found = store.observations(slug, start=None, before=None, limit=EVERYTHING, offset=0)
    if found is None:
        return None
    rows: Rows = [(row["observed_at"], row["value"]) for row in found.items]
    if variant["nulls"] != "none":
        rows = [(at, None if at.toordinal() % NULL_EVERY == NULL_AT else value) for at, value in rows[:-1]] + rows[-1:]
    return _stamped(rows, variant["stamps"])


def window_rows(rows: Rows, variant: Mapping[str, str], start: date | None, end: date | None) -> Rows:
    """The rows of a window, as such a service understands its bounds."""
    rows = _rounded(rows[:-1] if variant["newest"] == "detail-only" else rows, variant["window-values"])
    if start is None and variant["no-start"] == "year" and rows:
        start = rows[-1][0].date() - timedelta(days=366)
    if end is None and variant["no-end"] == "year" and start is not None:
        end = min(start, date.max - timedelta(days=366)) + timedelta(days=366)
    if start is not None:
        first = start + timedelta(days=variant["start"] == "excluded")
        rows = [row for row in rows if row[0].date() >= first]
    if end is not None:
        rows = [row for row in rows if _ends_behind(row[0], end, variant["end"])]
    return rows


def _ends_behind(at: datetime, end: date, how: str) -> bool:
    if how == "midnight":
        return at <= datetime.combine(end, time.min, UTC)
    return at.date() < end if how == "excluded" else at.date() <= end


def recent_rows(rows: Rows, variant: Mapping[str, str], count: int) -> Rows:
    """The recent history of which `count` was asked for."""
    rows = rows[:-1] if variant["newest"] == "window-only" else rows
    how = variant["history"]
    if how == "days" and rows:
        first = rows[-1][0] - timedelta(days=count)
        rows = [row for row in rows if row[0] > first]
    else:
        most = min(count, CAPS.get(how, count)) if how != "ignored" else CAPS[how]
        rows = rows[-most:] if most else []
    if variant["detail-nulls"] == "left-out":
        rows = [row for row in rows if row[1] is not None]
    if variant["stamps"] == "midnight":
        rows = _stamped(rows, variant["detail-stamps"])
    return _rounded(rows, variant["detail-values"])


def _stamped(rows: Rows, when: str) -> Rows:
    return [(at + EVENING, value) for at, value in rows] if when == "evening" else rows


def _rounded(rows: Rows, how: str) -> Rows:
    if how == "same":
        return rows
    return [(at, None if value is None else rounded(value, how)) for at, value in rows]


def rounded(value: float, how: str) -> float:
    """The value as a column of four bytes, or with one decimal, keeps it."""
    if how == "one-decimal":
        return round(value, 1)
    kept: float = struct.unpack("f", struct.pack("f", value))[0]
    return kept
