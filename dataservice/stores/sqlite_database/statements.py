"""What SQLite does in one statement, and the checksum of what it keeps."""

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


# What every answer needs takes its values by place: for each one by name, Python's module lets other threads go first.

# One statement, so that two processes cannot both take a lease. Values: name, owner, until, now, skew in seconds, name.
LEASE = """
INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE
SET owner = excluded.owner, expires_at = excluded.expires_at
WHERE owner = excluded.owner OR expires_at <= ? OR expires_at > excluded.expires_at + ?
RETURNING (SELECT fetched_at FROM entries WHERE name = ?)
"""

RELEASE = "DELETE FROM leases WHERE name = ? AND owner = ?"

REPLACE = "UPDATE entries SET fetched_at = :new, payload = :payload WHERE name = :name AND fetched_at = :old"
INSERT = "INSERT OR IGNORE INTO entries VALUES (:name, :new, :payload)"
GET = "SELECT payload, fetched_at FROM entries WHERE name = ?"
FETCHED_AT = "SELECT fetched_at FROM entries WHERE name = ?"

PUT = "INSERT OR REPLACE INTO entries VALUES (?, ?, ?)"

SIZE = f"max(length(payload) - {CHECKSUM_BYTES}, 0)"
ENTRIES = f"SELECT name, {SIZE} FROM entries WHERE substr(name, 1, ?) = ? ORDER BY name"  # noqa: S608 - of constants

ADD = """
INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value RETURNING value
"""

COUNT = "SELECT value FROM counters WHERE name = ?"

PRUNE = """
DELETE FROM entries WHERE rowid IN (SELECT rowid FROM (
    SELECT rowid, sum(length(payload)) OVER (ORDER BY fetched_at, rowid) - length(payload) AS before FROM entries
) WHERE before < ?)
"""

PARTS = "SELECT number, payload FROM parts WHERE log = ? AND number > ? ORDER BY number"
HAS_PART = "SELECT 1 FROM parts WHERE log = ? AND number = ?"
INSERT_PART = "INSERT INTO parts (log, payload) VALUES (?, ?)"
# Values: log, payload, after, log.
APPEND = """
INSERT INTO parts (log, payload) SELECT ?, ?
WHERE ? = (SELECT coalesce(max(number), 0) FROM parts WHERE log = ?)
"""
FIRST_PARTS = "SELECT number, log, payload FROM parts ORDER BY number LIMIT ?"
DELETE_NUMBER = "DELETE FROM parts WHERE number = ?"
TAKE_OVER = """
INSERT INTO parts (log, payload) SELECT :log, :payload
WHERE length(:payload) > 0 OR NOT EXISTS (SELECT 1 FROM parts WHERE log = :log)
"""
NUMBERS = "SELECT number FROM parts WHERE log = ?"
DELETE_PART = "DELETE FROM parts WHERE log = ? AND number = ?"
LOGS = f"SELECT log, sum({SIZE}) FROM parts WHERE substr(log, 1, ?) = ? GROUP BY log ORDER BY log"  # noqa: S608 - as above
OLDEST_LOGS = """
SELECT log, sum(length(payload)) AS nbytes FROM parts WHERE log <> ? GROUP BY log HAVING nbytes > 0 ORDER BY max(number)
"""
