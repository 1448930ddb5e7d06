"""The observations of a signal as a variant of the service shows them: in a window, and as recent history."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta

from dataservice.server.db.repository import Store
from dataservice.server.variants.tellings import (
    BEHIND,
    Rows,
    rounded_rows,
    stamped,
    told_in_details,
    told_in_windows,
)

NULL_EVERY, NULL_AT = 50, 7
"""Which rows have no value where there are such rows: by their days; never the newest."""

EVERYTHING = 2**31 - 1
CAPS = {"cap-360": 360, "cap-100": 100, "ignored": 30, "absent": 0}

A_YEAR, TEN_YEARS = timedelta(days=366), timedelta(days=3_653)

REFUSALS = {
    "year-refused": (A_YEAR, "a window spans at most 366 days"),
    "year-refused-unsaid": (A_YEAR, "bad request"),
    "five-years-refused": (timedelta(days=1_827), "the range between start and end exceeds 5 years"),
}
"""The longest windows that are not refused, and the error about others."""


def true_rows(store: Store, slug: str, variant: Mapping[str, str]) -> Rows | None:
    """All observations of a signal in such a service, or None when there is no such signal."""
    found = store.observations(slug, start=None, before=None, limit=EVERYTHING, offset=0)
    if found is None:
        return None
    rows: Rows = [(row["observed_at"], row["value"]) for row in found.items]
    if variant["nulls"] != "none":
        rows = [(at, None if at.toordinal() % NULL_EVERY == NULL_AT else value) for at, value in rows[:-1]] + rows[-1:]
    return stamped(rows, variant["stamps"])


def refused_window(rows: Rows, variant: Mapping[str, str], start: date | None, end: date | None) -> str:
    """Why such a service refuses a window; empty where it does not. Open ends are those of the series."""
    if not rows or (refusal := REFUSALS.get(variant["window-longest"])) is None:
        return ""
    longest, why = refusal
    return why if (end or rows[-1][0].date()) - (start or rows[0][0].date()) > longest else ""


def window_rows(rows: Rows, variant: Mapping[str, str], start: date | None, end: date | None) -> Rows:
    """The rows of a window, as such a service understands its bounds."""
    rows = told_in_windows(rows, variant)
    newest = rows[-1][0] if rows else None
    if start is None and variant["no-start"] == "year" and newest:
        start = newest.date() - timedelta(days=366)
    if end is None and variant["no-end"] == "year" and start is not None:
        end = min(start, date.max - timedelta(days=366)) + timedelta(days=366)
    if start is not None:
        first = start + timedelta(days=variant["start"] == "excluded")
        rows = [row for row in rows if row[0].date() >= first]
    if end is not None:
        rows = [row for row in rows if _ends_behind(row[0], end, variant["end"])]
    return _longest(rows, variant["window-longest"], newest)


def _longest(rows: Rows, how: str, newest: datetime | None) -> Rows:
    """As much of a window as such a service gives, without a word; `newest` is the last time of the whole series."""
    if not rows or newest is None:
        return rows
    first, last = rows[0][0], rows[-1][0]
    match how:
        case "year-newest":
            return [row for row in rows if row[0] > last - A_YEAR]
        case "year-oldest":
            return [row for row in rows if row[0] < first + A_YEAR]
        case "ten-years-newest":
            return [row for row in rows if row[0] > last - TEN_YEARS]
        case "from-ten-years-ago":
            return [row for row in rows if row[0] > newest - TEN_YEARS]
        case "from-a-year-ago":
            return [row for row in rows if row[0] > newest - A_YEAR]
        case "1000-newest":
            return rows[-1_000:]
        case "1000-oldest":
            return rows[:1_000]
        case _:
            return rows


def _ends_behind(at: datetime, end: date, how: str) -> bool:
    if how == "midnight":
        return at <= datetime.combine(end, time.min, UTC)
    return at.date() < end if how == "excluded" else at.date() <= end


def recent_rows(rows: Rows, variant: Mapping[str, str], count: int) -> Rows:
    """The recent history of which `count` was asked for."""
    rows = told_in_details(rows, variant)
    rows = rows[: len(rows) - BEHIND[variant["history-lag"]]]
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
        rows = stamped(rows, variant["detail-stamps"])
    return rounded_rows(rows, variant["detail-values"])
