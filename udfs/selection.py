"""Which rows of a list are shown, and in which order: pure functions of records and values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, time
from typing import Any, TypeVar

from udfs.errors import NoDataError
from udfs.lookup import unknown

__all__ = ["in_group", "in_order"]

R = TypeVar("R")


def in_group(records: Sequence[R], group: str, group_of: Callable[[R], str | None], what: str) -> list[R]:
    """The records whose `group_of` is `group`, in any case; raises `NoDataError` naming the nearest group."""
    folded = group.casefold()
    found = [record for record in records if (group_of(record) or "").casefold() == folded]
    if not found:
        raise NoDataError(unknown(what, group, sorted({name for name in map(group_of, records) if name})))
    return found


def in_order(records: Iterable[R], value: Callable[[R], Any], *, reverse: bool = False) -> list[R]:
    """The records by `value`: numbers highest first, times newest first, texts from A to Z, blanks always last.

    `reverse` turns each of these round. Records that are equal keep their order.
    """
    valued = [(record, value(record)) for record in records]
    numbers = [pair for pair in valued if isinstance(pair[1], int | float)]
    times = [(record, _moment(raw)) for record, raw in valued if isinstance(raw, date)]
    texts = [pair for pair in valued if isinstance(pair[1], str)]
    numbers.sort(key=lambda pair: pair[1], reverse=not reverse)
    times.sort(key=lambda pair: pair[1], reverse=not reverse)
    texts.sort(key=lambda pair: pair[1].casefold(), reverse=reverse)
    blanks = [pair for pair in valued if not isinstance(pair[1], int | float | date | str)]
    return [record for record, _ in (*numbers, *times, *texts, *blanks)]


def _moment(day: date) -> datetime:
    return day if isinstance(day, datetime) else datetime.combine(day, time.min, UTC)
