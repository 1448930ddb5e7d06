"""Answers that a client accepts: clients refuse what takes more than about 25,000 tokens of the model's memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

MAX_TOKENS = 20_000
"""Counted on the safe side (`tokens_at_most`), so an answer stays below the 25,000 that clients accept."""

MAX_BYTES = 48_000
"""An answer is sent twice, as text and as structured content: both together stay below 100 kB."""

_PIECES = re.compile(r"[a-zA-Z]{1,3}|[0-9]{1,3}| |[^\sa-zA-Z0-9]|\s")

MIN_TEXT_CHARS = 200
"""A text that does not fit is not cut shorter than this; then a field is left out."""


def tokens_at_most(text: str) -> int:
    """More tokens than any usual tokenizer makes of the text: three letters or digits, or one other character, each.

    >>> tokens_at_most('["2026-05-01",335.1]')
    14
    """
    return sum(1 if piece.isascii() else 2 for piece in _PIECES.findall(text) if piece != " ")


def fits(result: Mapping[str, Any]) -> bool:
    """Whether a client accepts the result as one answer."""
    text = orjson.dumps(result)
    return len(text) <= MAX_BYTES and tokens_at_most(text.decode()) <= MAX_TOKENS


def shortened(result: dict[str, Any], *, offset: int = 0) -> dict[str, Any]:
    """The result as one answer: where it is too long, with fewer items and a `more` that says how to go on.

    Of rows the newest stay, of records the first; `offset` is the number of the first record. A single record that is
    too long loses the ends of its longest texts.
    """
    if fits(result):
        return result
    name = next((name for name, value in result.items() if isinstance(value, list) and name != "columns"), None)
    if name is None:
        return _clipped(result, result)
    fewest, most = 0, len(result[name])
    while fewest < most:
        middle = (fewest + most + 1) // 2
        if fits(_first(result, name, middle, offset)):
            fewest = middle
        else:
            most = middle - 1
    if fewest or name == "rows":
        cut = _first(result, name, fewest, offset)
        return cut if fits(cut) else _clipped(cut, cut["signal"])
    alone = _first(result, name, 1, offset)
    return _clipped(alone, alone[name][0])


def _first(result: Mapping[str, Any], name: str, count: int, offset: int) -> dict[str, Any]:
    """The result with so many of its items, and how to get the others."""
    items = result[name]
    if count == len(items):
        return dict(result)
    if name == "rows":
        kept = items[len(items) - count :]
        until = items[len(items) - count - 1][0]  # with its time of day, where it has one: a day may not fit
        more = f"only the newest {count} of {len(items)} rows fit into one answer: for older ones ask with end={until}"
    else:
        kept = items[:count]
        more = f"only {count} of {len(items)} {name} fit into one answer: go on with offset={offset + count}, "
        more += "or ask for fewer fields"
    return {**result, name: kept, "more": more}


def _clipped(result: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """The result after the longest fields of one record in it, which is changed, were cut or left out."""
    cut: dict[str, str] = {}
    rest = result.get("more")
    while not fits(result) and record:
        name = max(record, key=lambda name: len(orjson.dumps(record[name])))
        value = record[name]
        if isinstance(value, str) and len(value) > MIN_TEXT_CHARS:
            record[name] = value[: len(value) // 2]
            cut[name] = f"{name} is cut after {len(value) // 2} characters"
        else:
            del record[name]
            cut[name] = f"{name} is left out"
        told = f"too long for one answer: {', '.join(cut.values())}; the whole is at the service"
        result["more"] = f"{told}; {rest}" if rest else told
    return result
