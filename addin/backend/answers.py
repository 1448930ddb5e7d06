"""Answers of batches on their way: in pieces, each sent when the one before has left, never as a whole in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from addin.backend.limits.accounts import PIECE_BYTES

JOINED = 512
"""Pieces that are joined in one go."""


class BatchAnswer(Response):
    """The JSON of a batch's answers, in pieces, between `head` and `tail`."""

    media_type = "application/json"

    def __init__(self, head: bytes, answers: Sequence[bytes], tail: bytes) -> None:
        super().__init__(headers={"cache-control": "no-store"})
        self._head, self._answers, self._tail = head, answers, tail
        size = len(head) + sum(map(len, answers)) + len(tail)
        self.headers["content-length"] = str(size)
        self._is_small = size <= PIECE_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - as ASGI has it
        """Send it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if self._is_small:
            await send({"type": "http.response.body", "body": b"".join(self._texts())})
            return
        for piece in self._pieces():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})  # taken when the last piece has left

    def _texts(self) -> Iterator[bytes]:
        yield self._head
        for start in range(0, len(self._answers), JOINED):
            yield b"".join(self._answers[start : start + JOINED])
        yield self._tail

    def _pieces(self) -> Iterator[bytes]:
        gathered = bytearray()
        for text in self._texts():
            if len(text) > PIECE_BYTES:
                yield bytes(gathered)
                gathered.clear()
                yield from (text[start : start + PIECE_BYTES] for start in range(0, len(text), PIECE_BYTES))
                continue
            gathered += text
            if len(gathered) >= PIECE_BYTES:
                yield bytes(gathered)
                gathered.clear()
        yield bytes(gathered)
