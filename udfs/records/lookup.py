"""Finding a record by its name among those at hand, and saying which name comes nearest to an unknown one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, time
from difflib import get_close_matches
from typing import Any, TypeVar

from dataservice.models import Record
from udfs.arguments.kinds import shown
from udfs.errors import NoDataError

R = TypeVar("R", bound=Record)

CATALOGUE_AGE_S = 86_400.0
"""A catalogue up to a day old settles names and searches without a request: signals come and go rarely."""

LISTED = 12
"""Names that a message lists at most: more do not help in a cell's tooltip."""

COMPARED = 80
"""Characters of a name that are compared: comparing takes time that grows with the square of the length."""


def find_record(records: Sequence[R], name: str, what: str) -> R:
    """The record whose slug or shortcode is `name`, in any case; raises `NoDataError` naming the nearest slug."""
    for record in records:
        if record.field("slug") == name:
            return record
    folded = name.casefold()
    for record in records:
        if folded in _names(record):
            return record
    raise NoDataError(unknown(what, name, [record.field("slug") for record in records]))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, None where none is."""
    folded = {candidate[:COMPARED].casefold(): candidate for candidate in reversed(list(known))}
    found = get_close_matches(name[:COMPARED].casefold(), folded, n=1)
    return folded[found[0]] if found else None


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """The message for an unknown name: what it is not, and the nearest that there is, or all where they are few."""
    said = f"no {what} {shown(name)}"
    guess = nearest(name, known)
    if guess is not None:
        return f"{said}; did you mean {guess}?"
    if not known:
        return said
    more = f" and {len(known) - LISTED} more" if len(known) > LISTED else ""
    return f"{said}; there are {', '.join(known[:LISTED])}{more}"


def _names(record: Record) -> tuple[str, ...]:
    names = (record.field("slug"), record.extra.get("shortcode"))
    return tuple(name.casefold() for name in names if isinstance(name, str))


T = TypeVar("T")


def in_group(records: Sequence[T], group: str, group_of: Callable[[T], str | None], what: str) -> list[T]:
    """The records whose `group_of` is `group`, in any case; raises `NoDataError` naming the nearest group."""
    folded = group.casefold()
    found = [record for record in records if (group_of(record) or "").casefold() == folded]
    if not found:
        raise NoDataError(unknown(what, group, sorted({name for name in map(group_of, records) if name})))
    return found


def in_order(records: Iterable[T], value: Callable[[T], Any], *, reverse: bool = False) -> list[T]:
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
