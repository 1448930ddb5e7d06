"""Finding records among those at hand, by name, by words or by group, and the order in which they are shown.

Pure functions of the records; an unknown name or group is reported with the nearest known one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, time
from typing import Any, TypeVar

from dataservice.client.contract import ALL, COMPARED, Collection, NearestNames
from dataservice.models import Record, Signal
from udfs.arguments.kinds import shown
from udfs.errors import ArgumentError, NoDataError
from udfs.records.search import OTHER_WORDS, findable, found

R = TypeVar("R", bound=Record)
T = TypeVar("T")

WORD = re.compile(r"\w+")

NEAR = 0.7
"""How alike two names must be, of 1: less suggests bitcoin for a misspelt inflation."""

SHORT, NEAR_SHORT = 4, 0.6
"""Two letters that changed places weigh more in a name of so few: iol is near oil."""

MOST_WORDS = 32
"""Words of one search: more than a headline has."""

LISTED = 12
"""Names that a message lists at most: more do not help in a cell's tooltip."""


def find_record(records: Sequence[R], name: str, what: str) -> R:
    """The record whose slug or shortcode is `name`, in any case; raises `NoDataError` naming the nearest slug."""
    found = find_record_or_none(records, name)
    if found is not None:
        return found
    said = unknown(what, name, [record.field("slug") for record in records])
    lacks = records.lacks(ALL) if isinstance(records, Collection) else ""
    raise NoDataError(f"{said}; {lacks}" if lacks else said).about("slug")


def find_record_or_none(records: Iterable[R], name: str) -> R | None:
    """The record whose slug or shortcode is `name`, in any case; None where there is none."""
    folded, alike = name.casefold(), None
    for record in records:
        if record.field("slug") == name:
            return record
        if alike is None and folded in _names(record):
            alike = record
    return alike


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, or one that holds it as a word; None where none is near."""
    names = list(known)
    return _nearest(name, NearestNames(names)) or _holding(name[:COMPARED].casefold(), names)


def _nearest(name: str, known: NearestNames) -> str | None:
    asked = name[:COMPARED]
    return known.nearest(asked, cutoff=NEAR if len(asked) > SHORT else NEAR_SHORT)


def _holding(word: str, known: Iterable[str]) -> str | None:
    """The first name that holds this very word."""
    return next((name for name in known if word in WORD.findall(name[:COMPARED].casefold())), None)


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


def by_slug(records: Iterable[R]) -> list[R]:
    """The records in the order of their slugs."""
    return sorted(records, key=lambda record: record.field("slug"))


def in_group(records: Sequence[T], group: str | None, group_of: Callable[[T], str | None], what: str) -> Sequence[T]:
    """The records whose `group_of` is `group`, in any case, or all; raises `NoDataError` naming the nearest group."""
    if not group:
        return records
    folded = group.casefold()
    found = [record for record in records if (group_of(record) or "").casefold() == folded]
    if not found:
        raise NoDataError(unknown(what, group, sorted({name for name in map(group_of, records) if name}))).about(what)
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


def words_of(text: str) -> list[str]:
    """The words that are looked for, in lower case; what holds none, such as `%`, is looked for as it is."""
    folded = text.casefold()
    return list(dict.fromkeys(WORD.findall(folded) or folded.split()))


def searched_words(search: str) -> list[str]:
    """The words of a search; raises `ArgumentError` for more than anybody looks for: each is looked for everywhere."""
    words = words_of(search)
    if len(words) > MOST_WORDS:
        raise ArgumentError(f"a search has at most {MOST_WORDS} words, not {len(words):,}")
    return words


def matches(words: Sequence[str], texts: Iterable[str | None]) -> bool:
    """Return whether every word is found in one of the texts."""
    whole = "\n".join(text for text in texts if text).casefold()
    return all(word in whole for word in words)


def ranked(search: str, signals: Iterable[Signal]) -> list[Signal]:
    """The signals that a search finds (`udfs.records.search`), the best match first."""
    searched_words(search)
    return found(search, signals)


def corrected(search: str, signals: Iterable[Signal]) -> str | None:
    """The search with words that no signal holds replaced by the nearest that one does; None where none is near."""
    at_hand = list(signals)
    held = {word for signal in at_hand for text in _texts(signal) if text for word in words_of(text)}
    known = sorted(held | findable(OTHER_WORDS, at_hand))
    names, asked = NearestNames(known), searched_words(search)
    words = [word if any(word in each for each in known) else _nearest(word, names) for word in asked]
    return " ".join(word for word in words if word) if all(words) and words != asked else None


def _names(record: Record) -> tuple[str, ...]:
    names = (record.field("slug"), record.extra.get("shortcode"))
    return tuple(name.casefold() for name in names if isinstance(name, str))


def _moment(day: date) -> datetime:
    return day if isinstance(day, datetime) else datetime.combine(day, time.min, UTC)


def _texts(signal: Signal) -> tuple[str | None, ...]:
    return signal.slug, signal.shortcode, signal.name, signal.category, signal.source, signal.description
