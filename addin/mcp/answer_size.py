"""Answers that a client accepts: clients refuse what takes more than about 25,000 tokens of the model's memory."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

import orjson

from addin.mcp.schemas import COMMON
from addin.mcp.texts import WORDS_OF_OTHERS
from addin.mcp.tool import GoesOn

MAX_TOKENS = 20_000
"""Counted on the safe side (`tokens_at_most`), so an answer stays below the 25,000 that clients accept."""

MAX_BYTES = 48_000
"""An answer is sent twice, as text and as structured content: both together stay below 100 kB."""

_LETTER, _DIGIT, _SIGN, _OTHER, _NOTHING, _TAKEN = b"a", b"0", b".", b"*", b"_", b"-"

_KINDS = bytes.maketrans(
    bytes(range(256)),
    b"".join(
        _LETTER
        if chr(byte) in string.ascii_letters
        else _DIGIT
        if chr(byte) in string.digits
        else _NOTHING
        if chr(byte) == " " or 0x80 <= byte < 0xC0
        else _SIGN
        if byte < 0x80
        else _OTHER
        for byte in range(256)
    ),
)
"""The kind of each byte of UTF-8: of a character that is not ASCII the first one counts, for two."""

MIN_TEXT_CHARS = 200
"""A text that does not fit is not cut shorter than this; then a field is left out."""

MOST_NAME_CHARS = 60
"""Of the name of what was cut: others gave it."""

MOST_CUT = 20
"""Fields that are named as cut: nobody needs the names of thousands."""

LARGE_RECORD_BYTES = 2_000
"""A record of a list that is cut itself; of a list of smaller ones the last are left out."""

ITEMS_TOGETHER = 100
"""Items that are written and counted in one go: one by one that takes five times as long."""

ROWS = "rows"
"""The member of which the newest items stay, which are its last; of every other one the first stay."""


def tokens_at_most(text: bytes) -> int:
    """More tokens than any usual tokenizer makes of a text in UTF-8: three letters or digits, or one other sign, each.

    >>> tokens_at_most(b'["2026-05-01",335.1]')
    14
    """
    kinds = text.translate(_KINDS)
    tokens = kinds.count(_SIGN) + 2 * kinds.count(_OTHER)
    for kind in (_LETTER, _DIGIT):  # a pattern would look at each piece, which takes twenty times as long
        rest = kinds.replace(3 * kind, _TAKEN)
        pairs = rest.count(2 * kind)
        tokens += (len(kinds) - len(rest)) // 2 + rest.count(kind) - pairs
    return tokens


def fits(result: Mapping[str, Any]) -> bool:
    """Return whether a client accepts the result as one answer."""
    text = orjson.dumps(result)
    return len(text) <= MAX_BYTES and tokens_at_most(text) <= MAX_TOKENS


def shortened(result: dict[str, Any], name: str | None = None, goes_on: GoesOn = lambda _: {}) -> dict[str, Any]:
    """The result as one answer: where it is too long, with fewer items of the member `name`, and how to go on.

    Of rows the newest stay, of other items the first. A single item that is too long loses the ends of its longest
    texts, and so does a result without items.
    """
    if fits(result):
        return result
    if name is None or not result[name]:
        return _clipped(result)
    count = _most_items(result, name, goes_on)
    while count and not fits(_first(result, name, count, goes_on)):
        count -= 1  # how to go on takes more for so many than for one
    shorter = _first(result, name, max(1, count), goes_on)
    return shorter if count else _clipped(shorter)


def _most_items(result: Mapping[str, Any], name: str, goes_on: GoesOn) -> int:
    """Return how many items fit beside the rest of the result; of thousands, many at a time."""
    items = result[name][::-1] if name == ROWS else result[name]
    rest = orjson.dumps({**_first(result, name, 1, goes_on), name: []})
    room, tokens, count = MAX_BYTES - len(rest), MAX_TOKENS - tokens_at_most(rest), 0
    for together in (ITEMS_TOGETHER, 1):
        while count < len(items):
            text = orjson.dumps(items[count : count + together])[1:]  # its end stands for the comma
            if len(text) > room or (taken := tokens_at_most(text)) > tokens:
                break
            room, tokens, count = room - len(text), tokens - taken, count + together
    return min(count, len(items))


def _first(result: Mapping[str, Any], name: str, count: int, goes_on: GoesOn) -> dict[str, Any]:
    """The result with so many of its items, and how to get the others."""
    items = result[name]
    if count == len(items):
        return dict(result)
    kept = items[len(items) - count :] if name == ROWS else items[:count]
    which = "newest" if name == ROWS else "first"
    more = f"only the {which} {count} of {len(items)} {name} fit into one answer: go on with the arguments in next"
    return {**result, name: kept, "more": more, "next": dict(goes_on(count))}


def _clipped(result: dict[str, Any]) -> dict[str, Any]:
    """The result, which is changed, after its longest texts and lists were cut, and what is neither was left out."""
    told = "too long for one answer: cut tells what was cut, and after how many characters or items"
    result["more"] = f"{told}; {rest}" if (rest := result.get("more")) else told
    result[WORDS_OF_OTHERS] = [*result.get(WORDS_OF_OTHERS, ()), "cut"]
    cut: dict[str, int] = {}
    result["cut"] = cut
    while not fits(result):
        holder, name = _largest(result)
        value = holder[name]
        kept = len(value) // 2 if isinstance(value, str | list) else 0
        if kept > (MIN_TEXT_CHARS // 2 if isinstance(value, str) else 0):
            holder[name] = value[:kept]
        else:
            kept = 0
            del holder[name]
        cut[name[:MOST_NAME_CHARS]] = kept
        result["cut"] = dict(list(cut.items())[-MOST_CUT:])
    return result


def _largest(result: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The largest text, list or other member, and the object that holds it: it may lie deeper, in a large record."""
    holder, name = result, _widest({name: value for name, value in result.items() if name not in COMMON})
    while True:
        inside = holder[name]
        if isinstance(inside, list):
            inside = max(inside, key=_size, default=None)
            if len(holder[name]) > 1 and _size(inside) < LARGE_RECORD_BYTES:
                return holder, name
        if not isinstance(inside, dict) or not inside:
            return holder, name
        holder, name = inside, _widest(inside)


def _size(value: Any) -> int:
    return len(orjson.dumps(value))


def _widest(members: Mapping[str, Any]) -> str:
    return max(members, key=lambda name: _size({name: members[name]}))
