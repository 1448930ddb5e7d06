"""A series as the windows of a variant tell it: in another unit, at other times, rounded, with rows of days to come."""

from __future__ import annotations

import math
import struct
from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from statistics import median
from typing import TypeAlias

Rows: TypeAlias = list[tuple[datetime, float | None]]
"""Observations, oldest first; None where there is a row without a value."""

EVENING = timedelta(hours=21)

AHEAD = 3
"""Rows of days to come."""

BEHIND = {"none": 0, "one": 1, "three": 3}

UNITS: Mapping[str, Callable[[datetime, float], float]] = {
    "adjusted": lambda at, value: value * (1 + 0.02 * math.sin(at.month)),
    "percent": lambda _, value: value * 100,
    "thousands": lambda _, value: value / 1_000,
    "offset": lambda _, value: value + 0.5,
}
"""What a value becomes in another unit, or with another adjustment."""


def told_in_windows(rows: Rows, variant: Mapping[str, str]) -> Rows:
    """All rows of a series as windows tell them."""
    rows = rows[: len(rows) - BEHIND[variant["window-lag"]]]
    if variant["newest"] == "detail-only":
        rows = rows[:-1]
    ahead = _ahead(rows) if variant["forecasts"] != "none" else []
    told = _changed([*rows, *ahead], variant["window-unit"])
    return rounded_rows(_moved(told, variant["window-stamps"]), variant["window-values"])


def told_in_details(rows: Rows, variant: Mapping[str, str]) -> Rows:
    """All rows of a series as details tell them, before they are cut."""
    rows = rows[:-1] if variant["newest"] == "window-only" else rows
    return [*rows, *_ahead(rows)] if variant["forecasts"] == "both" else rows


def _ahead(rows: Rows) -> Rows:
    """Rows of the days to come, as far apart as the last ones."""
    if len(rows) < AHEAD:
        return []
    last, value = rows[-1]
    step = timedelta(days=max(1, round(median((b[0] - a[0]).days for a, b in zip(rows[-7:], rows[-6:], strict=False)))))
    return [(last + step * number, None if value is None else value * 1.01**number) for number in range(1, AHEAD + 1)]


def _changed(rows: Rows, unit: str) -> Rows:
    if unit == "same":
        return rows
    if unit == "change":
        before = [rows[0][1], *(value for _, value in rows)] if rows else []
        pairs = zip(rows, before, strict=False)
        return [(at, None if value is None or was is None else value - was) for (at, value), was in pairs]
    change = UNITS[unit]
    return [(at, None if value is None else change(at, value)) for at, value in rows]


def _moved(rows: Rows, how: str) -> Rows:
    """The rows at other times: of months at their ends, or all two days later."""
    match how:
        case "period-end" if len(rows) > 1 and (rows[-1][0] - rows[-2][0]).days > 7:
            return [(at.replace(day=monthrange(at.year, at.month)[1]), value) for at, value in rows]
        case "two-days-later":
            return [(at + timedelta(days=2), value) for at, value in rows]
        case _:
            return stamped(rows, how)


def stamped(rows: Rows, when: str) -> Rows:
    """The rows at nine in the evening, or as they are."""
    return [(at + EVENING, value) for at, value in rows] if when == "evening" else rows


def rounded_rows(rows: Rows, how: str) -> Rows:
    """The rows as a column of four bytes, or with few decimals or digits, keeps them."""
    if how == "same":
        return rows
    return [(at, None if value is None else _rounded(value, how)) for at, value in rows]


def _rounded(value: float, how: str) -> float:
    match how:
        case "one-decimal":
            return round(value, 1)
        case "two-decimals":
            return round(value, 2)
        case "four-digits":
            return float(f"{value:.4g}")
        case _:
            kept: float = struct.unpack("f", struct.pack("f", value))[0]
            return kept
