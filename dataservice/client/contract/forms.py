"""Forms of answers beside those of the contract, as tables: what a list stands in, names of fields, times, numbers.

Strict about values: where two readings are possible there is none. The contract's own names win over all others.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn

import msgspec

from dataservice.errors import MalformedAnswerError, NotFoundError

LISTS = (
    *("data", "observations", "items", "results", "records", "values", "series", "rows"),
    *("signals", "indices", "currents", "posts", "articles", "wire"),
)
"""What a list of records may stand in."""

TIMES = ("observed_at", "date", "timestamp", "datetime", "time", "period", "day", "ts", "t")
VALUES = ("value", "val", "v", "obs_value", "close", "y")
"""The fields of an observation: the contract's own, and others that are in use."""

NO_VALUE = frozenset({"", ".", "-", "na", "n/a", "nan", "null", "none", "#n/a"})
"""Texts in place of a number that say that there is none."""

_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+\.\d+")
"""Thousands set apart by commas; without decimals a comma may as well be the decimal point."""

_MONTH = re.compile(r"\d{4}-\d{2}")
_COMPACT = re.compile(r"\d{8}")

MILLISECONDS_FROM = 100_000_000_000
"""As seconds this is the year 5138."""

FEWEST_CUT = 20
POWERS = frozenset({32, 64, 128, 256, 512, 25, 75, 125, 175})

LAST_SECOND = 7_258_118_400
"""The year 2200: an epoch time beyond is no time of an observation."""


def decoded(body: bytes) -> Any:
    """What a body says; NaN, which is no JSON, counts as null; raises `MalformedAnswerError` for what is none."""
    try:
        return msgspec.json.decode(body)
    except msgspec.MsgspecError:
        pass
    try:
        return json.loads(body, parse_constant=_constant)
    except ValueError:
        raise MalformedAnswerError("not JSON") from None


def _constant(name: str) -> None:
    if name != "NaN":
        raise ValueError(f"{name} is no number")


def said_in(content: Any) -> str:
    """The error that an answer tells in the place of data; empty if it does not."""
    if not isinstance(content, Mapping) or content.get("data") is not None:
        return ""
    told = content.get("error") or content.get("errors")
    if isinstance(told, Mapping):
        told = told.get("message")
    if isinstance(told, list):
        told = told[0] if told else None
    return " ".join(told.split())[:200] if isinstance(told, str) else ""


def signal_in(content: Any) -> dict[str, Any]:
    """The object of one signal: in `data`, in `signal`, or the answer itself."""
    if said := said_in(content):
        raise (NotFoundError if _says_unknown(said) else MalformedAnswerError)(f"an error in the place of data: {said}")
    if isinstance(content, Mapping):
        if "data" in content and content["data"] is None:
            raise NotFoundError("no data for this name")
        for found in (content.get("data"), content.get("signal"), content):
            if isinstance(found, Mapping) and "slug" in found:
                return dict(found)
    raise MalformedAnswerError("no dict in `data`, and no `slug` beside it")


def _says_unknown(said: str) -> bool:
    return any(word in said.lower() for word in ("not found", "unknown", "no such", "does not exist"))


def is_common_size(rows: int) -> bool:
    """Whether services cut lists at so many records: then there may be others."""
    return rows >= FEWEST_CUT and (rows % 10 == 0 or rows in POWERS)


def list_in(content: Any) -> tuple[list[Any], Mapping[str, Any]]:
    """The one list of records in an answer, and what stands beside it."""
    if isinstance(content, list):
        return content, {}
    if not isinstance(content, Mapping):
        raise MalformedAnswerError("not an object, nor a list")
    if said := said_in(content):
        raise MalformedAnswerError(f"an error in the place of data: {said}")
    if isinstance(content.get("data"), list):
        return content["data"], content
    found = [name for name in LISTS if isinstance(content.get(name), list)]
    if len(found) == 1:
        return content[found[0]], content
    if not found and isinstance(content.get("data"), Mapping):
        rows, beside = list_in(content["data"]) if _has_list(content["data"]) else (_columns(content["data"]), {})
        return rows, {**content, **beside}
    raise MalformedAnswerError(f"no list in `data`; {_named(content, found)}")


def _has_list(content: Mapping[str, Any]) -> bool:
    return sum(isinstance(content.get(name), list) for name in LISTS) == 1 and not _both(content)


def _both(content: Mapping[str, Any]) -> bool:
    return any(name in content for name in TIMES) and any(name in content for name in VALUES)


def _columns(content: Mapping[str, Any]) -> list[Any]:
    """The rows of columns of one length."""
    time, value = field_of(content, TIMES, "time"), field_of(content, VALUES, "value")
    times, values = content[time], content[value]
    if not isinstance(times, list) or not isinstance(values, list) or len(times) != len(values):
        raise MalformedAnswerError("columns that are no lists of one length")
    return [[at, number] for at, number in zip(times, values, strict=True)]


def _named(content: Mapping[str, Any], found: Sequence[str]) -> str:
    if found:
        return f"there are {' and '.join(found)}"
    return f"there is {', '.join(map(str, list(content)[:5])) or 'nothing'}"


def field_of(record: Mapping[str, Any], names: Sequence[str], what: str) -> str:
    """The name of the one field of a record among `names`; the first of them wins over all others."""
    if names[0] in record:
        return names[0]
    found = [name for name in names[1:] if name in record]
    if len(found) == 1:
        return found[0]
    given = ", ".join(map(str, list(record)[:6]))
    raise MalformedAnswerError(f"{what} may be {' or '.join(found) if found else 'none of the fields'} of {given}")


def columns_of(rows: Sequence[Any]) -> tuple[list[str], list[float | None]]:
    """The times and values of rows: records, or pairs of a time and a value."""
    if not rows:
        return [], []
    first = rows[0]
    if isinstance(first, Mapping):
        time, value = field_of(first, TIMES, "the time"), field_of(first, VALUES, "the value")
        try:
            times, values = [row[time] for row in rows], [row.get(value) for row in rows]
        except (TypeError, KeyError, AttributeError):
            raise MalformedAnswerError("rows of different forms") from None
    elif all(isinstance(row, list) and len(row) == 2 for row in rows):
        times, values = [row[0] for row in rows], [row[1] for row in rows]
    else:
        raise MalformedAnswerError("rows that are neither records nor pairs")
    return times_of(times), [number_of(each) for each in values]


def times_of(times: Sequence[Any]) -> list[str]:
    """Times as RFC 3339 texts: of texts of the usual forms, or seconds or milliseconds since 1970."""
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in times):
        return _epochs(times)
    return [_time_text(each) for each in times]


def _epochs(times: Iterable[Any]) -> list[str]:
    seconds = list(times)
    if max(map(abs, seconds), default=0) >= MILLISECONDS_FROM:
        seconds = [each / 1000 for each in seconds]
    if any(not math.isfinite(each) or abs(each) > LAST_SECOND for each in seconds):
        _no_time(max(seconds))
    moments = (datetime.fromtimestamp(each, UTC) for each in seconds)
    return [moment.isoformat().replace("+00:00", "Z") for moment in moments]


def _time_text(told: Any) -> str:
    if not isinstance(told, str):
        _no_time(told)
    if _MONTH.fullmatch(told):
        return f"{told}-01"
    if _COMPACT.fullmatch(told):
        return f"{told[:4]}-{told[4:6]}-{told[6:]}"
    return told


def _no_time(told: Any) -> NoReturn:
    raise MalformedAnswerError(f"{str(told)[:40]!r} is no date or time")


def number_of(told: Any) -> float | None:
    """The number that a field tells, also as text; None where it says that there is none."""
    if told is None or (isinstance(told, float) and math.isnan(told)):
        return None
    if isinstance(told, int | float) and not isinstance(told, bool):
        number = float(told)
    elif isinstance(told, str) and told.strip().lower() in NO_VALUE:
        return None
    elif isinstance(told, str) and _PLAIN.fullmatch(text := told.strip()):
        number = float(text)
    elif isinstance(told, str) and _GROUPED.fullmatch(text := told.strip()):
        number = float(text.replace(",", ""))
    else:
        raise MalformedAnswerError(f"value should be a number or null, and is {str(told)[:40]!r}")
    if not math.isfinite(number):
        raise MalformedAnswerError("a number that is too large")
    return number
