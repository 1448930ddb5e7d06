"""Records out of a list, one by one: what cannot be read of one harms no other, and is counted and named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec

from dataservice.client.contract.forms import number_of, snake_case
from dataservice.client.contract.times import times_of
from dataservice.errors import MalformedAnswerError
from dataservice.models import Post, Record, WireItem

R = TypeVar("R", bound=Record)

_KINDS = {
    "float": "a number",
    "int": "a whole number",
    "bool": "true or false",
    "str": "text",
    "array": "a list",
    "object": "an object",
}

NUMBERS = frozenset({"importance_score", "momentum_score", "belief_score", "baseline_window_months", "view_count"})
"""Fields of the contract that are numbers: some services write them as text."""


DATED = (Post, WireItem)
"""Records that are sorted and chosen by when they were published."""

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]|$)")


def in_words(error: msgspec.ValidationError) -> str:
    """Return what is wrong with an answer's field, in plain words.

    >>> in_words(msgspec.ValidationError("Expected `float | null`, got `str` - at `$.data[...].value`"))
    'value should be a number or null, and is text'
    """
    text, _, path = str(error).partition(" - at ")
    fields = re.findall(r"\.(\w+)", path)
    field = fields[-1] if fields else "it"
    if match := re.fullmatch(r"Expected `(.+)`, got `(.+)`", text):
        wanted, found = (" or ".join(_KINDS.get(kind, kind) for kind in kinds.split(" | ")) for kinds in match.groups())
        return f"{field} should be {wanted}, and is {found}"
    if match := re.fullmatch(r"Object missing required field `(.+)`", text):
        return f"{match[1]} is missing"
    return text if field == "it" else f"{field}: {text}"


def records_in(raw: Sequence[Any], kind: type[R]) -> tuple[tuple[R, ...], str]:
    """The records of a list, and how many of them were not read whole and why; empty where all were.

    A field that is no such value is shown as it was told; a record that nothing names is left out. Raises
    `MalformedAnswerError` where no record of several can be read.
    """
    raw = [snake_case(each) if isinstance(each, dict) else each for each in raw] if _is_camel(raw) else raw
    raw = _dated(raw) if kind in DATED else raw
    try:
        return _told(tuple(kind.from_json(each) for each in raw), raw), ""
    except (msgspec.ValidationError, AttributeError, TypeError):
        pass
    records: list[R] = []
    problems: list[str] = []
    for each in raw:
        record, problem = mended(each, kind)
        problems += [problem] if problem else []
        records += [] if record is None else [record]
    if raw and not records:
        raise MalformedAnswerError(f"not a {kind.__name__}: {problems[0]}")
    odd = f"{len(problems)} of {len(raw)} records could not be read whole: {problems[0]}" if problems else ""
    return tuple(records), odd


def _dated(raw: Sequence[Any]) -> Sequence[Any]:
    """The records with their times of publication as the contract writes them; as they are where that is not clear."""
    told = {place: each["published_at"] for place, each in enumerate(raw) if isinstance(each, dict) and _is_told(each)}
    if all(isinstance(time, str) and _ISO.match(time) for time in told.values()):
        return raw
    try:
        times = dict(zip(told, times_of(list(told.values())), strict=True))
    except MalformedAnswerError:
        return raw
    return [{**each, "published_at": times[place]} if place in times else each for place, each in enumerate(raw)]


def _is_told(record: dict[str, Any]) -> bool:
    return record.get("published_at") not in (None, "")


def _is_camel(raw: Sequence[Any]) -> bool:
    """Return whether records have names such as `publishedAt`: all have those of the first."""
    return bool(raw) and isinstance(raw[0], dict) and any(name != name.lower() for name in raw[0])


def _told(records: tuple[R, ...], raw: Sequence[Any]) -> tuple[R, ...]:
    """The same records; raises `MalformedAnswerError` where posts or items tell nothing of the contract but names."""
    kind = type(records[0]) if records else None
    if kind in DATED and all(len(each) > 1 and not each.keys() & _beside_name(kind) for each in raw):
        raise MalformedAnswerError(f"not a {kind.__name__}: there is {', '.join(map(str, list(raw[0])[:5]))}")
    return records


@cache
def _beside_name(kind: type[Record]) -> frozenset[str]:
    return frozenset(kind.field_names()) - {"slug", "id"}


def mended(raw: Any, kind: type[R]) -> tuple[R | None, str]:
    """One record with the fields that are no such values as they were told, and what was wrong first; None for none."""
    if not isinstance(raw, dict):
        return None, "not an object"
    fields, problem, odd = dict(raw), "", dict[str, Any]()
    for name in NUMBERS & fields.keys():
        if isinstance(fields[name], str):
            fields[name] = _number(fields[name])
    if isinstance(fields.get("id"), int):
        fields["id"] = str(fields["id"])
    while True:
        try:
            record = kind.from_json(fields)
            return msgspec.structs.replace(record, extra={**record.extra, **odd}) if odd else record, problem
        except msgspec.ValidationError as error:
            problem = problem or in_words(error)
            named = re.search(r"`\$\.(\w+)", str(error))
            if named is None or fields.get(named[1]) is None:
                return None, problem
            odd[named[1]] = fields.pop(named[1])


def _number(text: str) -> Any:
    try:
        return number_of(text)
    except MalformedAnswerError:
        return text
