"""Points in time as the service writes them."""

from __future__ import annotations

from datetime import UTC, date, datetime

_UNKNOWN = datetime.min.replace(tzinfo=UTC)


def instant(text: str) -> datetime:
    """The UTC date-time in RFC 3339 `text`; the beginning of time where it is none, so that it sorts as oldest."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _UNKNOWN
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def utc_day(seconds: float) -> date:
    """The calendar day in UTC of a time in seconds since the epoch."""
    return datetime.fromtimestamp(seconds, UTC).date()
