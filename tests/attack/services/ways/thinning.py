"""Services that thin series out: only another look at the same days tells; see `foreign`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from statistics import fmean
from typing import Any

from tests.attack.services.ways.said import Said, Way

Rows = list[dict[str, Any]]

Thin = Callable[[Sequence[dict[str, Any]]], Rows]

A_YEAR = timedelta(days=366)

AT_MOST = 400
"""Buckets that a window is put into by a service that chooses their length by itself."""


def _day(row: dict[str, Any]) -> date:
    return datetime.fromisoformat(row["observed_at"]).date()


def _week(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _month(day: date) -> date:
    return day.replace(day=1)


def _last(period: Callable[[date], date]) -> Thin:
    """The last row of each period."""
    return lambda rows: list({period(_day(row)): row for row in rows}.values())


def _mean(period: Callable[[date], date]) -> Thin:
    """The average of each period, on its first day."""

    def thin(rows: Sequence[dict[str, Any]]) -> Rows:
        periods: dict[date, list[float]] = {}
        for row in rows:
            periods.setdefault(period(_day(row)), []).append(row["value"])
        return [
            {"observed_at": f"{start.isoformat()}T00:00:00Z", "value": fmean(values)}
            for start, values in periods.items()
        ]

    return thin


def _buckets(rows: Sequence[dict[str, Any]]) -> Rows:
    """The averages of periods of as many days as leave `AT_MOST` of them."""
    if len(rows) <= AT_MOST:
        return list(rows)
    first = _day(rows[0])
    days = -(-((_day(rows[-1]) - first).days + 1) // AT_MOST)
    return _mean(lambda day: first + timedelta(days=(day - first).days // days * days))(rows)


def _above(count: int, thin: Thin) -> Thin:
    """Only where there are more rows than so many."""
    return lambda rows: thin(rows) if len(rows) > count else list(rows)


def _longer(over: timedelta, thin: Thin) -> Thin:
    """Only where they span a longer time."""
    return lambda rows: thin(rows) if rows and _day(rows[-1]) - _day(rows[0]) > over else list(rows)


def _recent(thin: Thin) -> Way:
    def way(said: Said) -> Said:
        if not said.is_detail or not said.is_good:
            return said
        return replace(said, body={"data": {**said.body["data"], "history": thin(said.body["data"]["history"])}})

    return way


def _window(thin: Thin, *, is_silent: bool = False) -> Way:
    """Windows thinned out, and the number of rows that are left."""

    def way(said: Said) -> Said:
        if not said.is_window or not said.is_good:
            return said
        rows = thin(said.whole)
        told = {} if is_silent else {"pagination": {"limit": 1000, "offset": 0, "total": len(rows)}}
        return replace(said, body={"data": rows[:1000], **told})

    return way


def _both(thin: Thin) -> Way:
    return lambda said: _recent(thin)(_window(thin)(said))


THINNED: dict[str, Way] = {
    "details of weeks": _recent(_last(_week)),
    "details of month ends": _recent(_last(_month)),
    "details of every third row": _recent(lambda rows: [*rows[::-3]][::-1]),
    "details of weeks on average": _recent(_mean(_week)),
    "details of months on average": _recent(_mean(_month)),
    "details of more than 100 rows by weeks": _recent(_above(100, _last(_week))),
    "details of more than 300 rows by month ends": _recent(_above(300, _last(_month))),
    "details of more than a year by weeks": _recent(_longer(A_YEAR, _last(_week))),
    "long windows of weeks": _window(_longer(2 * A_YEAR, _last(_week))),
    "long windows of month ends": _window(_longer(2 * A_YEAR, _last(_month))),
    "windows of more than a year by weeks": _window(_longer(A_YEAR, _last(_week))),
    "windows of more than five years by month ends": _window(_longer(5 * A_YEAR, _last(_month))),
    "long windows of weeks on average": _window(_longer(2 * A_YEAR, _mean(_week))),
    "long windows of months on average": _window(_longer(2 * A_YEAR, _mean(_month))),
    "windows of more than 100 rows by weeks": _window(_above(100, _last(_week))),
    "windows of more than 500 rows by month ends": _window(_above(500, _last(_month))),
    "windows of more than 1,000 rows by weeks on average": _window(_above(1_000, _mean(_week))),
    "windows in at most 400 parts": _window(_buckets),
    "long windows of weeks, unsaid": _window(_longer(2 * A_YEAR, _last(_week)), is_silent=True),
    "all of more than 100 rows by weeks": _both(_above(100, _last(_week))),
    "all of more than 200 rows by months on average": _both(_above(200, _mean(_month))),
}
"""By what is unusual of each."""
