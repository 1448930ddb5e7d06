"""Finding a record by its name among those at hand, and saying which name comes nearest to an unknown one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TypeVar

from dataservice.models import Record
from udfs.arguments import shown
from udfs.errors import NoDataError

__all__ = ["CATALOGUE_AGE_S", "find_record", "nearest", "unknown"]

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
