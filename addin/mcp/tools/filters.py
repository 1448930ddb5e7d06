"""Filters as people spell them: `$wti`, `Macro`, `@Ballast` are met in the service's spelling, or near ones told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from udfs.records.lookup import unknown

T = TypeVar("T")

Values = Callable[[T], Iterable[str | None]]
"""What a record has of the kind that a filter chooses by."""


def plain(name: str | None) -> str | None:
    """A name without the marks that people put before it."""
    return name.strip().lstrip("$@#") if name else None


def in_its_spelling(given: str, known: Iterable[str]) -> str | None:
    """The value that is meant, in the spelling of the service; None where there is none in any case."""
    return next((each for each in known if each.casefold() == given.casefold()), None)


def known_values(records: Iterable[T], values: Values[T]) -> list[str]:
    """What the records have of a kind, the most frequent first."""
    counted: dict[str, int] = {}
    for record in records:
        for value in values(record):
            if value:
                counted[value] = counted.get(value, 0) + 1
    return sorted(counted, key=lambda value: (-counted[value], value))


def respelled(
    given: Mapping[str, str | None], records: Sequence[T], values: Mapping[str, Values[T]]
) -> tuple[dict[str, str | None], list[str]]:
    """The filters in the spelling that the records have, and of each whose value none of them has, what there is."""
    spelled, unmet = dict(given), list[str]()
    for name, value in given.items():
        if value is None:
            continue
        known = known_values(records, values[name])
        found = in_its_spelling(value, known)
        if found is None:
            unmet.append(unknown(name, value, known))
        else:
            spelled[name] = found
    return spelled, unmet
