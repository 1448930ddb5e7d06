"""How a variant of the service writes observations and lists: names, times, numbers and what they stand in."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from dataservice.server.variants.tellings import Rows

NAMES = {
    "observed_at": ("observed_at", "value"),
    "date": ("date", "value"),
    "timestamp": ("timestamp", "value"),
    "time": ("time", "val"),
    "short": ("t", "v"),
    "two-values": ("observed_at", "value"),
}


def written_rows(rows: Rows, variant: Mapping[str, str]) -> list[Any]:
    """The rows as records."""
    return [record(at, value, variant) for at, value in rows]


def record(at: datetime, value: float | None, variant: Mapping[str, str]) -> Any:
    """One observation."""
    when, number = _time(at, variant["times"]), _value(value, variant)
    if variant["record"] == "pair":
        return [when, number]
    first, second = NAMES[variant["record"]]
    found = {first: when, second: number}
    return found | ({"close": -1.0} if variant["record"] == "two-values" else {})


def _time(at: datetime, how: str) -> Any:
    match how:
        case "offset":
            return at.isoformat()
        case "date":
            return at.date().isoformat()
        case "naive":
            return at.replace(tzinfo=None).isoformat()
        case "space":
            return at.strftime("%Y-%m-%d %H:%M:%S")
        case "seconds":
            return int(at.timestamp())
        case "millis":
            return int(at.timestamp() * 1000)
        case "slashes":
            return at.strftime("%m/%d/%Y")
        case _:
            return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _value(value: float | None, variant: Mapping[str, str]) -> Any:
    if value is None:
        return {"nan": math.nan, "dot": "."}.get(variant["nulls"])
    match variant["values"]:
        case "text":
            return repr(value)
        case "grouped":
            return f"{value:,}"
        case _:
            return value


def enveloped(records: Sequence[Any], how: str) -> dict[str, Any] | list[Any]:
    """Return what the records stand in, without a word on what follows."""
    match how:
        case "bare":
            return list(records)
        case "nested":
            return {"data": {"observations": list(records)}}
        case "columns":
            return {"data": _columns(records)}
        case _:
            return {how: list(records)}


def _columns(records: Sequence[Any]) -> dict[str, list[Any]]:
    if records and isinstance(records[0], list):
        return {"observed_at": [each[0] for each in records], "value": [each[1] for each in records]}
    names = list(records[0]) if records else ["observed_at", "value"]
    return {name: [each[name] for each in records] for name in names}
