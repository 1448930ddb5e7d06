"""The answers of a batch as they are sent, as many as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil

from addin.protocol.encoding import encode_error, ending
from addin.protocol.response_cache import Ready
from udfs.engine import in_turns
from udfs.errors import CellError, ErrorCode

CALLS_A_TURN = 2_000
"""Calls looked up or joined in one go: a few thousandths of a second."""

ANSWER_BYTES = 24
"""What an answer takes besides its head: its places in lists, and some of the bytes that are made of them."""

SHORT_BYTES = 100
"""Answers of no more bytes are counted as if none were shared: it takes longer to tell equal ones apart."""

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
