"""The body of an answer, unpacked no further than a bound: a small packed answer may unpack to gigabytes."""

from __future__ import annotations

import re
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping

from dataservice.client.network.connections import Arrival
from dataservice.errors import MalformedAnswerError

ACCEPTED = "gzip, deflate"
"""The packings that can be unpacked step by step with nothing but the standard library."""

MAX_ANSWER_BYTES = 16 * 2**20
"""Ten times the largest answer in common use, 200 posts with their text; small enough to hold sixteen at once."""

_CHARSET = re.compile(r";\s*charset=\"?([\w.:-]+)", re.IGNORECASE | re.ASCII)
_WBITS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


async def read_body(arrival: Arrival, max_bytes: int) -> bytes:
    """The unpacked body of an answer; raises `MalformedAnswerError` where it is longer than `max_bytes` or damaged."""
    packing = arrival.headers.get("content-encoding", "identity").strip().lower() or "identity"
    if packing not in {"identity", *_WBITS}:
        raise MalformedAnswerError("an answer that cannot be unpacked")
    unpack = None if packing == "identity" else Unpacking(_WBITS[packing], max_bytes)
    parts: list[bytes] = []
    size = 0
    while raw := await arrival.more():
        part = raw if unpack is None else unpack.more(raw)
        size += len(part)
        if size > max_bytes:
            raise _too_large(max_bytes)
        parts.append(part)
    if unpack is not None and not unpack.complete:
        raise MalformedAnswerError("an answer that ends too early")
    return b"".join(parts).removeprefix(BOM_UTF8)  # JSON has none, but some servers write one


def in_utf8(body: bytes, headers: Mapping[str, str]) -> bytes:
    """The body of an answer in UTF-8: from the character set that its Content-Type names, else as it is.

    Of a text that is none, the letters that cannot be read show as U+FFFD, and no more than these. JSON in UTF-16 has a
    byte of nought at its beginning, or a mark, and tells its character set by that.
    """
    if body.isascii():
        return body
    named = _CHARSET.search(headers.get("content-type", ""))
    try:
        return body.decode(named[1] if named else "utf-8").encode()
    except (LookupError, UnicodeError):
        tells_itself = 0 in body[:4] or body.startswith((BOM_UTF16_BE, BOM_UTF16_LE))
        return body if tells_itself else body.decode(errors="replace").encode()


class Unpacking:
    """Unpacks a stream piece by piece, and at most `max_bytes` of it in all."""

    def __init__(self, wbits: int, max_bytes: int) -> None:
        self._wbits = wbits
        self._max_bytes = max_bytes
        self._left = max_bytes
        self._stream = zlib.decompressobj(wbits)
        self._began = False

    @property
    def complete(self) -> bool:
        """Return whether the packed stream has reached its end; one that never began is complete, too."""
        return self._stream.eof or not self._began

    def more(self, raw: bytes) -> bytes:
        """Return what the next packed bytes unpack to."""
        if not raw or self._stream.eof:
            return b""  # what follows the end is no part of the answer
        try:
            part = self._unpacked(raw)
        except zlib.error:
            raise MalformedAnswerError("an answer that cannot be unpacked") from None
        self._began = True
        self._left -= len(part)
        if self._left < 0:
            raise _too_large(self._max_bytes)
        return part

    def _unpacked(self, raw: bytes) -> bytes:
        try:
            return self._stream.decompress(raw, self._left + 1)
        except zlib.error:
            if self._began or self._wbits != zlib.MAX_WBITS:
                raise
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)  # some servers send deflate without its header
            return self._stream.decompress(raw, self._left + 1)


def _too_large(max_bytes: int) -> MalformedAnswerError:
    return MalformedAnswerError(f"an answer of more than {max_bytes:,} bytes, the limit max_answer_bytes")
