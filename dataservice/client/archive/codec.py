"""Vintages as the bytes of a part of a log, and back: columns, compressed together."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from dataservice.client.archive.coverage import NEVER_BEFORE, Coverage, steps_of
from dataservice.client.archive.facts import Facts
from dataservice.client.archive.vintages import Vintages
from dataservice.client.contract.windows import Window
from dataservice.moments import Times, of_axis
from dataservice.observations import Observations

PLAIN, SOURCED, FORMAT = 1, 2, 3
"""Format 2 tells which facts a detail told, format 3 which are only told otherwise. Each is written where it tells
something: older versions read the others."""

LEVEL = 1
"""How hard to compress: values hardly shrink, and everything else does at any level."""


FEW = 1_000
"""Rows of a first look that is packed in the fast way: those of a detail."""

SHARED_COLUMNS = 64
"""Columns whose packed form is remembered: most details have as many rows."""

MOMENT_BYTES = 16  # of two times of looks

_BLOCK = struct.Struct("<?HH")
_CHECKSUM = struct.Struct(">I")
ZLIB_HEAD = b"\x78\x01"


class NewerFormatError(ValueError):
    """A later version wrote this, and can read it."""


class _Part(msgspec.Struct, array_like=True):
    """`columns` are compressed; the times of looks in them are places in `moments`, of which there are few."""

    format: int
    facts: int
    moments: int
    steps: int
    pruned_before: int
    columns: bytes


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Part).decode


def pack_vintages(vintages: Vintages) -> bytes:
    """The bytes of `vintages`, never empty."""
    facts, looked = vintages.facts, vintages.looked
    moments, places = _moments_of(facts)
    columns: list[NDArray[Any]] = [
        _differences(facts.times.astype("<M8[us]").view("<i8")),
        facts.values,
        facts.gone + 2 * facts.by_detail.astype(np.uint8) + 4 * facts.retold.astype(np.uint8),
        _differences(moments),
        places.astype(_place_type(len(moments))),
        looked.starts,
        looked.first,
        looked.last,
    ]
    packed = zlib.compress(b"".join(map(_by_byte, columns)), LEVEL)
    format_ = FORMAT if facts.retold.any() else SOURCED if facts.by_detail.any() else PLAIN
    return _encode(_Part(format_, len(facts), len(moments), len(looked.starts), vintages.pruned_before, packed))


def pack_first_look(found: Observations, moment: int, window: Window, *, by_detail: bool) -> bytes:
    """As `pack_vintages` those of a signal of which one look at `window` at the time `moment` found what it has.

    That are 1 to `FEW` observations. Values are not compressed, and a column that many signals share only once: new
    signals come by the thousand.
    """
    count, values = len(found), _by_byte(found.values)
    times, checksum = of_axis(_days, found.times)
    told, places = _told_by_one_look(count, by_detail=by_detail)
    starts, first, last = steps_of(window, moment)
    numbers, order = _FEW_NUMBERS[len(starts)]
    # The second moment is told as the difference to the first, which wraps round in 64 bits.
    few = bytes(order(numbers.pack(NEVER_BEFORE, NEVER_BEFORE + moment, *starts, *first, *last)))
    moments, steps = few[:MOMENT_BYTES], few[MOMENT_BYTES:]
    for column in (values, told.column, moments, places.column, steps):
        checksum = zlib.adler32(column, checksum)
    blocks = (times, _stored(values), told.packed, _stored(moments), places.packed, _stored(steps, is_last=True))
    packed = b"".join((ZLIB_HEAD, *blocks, _CHECKSUM.pack(checksum)))
    return _encode(_Part(SOURCED if by_detail else PLAIN, count, 2, len(starts), 0, packed))


class _Column(NamedTuple):
    column: bytes
    packed: bytes


@lru_cache(SHARED_COLUMNS)
def _told_by_one_look(count: int, *, by_detail: bool) -> tuple[_Column, _Column]:
    """The columns of so many facts of one look that say who told them, and when they were first seen and not before."""
    told, places = (b"\x02" if by_detail else b"\x00") * count, b"\x01" * count + b"\x00" * count
    return _Column(told, _deflated(told)), _Column(places, _deflated(places))


def _few_by_byte(steps: int) -> tuple[struct.Struct, Callable[[bytes], tuple[int, ...]]]:
    """What packs two moments and so many steps, and what then takes their bytes in the order of `_by_byte`."""
    order, at = list[int](), 0
    for count, size in ((2, 8), (steps, 4), (steps, 8), (steps, 8)):
        order += [at + place + size * row for place in range(size) for row in range(count)]
        at += count * size
    return struct.Struct(f"<2q{steps}i{2 * steps}q"), itemgetter(*order)


_FEW_NUMBERS = {steps: _few_by_byte(steps) for steps in (1, 2, 3)}  # one look at a window makes no more


def _days(times: Times) -> tuple[bytes, int]:
    """A column of times as the archive writes it, compressed, and the checksum of all up to its end."""
    column = _by_byte(_differences(times.astype("<M8[us]").view("<i8")))
    return _deflated(column), zlib.adler32(column)


def _deflated(column: bytes) -> bytes:
    """A part of a compressed stream that refers to nothing before it."""
    packer = zlib.compressobj(LEVEL, wbits=-zlib.MAX_WBITS)
    return packer.compress(column) + packer.flush(zlib.Z_FULL_FLUSH)


def _stored(column: bytes, *, is_last: bool = False) -> bytes:
    """The same for bytes that are left as they are: at most 65,535."""
    return _BLOCK.pack(is_last, len(column), len(column) ^ 0xFFFF) + column


def unpack_vintages(payload: bytes) -> Vintages:
    """The vintages in `payload`; raises `ValueError` or `msgspec.MsgspecError` for other bytes.

    Raises `NewerFormatError` for those of a later version.
    """
    part = _decode(payload)
    if part.format > FORMAT:
        raise NewerFormatError(f"format {part.format}, expected {FORMAT}")
    if part.format < PLAIN:
        raise ValueError(f"format {part.format}, expected {FORMAT}")
    try:
        reader = _Columns(zlib.decompress(part.columns))
    except zlib.error as error:
        raise ValueError(str(error)) from None
    times = np.cumsum(reader.take(part.facts, "<i8")).astype("<M8[us]")
    values, told = reader.take(part.facts, "<f8"), reader.take(part.facts, "<u1")
    moments = np.cumsum(reader.take(part.moments, "<i8"))
    places = reader.take(2 * part.facts, _place_type(part.moments))
    first_seen, not_before = moments[places[: part.facts]], moments[places[part.facts :]]
    steps = [reader.take(part.steps, kind) for kind in ("<i4", "<i8", "<i8")]
    facts = Facts(times, values, told & 1 > 0, first_seen, not_before, told & 2 > 0, told & 4 > 0)
    return Vintages(facts, Coverage(*steps), part.pruned_before)


class _Columns:
    """Reads columns one after the other."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._place = 0

    def take(self, count: int, kind: str) -> NDArray[Any]:
        """The next `count` values."""
        size = np.dtype(kind).itemsize
        planes = np.frombuffer(self._packed, np.uint8, count * size, self._place)
        self._place += count * size
        return np.ascontiguousarray(planes.reshape(size, count).T).view(kind).reshape(count)


def _by_byte(column: NDArray[Any]) -> bytes:
    """The first bytes of all values, then the second ones: alike bytes stand together."""
    little = np.ascontiguousarray(column, column.dtype.newbyteorder("<"))
    return little.view(np.uint8).reshape(len(column), little.itemsize).T.tobytes()


def _moments_of(facts: Facts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The times of looks, each once and in order; and for each fact the places of its two, the first ones first."""
    runs = [*_runs(facts.first_seen), *_runs(facts.not_before)]
    moments = sorted({moment for moment, _ in runs})
    place_of = {moment: place for place, moment in enumerate(moments)}
    places = np.repeat([place_of[moment] for moment, _ in runs], [length for _, length in runs])
    return np.array(moments, np.int64), places


def _runs(column: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Each value and how often it follows itself: one look found many facts, so there are few."""
    begins = [0, *(np.flatnonzero(column[1:] != column[:-1]) + 1).tolist()] if len(column) else []
    return [(int(column[begin]), end - begin) for begin, end in pairwise([*begins, len(column)])]


def _differences(column: NDArray[np.int64]) -> NDArray[np.int64]:
    differences = column.copy()
    differences[1:] -= column[:-1]
    return differences


def _place_type(count: int) -> str:
    return "<u1" if count <= 2**8 else "<u2" if count <= 2**16 else "<u4"
