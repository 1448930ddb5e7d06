"""Values as the bytes a cache keeps, and back: MessagePack for records, raw columns for observations."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from datetime import date
from typing import Any, TypeVar

import msgspec
import numpy as np

from dataservice.client.archive.codec import pack_vintages
from dataservice.client.archive.vintages import Vintages
from dataservice.client.cache.spans import History, Span
from dataservice.client.contract.resources import (
    CatalogueResource,
    CurrentsResource,
    IndicesResource,
    PostsResource,
    Resource,
    SignalResource,
    WireResource,
)
from dataservice.client.contract.results import Catalogue, Currents, Indices, Page, SignalDetail
from dataservice.client.contract.windows import Window
from dataservice.models import Current, Index, Observation, Post, Signal, WireItem
from dataservice.observations import Observations

L = TypeVar("L", Indices, Currents)
R = TypeVar("R", Post, WireItem)

MAY_BE_CUT = 2
"""In the place of whether a page is complete: it counts as all, and may be a part."""

TIMES, VALUES = np.dtype("<M8[us]"), np.dtype("<f8")
LENGTH = struct.Struct("<q")  # of one column of a history, in bytes, at the very end


class _Detail(msgspec.Struct, array_like=True):
    signal: Signal
    latest: Observation | None
    times: bytes
    values: bytes


class _Span(msgspec.Struct, array_like=True):
    start: date
    end: date
    pulled_at: float
    checked_at: float
    revised: bool
    was_end: bool = False  # entries of the version before do not have it


class _Facts(msgspec.Struct, array_like=True):
    """The facts of a history beside its columns."""

    spans: tuple[_Span, ...]
    revised_at: float | None


_encode = msgspec.msgpack.Encoder().encode
_detail = msgspec.msgpack.Decoder(_Detail).decode
_facts = msgspec.msgpack.Decoder(_Facts).decode
_catalogue = msgspec.msgpack.Decoder(tuple[Signal, ...]).decode
_cut_catalogue = msgspec.msgpack.Decoder(tuple[tuple[Signal, ...], bool]).decode
_indices = msgspec.msgpack.Decoder(tuple[Index, ...]).decode
_cut_indices = msgspec.msgpack.Decoder(tuple[tuple[Index, ...], bool]).decode
_currents = msgspec.msgpack.Decoder(tuple[Current, ...]).decode
_cut_currents = msgspec.msgpack.Decoder(tuple[tuple[Current, ...], bool]).decode
_posts = msgspec.msgpack.Decoder(tuple[tuple[Post, ...], bool | int]).decode
_items = msgspec.msgpack.Decoder(tuple[tuple[WireItem, ...], bool | int]).decode


def pack(value: Any) -> bytes:
    """The bytes of an answer's value; raises `TypeError` for what no resource answers with."""
    match value:
        case Catalogue(signals):
            return _encode((signals, True) if value.may_be_cut else signals)
        case SignalDetail(signal, latest, history):
            return _encode(_Detail(signal, latest, *pack_columns(history)))
        case Indices() | Currents():
            return _encode((tuple(value), True) if value.may_be_cut else tuple(value))
        case Page(items, complete):
            return _encode((items, MAY_BE_CUT if value.may_be_cut else complete))
        case _:
            raise TypeError(f"no cache keeps a {type(value).__name__}")


def digest(value: Any) -> str:
    """The SHA-256 of an answer's value as a cache keeps it: the same for the same value, wherever it comes from."""
    match value:
        case Observations():
            packed = b"".join(pack_columns(value))
        case Vintages():
            packed = pack_vintages(value)
        case _:
            packed = pack(value)
    return hashlib.sha256(packed).hexdigest()


def unpack(resource: Resource[Any], payload: bytes) -> Any:
    """The value of `resource` in `payload`; raises `msgspec.MsgspecError` or `ValueError` for other bytes."""
    return UNPACKERS[type(resource)](payload)


def _unpack_detail(payload: bytes) -> SignalDetail:
    found = _detail(payload)
    return SignalDetail(found.signal, found.latest, unpack_columns(found.times, found.values))


def _catalogue_in(payload: bytes) -> Catalogue:
    try:
        return Catalogue(_catalogue(payload))
    except msgspec.ValidationError:
        return Catalogue(_cut_catalogue(payload)[0], may_be_cut=True)


def _indices_in(payload: bytes) -> Indices:
    try:
        return Indices(_indices(payload))
    except msgspec.ValidationError:
        return _may_be_cut(Indices(_cut_indices(payload)[0]))


def _currents_in(payload: bytes) -> Currents:
    try:
        return Currents(_currents(payload))
    except msgspec.ValidationError:
        return _may_be_cut(Currents(_cut_currents(payload)[0]))


def _page_of(items: tuple[R, ...], told: bool | int, kind: type[R]) -> Page[R]:
    return Page(items, bool(told), kind, may_be_cut=told == MAY_BE_CUT)


def _may_be_cut(found: L) -> L:
    found.may_be_cut = True
    return found


UNPACKERS: dict[type[Resource[Any]], Callable[[bytes], Any]] = {
    CatalogueResource: _catalogue_in,
    SignalResource: _unpack_detail,
    IndicesResource: _indices_in,
    CurrentsResource: _currents_in,
    PostsResource: lambda payload: _page_of(*_posts(payload), Post),
    WireResource: lambda payload: _page_of(*_items(payload), WireItem),
}


def pack_columns(observations: Observations) -> tuple[bytes, bytes]:
    """The two columns, 8 bytes a row each: microseconds since the epoch, and values."""
    times, values = observations.times.astype(TIMES, copy=False), observations.values.astype(VALUES, copy=False)
    return times.tobytes(), values.tobytes()


def unpack_columns(times: bytes | memoryview, values: bytes | memoryview) -> Observations:
    """The observations in two columns, as a view that copies nothing."""
    if len(times) != len(values):
        raise ValueError("columns of different length")
    return Observations(np.frombuffer(times, TIMES), np.frombuffer(values, VALUES))


def pack_history(history: History) -> bytes:
    """The bytes of `history`."""
    times, values = pack_columns(history.observations)
    spans = tuple(
        _Span(span.window.start, span.window.end, span.pulled_at, span.checked_at, span.revised, span.was_end)
        for span in history.spans
    )
    return b"".join([times, values, _encode(_Facts(spans, history.revised_at)), LENGTH.pack(len(times))])


def unpack_history(payload: bytes) -> History:
    """The history in `payload`, its columns a view of it; raises `ValueError` or `msgspec.MsgspecError` otherwise."""
    if len(payload) < LENGTH.size:
        raise ValueError("too short for a history")
    (length,) = LENGTH.unpack_from(payload, len(payload) - LENGTH.size)
    body = memoryview(payload)[: -LENGTH.size]
    if not 0 <= 2 * length <= len(body):
        raise ValueError("columns longer than the whole")
    facts = _facts(body[2 * length :])
    spans = tuple(Span(Window(s.start, s.end), s.pulled_at, s.checked_at, s.revised, s.was_end) for s in facts.spans)
    return History(unpack_columns(body[:length], body[length : 2 * length]), spans, facts.revised_at)
