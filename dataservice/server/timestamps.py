"""Points in time between ISO 8601 text and integer microseconds since 1970 in UTC."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta

Clock = Callable[[], datetime]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
"""Stricter than `fromisoformat`, which also accepts 20240101, week dates and hours alone."""

_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?([Zz]|[+-]\d{2}:\d{2})?", re.ASCII)


def utc_now() -> datetime:
    """The time of day, in UTC."""
    return datetime.now(UTC)


def microseconds(instant: datetime) -> int:
    """Whole microseconds from 1970 to an aware date-time."""
    return (instant - EPOCH) // _MICROSECOND


def instant(us: int) -> datetime:
    """The UTC date-time so many microseconds after 1970."""
    return EPOCH + timedelta(microseconds=us)


def parse_date(text: str) -> date:
    """The calendar date written as `2024-02-29`; `ValueError` for anything else."""
    if not _DATE.fullmatch(text):
        raise ValueError("must be a calendar date such as 2024-02-29")
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError("must be a calendar date such as 2024-02-29") from None


def parse_instant(text: str) -> datetime:
    """The UTC date-time written as `2024-02-29T12:30:00Z`, with an offset, without one (taken as UTC) or as a date."""
    problem = "must be a date-time such as 2024-02-29T12:30:00Z"
    if _DATE.fullmatch(text):
        return midnight(parse_date(text))
    if not _DATE_TIME.fullmatch(text):
        raise ValueError(problem)
    try:
        parsed = datetime.fromisoformat(text.upper())
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ValueError(problem) from None


def midnight(day: date) -> datetime:
    """The first instant of a day in UTC."""
    return datetime.combine(day, time.min, UTC)


def month_of(instant: datetime) -> str:
    """The calendar month in UTC an instant falls in, as `2026-08`: the period of a key's quota."""
    return instant.astimezone(UTC).strftime("%Y-%m")
