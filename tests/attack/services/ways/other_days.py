"""Services whose days are others: of another zone, without a value, beside the window; see `foreign`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from tests.attack.services.ways.said import Said, Way, recent

Rows = list[dict[str, Any]]

NEW_YORK = timezone(timedelta(hours=-5))


def _nulls_behind(count: int) -> Way:
    """A recent history that goes on with days without a value, behind `latest`."""

    def tell(rows: Rows) -> Rows:
        last = datetime.fromisoformat(rows[-1]["observed_at"]) if rows else datetime(2026, 8, 31, tzinfo=UTC)
        days = [last + timedelta(days=each + 1) for each in range(count)]
        return [*rows, *({"observed_at": f"{day:%Y-%m-%d}T00:00:00Z", "value": None} for day in days)]

    return recent(tell)


def _zoned(zone: timezone, *, is_start_excluded: bool = False, is_end_excluded: bool = False) -> Way:
    """Rows stamped at midnight of a zone, told in UTC, and windows of that zone's days."""

    def at(row: dict[str, Any]) -> datetime:
        return datetime.fromisoformat(row["observed_at"]).replace(tzinfo=zone)

    def told(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "observed_at": at(row).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}

    def way(said: Said) -> Said:
        if not said.is_good or not said.is_window:
            return said.with_rows(told)
        start, end = said.params.get("start", ""), said.params.get("end", "9999-12-31")
        first = [start] if is_start_excluded else []
        last = [end] if is_end_excluded else []
        rows = [
            row for row in said.every if start <= (day := row["observed_at"][:10]) <= end and day not in (*first, *last)
        ]
        return replace(said, body={"data": [told(row) for row in rows[:1_000]]})

    return way


def _beside_edges(before: int, behind: int) -> Way:
    """Windows with rows of the series beside them, so that a chart begins and ends at its edges."""

    def way(said: Said) -> Said:
        if not said.is_window or not said.is_good or not said.whole:
            return said
        first, last = said.whole[0]["observed_at"], said.whole[-1]["observed_at"]
        earlier = [row for row in said.every if row["observed_at"] < first]
        later = [row for row in said.every if row["observed_at"] > last]
        rows = earlier[len(earlier) - before if before else len(earlier) :] + said.whole + later[:behind]
        return replace(said, body={"data": rows[:1_000]})

    return way


OTHER_DAYS: dict[str, Way] = {
    "three days without a value behind latest": _nulls_behind(3),
    "one day without a value behind latest": _nulls_behind(1),
    "days of New York, told in UTC": _zoned(NEW_YORK),
    "days of New York, start excluded": _zoned(NEW_YORK, is_start_excluded=True),
    "days of New York, end excluded": _zoned(NEW_YORK, is_end_excluded=True),
    "the row before a window, too": _beside_edges(1, 0),
    "the rows before and behind a window, too": _beside_edges(1, 1),
}
"""By which days."""
