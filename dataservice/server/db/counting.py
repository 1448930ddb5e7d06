"""Counting a request: one statement checks the key and the cap, counts, and tells which data are there now."""

import sqlite3
import threading
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text

from dataservice.server.db.database import Database

_COUNT = """
INSERT INTO usage (key_hash, month, used)
SELECT key_hash, :month, 1 FROM api_keys WHERE key_hash = :key_hash AND revoked_at_us IS NULL
ON CONFLICT (key_hash, month) DO UPDATE SET used = usage.used + 1 WHERE usage.used < :cap
RETURNING used, (SELECT version FROM data_state)
"""
"""Callers in several processes never get more than the cap between them, and a revoked key gets nothing at once."""

_count = text(_COUNT)


@dataclass(frozen=True, slots=True)
class Counted:
    """How many requests of the month a key has spent with this one, and the version of the data at that moment."""

    used: int
    data_version: int | None


class BusyError(Exception):
    """The count would have to wait, for another process or for a database that is not a file."""


class RequestCounter:
    """Counts the requests of keys in one database; from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._own: sqlite3.Connection | None = None

    def count(self, key_hash: str, month: str, cap: int) -> Counted | None:
        """The count after one request more; None where the key is not valid or its cap was reached."""
        given = {"key_hash": key_hash, "month": month, "cap": cap}
        with self._database.writing() as connection:
            row = connection.execute(_count, given).first()
        return None if row is None else Counted(*row)

    def count_at_once(self, key_hash: str, month: str, cap: int) -> Counted | None:
        """As `count`, in some ten microseconds and without waiting; raises `BusyError` where that is not possible."""
        if not self._database.is_sqlite or not self._lock.acquire(blocking=False):
            raise BusyError
        try:
            rows = self._connection().execute(_COUNT, {"key_hash": key_hash, "month": month, "cap": cap}).fetchall()
        except sqlite3.OperationalError as error:  # the longer way waits for the lock, or says what is wrong
            raise BusyError from error
        finally:
            self._lock.release()
        return Counted(*rows[0]) if rows else None

    def close(self) -> None:
        """Close the connection; the next count opens a new one."""
        with self._lock:
            if self._own is not None:
                self._own.close()
                self._own = None

    def _connection(self) -> sqlite3.Connection:
        if self._own is None:
            options: dict[str, Any] = {"timeout": 0, "isolation_level": None, "check_same_thread": False}
            self._own = sqlite3.connect(str(self._database.url.database), **options)
            self._own.execute("PRAGMA synchronous = NORMAL")
        return self._own
