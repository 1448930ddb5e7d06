"""The answers of a batch as they are sent, as many as there is room for."""

from __future__ import annotations

from collections.abc import Sequence

from addin.protocol.encoding import encode_error, finish
from addin.protocol.response_cache import Ready
from udfs.engine import in_turns
from udfs.errors import CellError, ErrorCode

CALLS_A_TURN = 2_000
"""Calls looked up or joined in one go: a few thousandths of a second."""

NO_ROOM = Ready(
    encode_error(
        CellError(
            ErrorCode.NA,
            "the answers of this batch are larger than the setting max_batch_bytes allows; ask for shorter tables",
        )
    ),
    0.0,
)


async def completed(answers: Sequence[Ready], now: float, max_bytes: int) -> list[bytes]:
    """The answers as JSON, each whole; those that leave no room become errors."""
    whole = _Whole(now)
    parts: list[bytes] = []
    room = max_bytes
    async for part in in_turns(answers, CALLS_A_TURN):
        size = sum([len(answer.head) for answer in part])
        if size > room:  # equal calls share one answer in memory, but each is sent
            part, room = _within(part, room)
        else:
            room -= size
        parts += map(whole.__getitem__, part)
    return parts


class _Whole(dict[Ready, bytes]):
    """Answers with their ends: those that many calls share are completed once."""

    def __init__(self, now: float) -> None:
        super().__init__()
        self._now = now

    def __missing__(self, answer: Ready) -> bytes:
        text = self[answer] = finish(answer.head, answer.fresh_until - self._now)
        return text


def _within(answers: Sequence[Ready], room: int) -> tuple[list[Ready], int]:
    """The answers up to the first that leaves no room, and an error in place of all others."""
    sent: list[Ready] = []
    for answer in answers:
        room -= len(answer.head)
        sent.append(answer if room >= 0 else NO_ROOM)
    return sent, room
