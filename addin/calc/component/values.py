"""The backend's answers as values that Calc's cells can hold."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple, Tuple, Union

Rows = Tuple[Tuple[Union[float, str], ...], ...]
Value = Union[float, str, Rows]
"""A number (an error too), a text, or a table. A blank is an empty text, as in Excel: Calc counts None as 0."""

_CODES = {"#N/A": 0x7FFF, "#VALUE!": 519}
"""Calc's own numbers of the errors."""

DateColumn = Tuple[int, str]
"""A column of a table that holds dates as serial numbers: its index, and `date` or `datetime`."""


class Answer(NamedTuple):
    """The answer to a call: its value, how long it stays fresh, and why it is an error or an old value."""

    value: Value
    fresh_s: float
    message: str = ""
    dates: tuple[DateColumn, ...] = ()


def error_number(code: str) -> float:
    """The NaN that Calc shows as this error: it has the error's number in its low bits.

    Calc shows a plain NaN as #NUM! and an exception as #VALUE!, and an exception cannot be one cell of a table.
    """
    number: float = struct.unpack("<d", struct.pack("<II", _CODES.get(code, _CODES["#N/A"]), 0x7FF80000))[0]
    return number


NA = error_number("#N/A")


def value_of(answer: dict[str, Any], days_later: int = 0) -> Answer:
    """The answer as the backend sent it, with a value for a document that begins to count days that much later."""
    if days_later:
        answer = _counted_later(answer, days_later)
    fresh_s = float(answer.get("fresh_s", 0.0))
    stale = answer.get("stale")
    message = answer.get("message", "") or (stale["reason"] if stale else "")
    if "columns" in answer:
        kinds = ((place, _date_kind(column)) for place, column in enumerate(answer["columns"]))
        return Answer(_table(answer), fresh_s, message, tuple((place, kind) for place, kind in kinds if kind))
    return Answer(_cell(answer), fresh_s, message)


def _counted_later(answer: Any, days: int) -> Any:
    """The answer, its column or its cell with other numbers for dates."""
    if not isinstance(answer, dict):
        return answer
    is_date = answer.get("type") in ("date", "datetime")
    counted = dict(answer)
    if isinstance(value := answer.get("value"), (int, float)) and is_date:
        counted["value"] = value - days
    if "values" in answer:
        cells = answer["values"]
        counted["values"] = [
            cell - days if is_date and isinstance(cell, (int, float)) else _counted_later(cell, days) for cell in cells
        ]
    if "columns" in answer:
        counted["columns"] = [_counted_later(column, days) for column in answer["columns"]]
    return counted


def _table(answer: dict[str, Any]) -> Value:
    rows: list[tuple[Any, ...]] = list(zip(*(_column(column) for column in answer["columns"])))
    if answer.get("header") is not None:
        rows.insert(0, tuple(_plain(name) for name in answer["header"]))
    return tuple(rows) or ""


def _date_kind(column: dict[str, Any]) -> str | None:
    """`date` or `datetime` for a column of nothing else but blanks and errors; else None."""
    if column["type"] != "any":
        return str(column["type"]) if column["type"] in ("date", "datetime") else None
    filled = [item for item in column["values"] if item is not None]
    kinds = {item.get("type") if isinstance(item, dict) else "" for item in filled if not _is_error(item)}
    if not kinds or not kinds <= {"date", "datetime"}:
        return None
    return "datetime" if "datetime" in kinds else "date"


def _is_error(item: Any) -> bool:
    return isinstance(item, dict) and "error" in item


def _column(column: dict[str, Any]) -> list[Any]:
    if column["type"] == "any":
        return [_cell(item) if isinstance(item, dict) else _plain(item) for item in column["values"]]
    return [_plain(item) for item in column["values"]]


def _cell(answer: dict[str, Any]) -> float | str:
    return error_number(answer["error"]) if "error" in answer else _plain(answer.get("value"))


def _plain(value: Any) -> float | str:
    """Calc handles only numbers and texts well: it shows TRUE as 0, and a large whole number as an error."""
    if value is None:
        return ""
    return float(value) if isinstance(value, (bool, int, float)) else str(value)
