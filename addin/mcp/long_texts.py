"""A record that is too long for one answer, part by part: its longest text first, and then its longest list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from addin.mcp.answer_size import MAX_BYTES, MAX_TOKENS, MIN_TEXT_CHARS, tokens_at_most

PART = 2
"""One such part of an answer is for the text, one for the list; the rest of the record is small beside them."""


def part_of(
    record: Mapping[str, Any], listed: str, text_offset: int, offset: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The part of a record that begins so far into its longest text, and the arguments for the part behind it.

    The items of `listed` come with the end of the text, from `offset` on.
    """
    texts = [name for name, value in record.items() if isinstance(value, str)]
    name = max(texts, key=lambda each: len(record[each]), default=None)
    part, following = dict(record), dict[str, Any]()
    if name is not None:
        text, begin = record[name], text_offset
        end = begin + room(text[begin : begin + MAX_BYTES])
        part[name] = text[begin:end]
        if end < len(text):
            part.pop(listed, None)
            return part, {"text_offset": end}
    if isinstance(items := record.get(listed), list):
        shown = items[offset : offset + _fitting(items[offset:])]
        part[listed] = shown
        if offset + len(shown) < len(items):
            following = {"fields": [listed], "offset": offset + len(shown), "text_offset": 0}
    return part, following


def room(text: str) -> int:
    """Return how many characters of a text fit into one answer beside the other fields of a record."""
    size = len(text)
    while size > MIN_TEXT_CHARS and not _fits(text[:size]):
        size = size * 3 // 4
    return size


def _fits(text: str) -> bool:
    written = orjson.dumps(text.encode(errors="replace").decode()).decode()
    return len(written.encode()) <= MAX_BYTES // PART and tokens_at_most(written) <= MAX_TOKENS // PART


def _fitting(items: Sequence[Any]) -> int:
    """Return how many of the first items fit beside a text; at least one, so that nothing is asked for twice."""
    size = tokens = 0
    for count, item in enumerate(items):
        written = orjson.dumps(item).decode()
        size, tokens = size + len(written.encode()), tokens + tokens_at_most(written)
        if count and (size > MAX_BYTES // (PART + 1) or tokens > MAX_TOKENS // (PART + 1)):
            return count
    return len(items)
