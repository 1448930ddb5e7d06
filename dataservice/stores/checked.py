"""Payloads with a checksum: SQLite notices a damaged structure, but not other bytes in the place of a number."""

from __future__ import annotations

import struct
import zlib

MARK = b"\xc1sum"
"""Before the checksum. What an earlier version kept has neither, and no answer packs to bytes that end like this."""

_TAIL = struct.Struct(f"<{len(MARK)}sI")

CHECKSUM_BYTES = _TAIL.size
"""How much longer a payload with a checksum is."""

_TIME = struct.Struct("<d")

BROKEN = _TAIL.pack(MARK, 0)
"""Kept in the place of what is lost: no checksum fits it."""


def with_checksum(payload: bytes, place: str, time: float = 0.0) -> bytes:
    """The bytes to keep at `place`, dated `time`."""
    return payload + _TAIL.pack(MARK, _checksum(payload, place, time))


def checked(kept: bytes, place: str, time: float = 0.0) -> bytes:
    """The payload that was kept at `place`, dated `time`; empty, which nobody can read, if anything of that changed."""
    if len(kept) < _TAIL.size:
        return kept
    mark, checksum = _TAIL.unpack_from(kept, len(kept) - _TAIL.size)
    if mark != MARK:
        return kept
    payload = kept[: -_TAIL.size]
    return payload if checksum == _checksum(payload, place, time) else b""


def is_intact(kept: bytes, place: str) -> bool:
    """Return whether what was kept at `place` has its checksum, and nothing of it changed."""
    return len(kept) > _TAIL.size and kept[-_TAIL.size :].startswith(MARK) and bool(checked(kept, place))


def is_damaged(kept: bytes, payload: bytes) -> bool:
    """Return whether what was `kept` is not what gave this `payload`."""
    return bool(kept) and not payload


def _checksum(payload: bytes, place: str, time: float) -> int:
    return zlib.crc32(_TIME.pack(time), zlib.crc32(place.encode(), zlib.crc32(payload)))
