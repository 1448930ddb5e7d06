"""Counting requests: a statement checks the key and the cap, counts, and tells which data are there now."""

import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, text

from dataservice.server.db.database import Database

_COUNT = """
INSERT INTO usage (key_hash, month, used)
SELECT key_hash, :month, :wanted FROM api_keys
WHERE key_hash = :key_hash AND revoked_at_us IS NULL AND :wanted <= :cap
ON CONFLICT (key_hash, month) DO UPDATE SET used = usage.used + :wanted WHERE usage.used + :wanted <= :cap
RETURNING used, (SELECT version FROM data_state)
"""
"""Callers in several processes never get more than the cap between them, and a revoked key gets nothing at once."""

_count = text(_COUNT)

_count_all = text(
    """
    INSERT INTO usage (key_hash, month, used)
    SELECT key_hash, asked.month, asked.wanted
    FROM unnest(CAST(:keys AS text[]), CAST(:months AS text[]), CAST(:wanted AS bigint[]))
        AS asked (key_hash, month, wanted) JOIN api_keys USING (key_hash)
    WHERE revoked_at_us IS NULL AND asked.wanted <= cap ORDER BY key_hash
    ON CONFLICT (key_hash, month) DO UPDATE SET used = usage.used + excluded.used
    WHERE usage.used + excluded.used <= (SELECT cap FROM api_keys WHERE api_keys.key_hash = excluded.key_hash)
    RETURNING key_hash, month, used, (SELECT version FROM data_state)
    """
)
"""The same for many keys in one statement of PostgreSQL: in one order, so that processes do not wait for each other."""


@dataclass(frozen=True, slots=True)
class Account:
    """The requests of one key in one month, and how many there may be."""

    key_hash: str
    month: str
    cap: int = field(compare=False)

    def parameters(self, wanted: int) -> dict[str, Any]:
        """Those of the statement that counts so many requests."""
        return {"key_hash": self.key_hash, "month": self.month, "cap": self.cap, "wanted": wanted}


@dataclass(frozen=True, slots=True)
class Counted:
    """The requests of the month that a key has spent with this one, and the version of the data at that moment."""

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

    def count(self, account: Account) -> Counted | None:
        """The count after one request more; None where the key is not valid or its cap was reached."""
        with self._database.writing() as connection:
            return _counted(connection, account)

    def count_together(self, wanted: Mapping[Account, int]) -> dict[Account, list[Counted | None]]:
        """Return what `count` gives for so many requests of each account, in one transaction.

        Where not all of an account's fit under its cap, they are counted one by one. Each has a transaction of its own
        then, so that processes never wait for each other in a circle.
        """
        with self._database.writing() as connection:
            if self._database.is_sqlite:
                last = {account: _counted(connection, account, count) for account, count in wanted.items()}
            else:
                last = _counted_at_once(connection, wanted)
        return {
            account: _each(found, count) if (found := last.get(account)) else self._one_by_one(account, count)
            for account, count in wanted.items()
        }

    def count_at_once(self, account: Account) -> Counted | None:
        """As `count`, in some ten microseconds and without waiting; raises `BusyError` where that is not possible."""
        if not self._database.is_sqlite or not self._lock.acquire(blocking=False):
            raise BusyError
        try:
            rows = self._connection().execute(_COUNT, account.parameters(1)).fetchall()
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

    def _one_by_one(self, account: Account, count: int) -> list[Counted | None]:
        """The counts up to the cap; None for all others."""
        counted: list[Counted | None] = []
        while len(counted) < count and (found := self.count(account)) is not None:
            counted.append(found)
        return counted + [None] * (count - len(counted))

    def _connection(self) -> sqlite3.Connection:
        if self._own is None:
            options: dict[str, Any] = {"timeout": 0, "isolation_level": None, "check_same_thread": False}
            self._own = sqlite3.connect(str(self._database.url.database), **options)
            self._own.execute("PRAGMA synchronous = NORMAL")
        return self._own


def _counted(connection: Connection, account: Account, wanted: int = 1) -> Counted | None:
    row = connection.execute(_count, account.parameters(wanted)).first()
    return None if row is None else Counted(*row)


def _counted_at_once(connection: Connection, wanted: Mapping[Account, int]) -> dict[Account, Counted | None]:
    """The counts of the accounts whose requests all fit."""
    accounts = {(account.key_hash, account.month): account for account in wanted}
    given = {
        "keys": [account.key_hash for account in wanted],
        "months": [account.month for account in wanted],
        "wanted": list(wanted.values()),
    }
    rows = connection.execute(_count_all, given)
    return {accounts[key_hash, month]: Counted(used, version) for key_hash, month, used, version in rows}


def _each(last: Counted, count: int) -> list[Counted | None]:
    """The counts of so many requests that were counted together."""
    return [Counted(last.used - left, last.data_version) for left in range(count - 1, -1, -1)]
