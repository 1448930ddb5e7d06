"""A signal's history as the bytes a cache keeps: two raw columns, 16 bytes an observation, then what is known of them.

The columns come first, so that they lie aligned and are read in place, without a copy.
"""

from __future__ import annotations

import struct
from datetime import date

import msgspec

from dataservice.client.history import History, Span
from dataservice.client.packing import pack_columns, unpack_columns
from dataservice.client.spans import Window

__all__ = ["pack_history", "unpack_history"]

_LENGTH = struct.Struct("<q")  # of one column, in bytes, at the very end


class _Span(msgspec.Struct, array_like=True):
    start: date
    end: date
    pulled_at: float
    checked_at: float
    revised: bool


class _Facts(msgspec.Struct, array_like=True):
    spans: tuple[_Span, ...]
    revised_at: float | None


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Facts).decode


def pack_history(history: History) -> bytes:
    """The bytes of `history`."""
    times, values = pack_columns(history.observations)
    spans = tuple(
        _Span(span.window.start, span.window.end, span.pulled_at, span.checked_at, span.revised)
        for span in history.spans
    )
    return b"".join([times, values, _encode(_Facts(spans, history.revised_at)), _LENGTH.pack(len(times))])


def unpack_history(payload: bytes) -> History:
    """The history in `payload`, its columns a view of it; raises `ValueError` or `msgspec.MsgspecError` otherwise."""
    if len(payload) < _LENGTH.size:
        raise ValueError("too short for a history")
    (length,) = _LENGTH.unpack_from(payload, len(payload) - _LENGTH.size)
    body = memoryview(payload)[: -_LENGTH.size]
    if not 0 <= 2 * length <= len(body):
        raise ValueError("columns longer than the whole")
    facts = _decode(body[2 * length :])
    spans = tuple(Span(Window(s.start, s.end), s.pulled_at, s.checked_at, s.revised) for s in facts.spans)
    return History(unpack_columns(body[:length], body[length : 2 * length]), spans, facts.revised_at)
