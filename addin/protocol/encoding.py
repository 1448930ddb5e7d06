"""Outcomes as JSON for every host, and the answers of a batch as they are sent, as many as there is room for.

An answer is cached as the bytes before the number after `"fresh_s":`, so that sending it again costs no encoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import chain
from math import ceil
from typing import Any

import numpy as np
import orjson

from addin.protocol.response_cache import Ready
from udfs.cells import MAX_TEXT, Column, Grid, Kind, Scalar, Table, cells_of, serial, serials, whole_serials
from udfs.engine import Outcome, in_turns
from udfs.errors import CellError, ErrorCode, error_cell

_VALUE = b'{"value":'
_FRESH_S = b',"fresh_s":'
_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS

CALLS_A_TURN = 2_000
"""Calls looked up or joined in one go: a few thousandths of a second."""

ANSWER_BYTES = 24
"""What an answer takes besides its head: its places in lists, and some of the bytes that are made of them."""

SHORT_BYTES = 100
"""Answers of no more bytes are counted as if none were shared: it takes longer to tell equal ones apart."""

CELLS_AT_ONCE = 5_000
"""Cells of any kind encoded in one go: a hundredth of a second."""

NUMBERS_AT_ONCE = 100_000
"""The same for numbers and times, which are arrays."""


def is_large(outcome: Outcome) -> bool:
    """Return whether encoding takes so long that others would have to wait for it."""
    result = outcome.result
    if isinstance(result, list):
        first = result[0] if result else ()
        return len(result) * (len(first) if isinstance(first, list) else 1) > CELLS_AT_ONCE
    if not isinstance(result, Table):
        return False
    mixed = sum([len(column) for column in result.columns if column.dtype.kind == "O"])
    return mixed > CELLS_AT_ONCE or sum(map(len, result.columns)) > NUMBERS_AT_ONCE


def encode_plain(outcome: Outcome) -> bytes | None:
    """As `encode` in a tenth of the time, where the outcome is what nearly every cell shows: a number or a text."""
    result = outcome.result
    if outcome.stale is None and (type(result) is float or (type(result) is str and len(result) <= MAX_TEXT)):
        try:
            return _VALUE + orjson.dumps(result) + _FRESH_S
        except orjson.JSONEncodeError:  # half a character
            return None
    return None


def encode(outcome: Outcome, function_id: str) -> bytes:
    """The JSON object of an outcome up to the value of its last member, `fresh_s`.

    What cannot be encoded becomes a cell error; nothing is raised.
    """
    return encode_plain(outcome) or encode_other(outcome, function_id)


def encode_other(outcome: Outcome, function_id: str) -> bytes:
    """As `encode`, where `encode_plain` gives nothing."""
    try:
        return _head(_members(outcome.result), outcome)
    except Exception as error:  # noqa: BLE001 - a function's odd result must not harm the other answers of the batch
        return encode_error(error_cell(error, function_id))


def encode_error(error: CellError) -> bytes:
    """The JSON object of a cell error, up to the value of `fresh_s`."""
    try:
        return _head(_error(error), None)
    except orjson.JSONEncodeError:  # half a character in what it quotes
        message = error.message.encode(errors="replace").decode()
        return _head(_error(replace(error, message=message)), None)


def ending(tenths: int) -> bytes:
    """The end of a JSON object: for how many tenths of a second the host may cache it."""
    return b"%.1f}" % (max(tenths, 0) / 10)


def _head(members: dict[str, Any], outcome: Outcome | None) -> bytes:
    if outcome is not None and outcome.stale is not None:
        members["stale"] = {"age_s": round(outcome.stale.age_s, 1), "reason": outcome.stale.reason}
    text = memoryview(orjson.dumps(members, _extra, _OPTIONS))
    return b"".join((text[:-1], _FRESH_S))  # of a long table one copy is made, not two


def _members(result: Any) -> dict[str, Any]:
    cells = cells_of(result)
    if not isinstance(cells, Grid):
        return _cell(cells)
    header = list(cells.header) if cells.header is not None else None
    rows = cells.height - (header is not None)
    return {"rows": rows, "header": header, "columns": [_column(column) for column in cells.columns]}


def _cell(cell: Scalar) -> dict[str, Any]:
    match cell:
        case CellError():
            return _error(cell)
        case datetime():
            return {"value": serial(cell), "type": "datetime"}
        case date():
            return {"value": int(serial(cell)), "type": "date"}
        case _:
            return {"value": cell}


def _column(column: Column) -> dict[str, Any]:
    """Numbers and dates go out as arrays; a list of mixed cells as it is, its dates and errors through `_extra`."""
    if isinstance(column.values, list) or column.kind is Kind.ANY:
        return {"type": "any", "values": column.values}
    if column.kind is Kind.NUMBER:
        return {"type": "number", "values": np.ascontiguousarray(column.values)}
    return {"type": str(column.kind), "values": _serials(column)}


def _serials(column: Column) -> Any:
    times = np.asarray(column.values)
    whole = column.kind is Kind.DATE and times.dtype == "datetime64[us]" and not np.isnat(times).any()
    return whole_serials(times) if whole else serials(times)


def _extra(value: Any) -> Any:
    """Return what JSON cannot express, inside a mixed column."""
    if isinstance(value, CellError | date):
        return _cell(value)
    raise TypeError(f"a {type(value).__name__} cannot be shown in a cell")


def _error(error: CellError) -> dict[str, Any]:
    told = {"kind": error.kind, "argument": error.argument, "instead": error.instead}
    also = {name: str(value) for name, value in told.items() if value is not None}
    return {"error": str(error.code), "message": error.message, **also}


NO_ROOM = Ready(
    encode_error(
        CellError(
            ErrorCode.NA,
            "the answers of this batch are larger than the setting max_batch_bytes allows; ask for shorter tables",
        )
    ),
    0.0,
)


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a batch, each in two pieces, and the requests spent.

    Equal calls share the first piece, up to the number after `fresh_s`; the second is that number and what follows it.
    The requests that an earlier batch spent after its deadline are told with the next one.
    """

    heads: Sequence[bytes]
    ends: Sequence[bytes]
    requests: int

    @property
    def pieces(self) -> list[bytes]:
        """The text between the brackets of a JSON list, in pieces."""
        return list(chain.from_iterable(zip(self.heads, self.ends, strict=True)))

    @property
    def text(self) -> bytes:
        """All of them as the text of a JSON list."""
        return b"[%b]" % b"".join(self.pieces)

    @property
    def held_bytes(self) -> int:
        """The memory that they take: equal calls share one."""
        size = sum(map(len, self.heads))
        if size > SHORT_BYTES * len(self.heads):
            size = sum({id(head): len(head) for head in self.heads}.values())
        return size + ANSWER_BYTES * len(self.heads)


async def completed(answers: Sequence[Ready], now: float, max_bytes: int, requests: int) -> Answers:
    """The answers as JSON; those that leave no room become errors."""
    end_of, began = _Ends(), ceil(10 * now)
    heads: list[bytes] = []
    ends: list[bytes] = []
    room = max_bytes
    async for part in in_turns(answers, CALLS_A_TURN):
        of_part = [answer.head for answer in part]
        size = sum(map(len, of_part))
        if size > room:  # equal calls share one answer in memory, but each is sent
            part, room = _within(part, room)
            of_part = [answer.head for answer in part]
        else:
            room -= size
        heads += of_part
        ends += [end_of[int(10 * answer.fresh_until) - began] for answer in part]
    if ends:
        ends[-1] = ends[-1].removesuffix(b",")
    return Answers(heads, ends, requests)


class _Ends(dict[int, bytes]):
    """What follows the heads of answers, by the tenths of a second for which they are fresh: many share it."""

    def __missing__(self, tenths: int) -> bytes:
        text = self[tenths] = ending(tenths) + b","
        return text


def _within(answers: Sequence[Ready], room: int) -> tuple[list[Ready], int]:
    """The answers up to the first that leaves no room, and an error in place of all others."""
    sent: list[Ready] = []
    for answer in answers:
        room -= len(answer.head)
        sent.append(answer if room >= 0 else NO_ROOM)
    return sent, room
