"""Forms of answers beside those of the contract, as tables: what a list stands in, names of fields, times, numbers.

Strict about values: where two readings are possible there is none. The contract's own names win over all others.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from dataservice.client.contract.completeness.following import TOTALS
from dataservice.client.contract.times import times_of
from dataservice.errors import MalformedAnswerError, NotFoundError

LISTS = (
    *("data", "observations", "items", "results", "records", "values", "series", "rows", "entries", "points"),
    *("content", "list", "edges", "nodes", "signals", "indices", "currents", "posts", "articles", "wire", "codex"),
    *("almanac", "value", "hits", "features"),
)
"""What a list of records may stand in."""

WRAPPERS = ("data", "result", "results", "response", "payload", "body", "content", "items", "_embedded", "hits")
"""Objects around all that an answer says."""

BESIDE_NULL = frozenset({"data", "pagination", "meta", "paging", "total", "count", "next", "next_cursor", "has_more"})
"""Beside these, a null in the place of a list is an empty one; beside anything else it may be a failure."""

FAILURES = frozenset({"error", "fail", "failed", "failure"})
"""What `status` says where an answer is none."""

PARTIAL = frozenset({"partial", "partial_success", "incomplete", "truncated", "timeout"})
"""What `status` says where an answer is a part."""

PART_FLAGS = ("incomplete_results", "incompleteResults", "timed_out")
"""Fields that are true where an answer is a part whose rest cannot be asked for."""

NO_ERROR = frozenset({"", "ok", "none", "null", "success", "no error", "0"})

_CUT = re.compile(r"truncat|incomplete|partial", re.IGNORECASE)

DEEPEST = 4
"""So many objects may stand around a list."""

TIMES = ("observed_at", "observedAt", "date", "timestamp", "datetime", "time", "period", "day", "ts", "t")
COLUMN_TIMES = (*TIMES, "dates", "times", "timestamps", "x")
"""The same, and what a column of times is called."""

VALUES = ("value", "val", "v", "obs_value", "obsValue", "close", "y")
"""The fields of an observation: the contract's own, and others that are in use."""

ELSEWHERE_ELSE = frozenset({"v", "y", "close"})
"""Fields that are a volume, a year or one price of several where other numbers stand beside them."""

NO_VALUE = frozenset({"", ".", "..", "-", "--", ":", "na", "nd", "n/a", "n.a.", "nan", "null", "none", "#n/a"})
"""Texts in place of a number that say that there is none."""

_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+\.\d+")
"""Thousands set apart by commas; without decimals a comma may as well be the decimal point."""

_SPACED = re.compile(r"[+-]?\d{1,3}(?:[ _'\u00a0\u2009\u202f]\d{3})+(?:\.\d+)?")

_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?:T.*)?")

FEWEST_CUT = 20
POWERS = frozenset({32, 64, 128, 256, 512, 25, 75, 125, 175})


def decoded(body: bytes) -> Any:
    """What a body says; NaN, which is no JSON, counts as null; raises `MalformedAnswerError` for what is none."""
    try:
        content = msgspec.json.decode(body)
    except msgspec.MsgspecError:
        try:
            content = json.loads(body, parse_constant=_constant)
        except ValueError:
            raise MalformedAnswerError("not JSON") from None
    first = content[0] if isinstance(content, list) and content else content
    return _in_snake_case(content) if isinstance(first, Mapping) and _is_pascal(first) else content


def _constant(name: str) -> None:
    if name != "NaN":
        raise ValueError(f"{name} is no number")


def said_in(content: Any) -> str:
    """The error that an answer tells in the place of data; empty if it does not."""
    if not isinstance(content, Mapping):
        return ""
    is_failure = any(content.get(name) is False for name in ("ok", "success"))
    is_failure |= str(content.get("status")).lower() in FAILURES
    if content.get("data") and not is_failure:
        return ""
    told = content.get("error") or content.get("errors") or (content.get("message") if is_failure else None)
    if isinstance(told, Mapping):
        told = told.get("message")
    if isinstance(told, list):
        told = told[0] if told else None
    said = " ".join(told.split())[:200] if isinstance(told, str) else ""
    return said or ("it says so, and not which" if is_failure else "")


def part_in(beside: Mapping[str, Any]) -> str:
    """Return what an answer says beside its records of others that are missing; empty if it does not."""
    for name in ("errors", "error"):
        told = beside.get(name)
        told = told[0] if isinstance(told, list) and told else told
        told = told.get("message") if isinstance(told, Mapping) else told
        if isinstance(told, str) and told.strip().lower() not in NO_ERROR:
            return " ".join(told.split())[:200]
    if flag := next((name for name in PART_FLAGS if beside.get(name) is True), ""):
        return flag
    if (status := str(beside.get("status")).lower()) in PARTIAL:
        return status
    shards, warnings = beside.get("_shards"), beside.get("warnings") or beside.get("warning") or ()
    if isinstance(shards, Mapping) and shards.get("failed"):
        return "shards that failed"
    told = [warnings] if isinstance(warnings, str) else warnings if isinstance(warnings, list) else ()
    cut = next((str(each)[:200] for each in told if _CUT.search(str(each))), "")
    if cut and not any(name in beside for name in TOTALS):  # by a total the rest is asked for
        return cut
    meta = beside.get("meta")
    return part_in(meta) if isinstance(meta, Mapping) else ""


def signal_in(content: Any) -> dict[str, Any]:
    """The object of one signal: in `data`, in `signal`, in a usual wrapper, or the answer itself."""
    if said := said_in(content):
        raise (NotFoundError if says_unknown(said) else MalformedAnswerError)(f"an error in the place of data: {said}")
    if isinstance(content, Mapping):
        if "data" in content and content["data"] is None:
            raise NotFoundError("no data for this name")
        if isinstance(only := content.get("data"), list) and len(only) == 1:
            content = {"data": only[0]}
        for inner in _layers(content):
            for found in (inner, inner.get("signal")):
                if isinstance(found, Mapping) and "slug" in found:
                    return snake_case(found)
    raise MalformedAnswerError("no dict in `data`, and no `slug` beside it")


def _layers(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """An object, and those inside it that are wrapped by one of the usual names; where two are, none."""
    for _ in range(DEEPEST):
        yield content
        if len(content) == 1 and isinstance(only := next(iter(content.values())), Mapping) and not _keyed(content):
            content = only
            continue
        inner = [content[name] for name in (*WRAPPERS, "attributes") if isinstance(content.get(name), Mapping)]
        if len(inner) != 1:
            return
        content = inner[0]


def _is_pascal(record: Mapping[Any, Any]) -> bool:
    """Return whether all names begin with a capital, as some frameworks write them: `ObservedAt`."""
    return bool(record) and all(isinstance(name, str) and name[:1].isupper() for name in record)


def snake_case(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with its names as the contract writes them: `observedAt` is `observed_at`."""
    if all(name == name.lower() for name in record):
        return dict(record)
    names = {name: re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower() for name in record}
    return {name if new in record else new: record[name] for name, new in names.items()}


def _in_snake_case(told: Any) -> Any:
    """An answer with the names of all its objects so."""
    if isinstance(told, Mapping):
        return {name: _in_snake_case(value) for name, value in snake_case(told).items()}
    return [_in_snake_case(each) for each in told] if isinstance(told, list) else told


def says_unknown(said: str) -> bool:
    """Return whether an error says that there is no such thing."""
    return any(word in said.lower() for word in ("not found", "unknown", "no such", "does not exist"))


def is_common_size(rows: int) -> bool:
    """Return whether services cut lists at so many records: then there may be others."""
    return rows >= FEWEST_CUT and (rows % 10 == 0 or rows in POWERS)


def list_in(content: Any) -> tuple[list[Any], Mapping[str, Any]]:
    """The one list of records in an answer, and what stands beside it and around it."""
    if isinstance(content, list):
        return _bare(content)
    if not isinstance(content, Mapping):
        raise MalformedAnswerError("not an object, nor a list")
    if said := said_in(content):
        raise MalformedAnswerError(f"an error in the place of data: {said}")
    around: dict[str, Any] = {}
    inner: Mapping[str, Any] = content
    for inner in _layers(content):
        around |= inner
        if part := part_in(inner):
            raise MalformedAnswerError(f"only a part of what was asked for: {part}")
        if (name := _list_name(inner)) is not None:
            return _plain(_in_order(inner[name], inner)), around
    if "data" in content and content["data"] is None and content.keys() <= BESIDE_NULL:
        return [], content
    if (rows := _keyed(inner)) is not None:
        return rows, {name: told for name, told in around.items() if name not in inner}
    if _both(inner) or "data" in content:
        return _columns(inner), content
    raise MalformedAnswerError(f"no list in `data`; {_named(content, [])}")


def _bare(content: list[Any]) -> tuple[list[Any], Mapping[str, Any]]:
    """A list that stands in nothing; or a pair of what is said of a list, and that list."""
    match content:
        case [Mapping() as beside, list() as rows]:
            return _plain(rows), beside
    return _plain(content), {}


def _list_name(content: Mapping[str, Any]) -> str | None:
    """The name of the one list of records in an object; None where there is none, or one of two columns."""
    if isinstance(content.get("data"), list):
        return "data"
    found = [name for name in LISTS if isinstance(content.get(name), list)]
    if not found and len(content) == 1 and isinstance(next(iter(content.values())), list):
        return next(iter(content))
    if not found or (_both(content) and any(isinstance(content.get(time), list) for time in COLUMN_TIMES)):
        return None
    if len(found) > 1:
        raise MalformedAnswerError(f"no list in `data`; {_named(content, found)}")
    return found[0]


def _plain(rows: list[Any]) -> list[Any]:
    """The records of a list; those of JSON:API have their fields in `attributes`, those of edges are their nodes.

    Those of a search are in `_source`.
    """
    if rows and all(isinstance(row, Mapping) and isinstance(row.get("node"), Mapping) for row in rows):
        return [row["node"] for row in rows]
    if rows and all(isinstance(row, Mapping) and isinstance(row.get("attributes"), Mapping) for row in rows):
        return [{**({"id": row["id"]} if "id" in row else {}), **row["attributes"]} for row in rows]
    if rows and all(isinstance(row, Mapping) and isinstance(row.get("_source"), Mapping) for row in rows):
        return [row["_source"] for row in rows]
    return rows


def _in_order(rows: list[Any], beside: Mapping[str, Any]) -> list[Any]:
    """Rows that are lists as records by the names of their columns, where these stand beside them."""
    names = beside.get("columns") or beside.get("fields") or beside.get("column_names")
    if not rows or not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return rows
    if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return rows
    return [snake_case(dict(zip(names, row, strict=True))) for row in rows]


def _keyed(content: Mapping[str, Any]) -> list[Any] | None:
    """The rows of an object by date, or the records of one by slug; None where it is neither."""
    if not content:
        return None
    if all(_ISO_DAY.fullmatch(name) and not isinstance(told, Mapping | list) for name, told in content.items()):
        return [[name, told] for name, told in content.items()]
    values = list(content.values())
    if all(isinstance(told, Mapping) and name in (told.get("slug"), told.get("id")) for name, told in content.items()):
        return values
    return None


def _both(content: Mapping[str, Any]) -> bool:
    return any(name in content for name in COLUMN_TIMES) and any(name in content for name in (*VALUES, "values"))


def _columns(content: Mapping[str, Any]) -> list[Any]:
    """The rows of columns of one length."""
    time, value = field_of(content, COLUMN_TIMES, "time"), field_of(content, (*VALUES, "values"), "value")
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
    if len(found) == 1 and not (found[0] in ELSEWHERE_ELSE and _has_others(record, found[0])):
        return found[0]
    given = ", ".join(map(str, list(record)[:6]))
    raise MalformedAnswerError(f"{what} may be {' or '.join(found) if found else 'none of the fields'} of {given}")


def _has_others(record: Mapping[str, Any], name: str) -> bool:
    """Return whether other fields of a record hold numbers: but for its time, of which one may be."""
    numbers = [each for each, told in record.items() if isinstance(told, int | float) and each not in TIMES]
    return any(each != name for each in numbers)


def columns_of(rows: Sequence[Any], day_first: bool | None = None) -> tuple[list[str], list[float | None]]:
    """The times and values of rows: records, or pairs of a time and a value; `day_first` as for `times_of`.

    A row that is null tells of no observation.
    """
    rows = [row for row in rows if row is not None]
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
    if None in times:  # a row of nothing but nulls tells of no observation; a value without a time is an error
        told = [row for row in zip(times, values, strict=True) if row != (None, None)]
        times, values = [time for time, _ in told], [value for _, value in told]
    return times_of(times, day_first), [number_of(each) for each in values]


def times_in(rows: Sequence[Any]) -> list[Any]:
    """The times of rows as they are told."""
    rows = [row for row in rows if row is not None]
    name = field_of(rows[0], TIMES, "the time") if rows and isinstance(rows[0], Mapping) else 0
    return [row[name] for row in rows]


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
    elif isinstance(told, str) and _SPACED.fullmatch(text := told.strip()):
        number = float(re.sub(r"[^\d.+-]", "", text))
    else:
        raise MalformedAnswerError(f"value should be a number or null, and is {str(told)[:40]!r}")
    if not math.isfinite(number):
        raise MalformedAnswerError("a number that is too large")
    return number
