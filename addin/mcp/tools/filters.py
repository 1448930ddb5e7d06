"""Filters as people spell them: `$wti`, `Macro`, `@Ballast` are met in the service's spelling, or near ones told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Generic, TypeVar

from dataservice.models import Record
from udfs.arguments import Day, shown
from udfs.errors import ArgumentError
from udfs.records import LISTED, moment, nearest

T = TypeVar("T")
R = TypeVar("R", bound=Record)

Values = Callable[[T], Iterable[str | None]]
"""What a record has of the kind that a filter chooses by."""


def plain(name: str | None) -> str | None:
    """A name without the marks that people put before it."""
    return name.strip().lstrip("$@#") if name else None


@dataclass(frozen=True, slots=True)
class Spelling(Generic[T]):
    """Filters in the spelling of the service, where it knows their values; and what it does not know."""

    filters: Mapping[str, str | None]
    unmet: Sequence[str] = ()
    """Of each filter whose value no record has, what it is."""
    suggestions: Sequence[str] = ()
    """Near values of these, or the most frequent ones where none is near."""


def respelled(given: Mapping[str, str | None], records: Sequence[T], values: Mapping[str, Values[T]]) -> Spelling[T]:
    """The filters in the spelling that the records have."""
    spelled, unmet, suggestions = dict(given), list[str](), list[str]()
    for name, value in given.items():
        if value is None:
            continue
        known = known_values(records, values[name])
        found = in_its_spelling(value, known)
        if found is None:
            unmet.append(f"no {name} {shown(value)}")
            suggestions += near(value, known)
        else:
            spelled[name] = found
    return Spelling(spelled, unmet, list(dict.fromkeys(suggestions)))


def among(unmet: Sequence[str], records: Sequence[object], what: str) -> list[str]:
    """The same, each with where it was looked for: other filters may have left out what there is."""
    return [f"{each} among the {len(records):,} {what} looked at" for each in unmet]


def near(name: str, known: Sequence[str]) -> list[str]:
    """The known name that may be meant, else those that come first."""
    guess = nearest(name, known)
    return [guess] if guess else list(known[:LISTED])


def in_its_spelling(given: str, known: Iterable[str]) -> str | None:
    """The value that is meant, in the spelling of the service; None where there is none in any case."""
    meant = (plain(given) or given).casefold()
    return next((each for each in known if each.casefold().lstrip("$@#") == meant), None)


def known_values(records: Iterable[T], values: Values[T]) -> list[str]:
    """Return what the records have of a kind, the most frequent first."""
    counted: dict[str, int] = {}
    for record in records:
        for value in values(record):
            if isinstance(value, str) and value:
                counted[value] = counted.get(value, 0) + 1
    return sorted(counted, key=lambda value: (-counted[value], value))


UNTIL = Day(help="only what was published by then: a day or a moment", example="2026-06-30", timed=True)


def refuse_reversed(since: date | None, until: date | None) -> None:
    """Raise `ArgumentError` for a time that ends before it begins: no answer could hold anything."""
    if since is not None and until is not None and _end_of(until) < _start_of(since):
        raise ArgumentError(f"since {since} lies after until {until}")


def published_until(records: Iterable[R], until: date | None) -> list[R]:
    """The records that were published by then, and those without a time; all of a day counts."""
    if until is None:
        return list(records)
    end = _end_of(until)
    return [record for record in records if (at := moment(record.field("published_at"))) is None or at <= end]


def _end_of(until: date) -> datetime:
    return _in_utc(until if isinstance(until, datetime) else datetime.combine(until, time.max))


def _start_of(since: date) -> datetime:
    return _in_utc(since if isinstance(since, datetime) else datetime.combine(since, time.min))


def _in_utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
