"""The SQLite store: one file in the user's cache folder, shared by all processes of the user."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import platformdirs

from dataservice.stores import sqlite_statements as sql
from dataservice.stores.base import DEFAULT_ARCHIVE_BYTES, Claim, Entry, EntrySize, Log, LogSize, Part, Put
from dataservice.stores.checked import checked, with_checksum
from dataservice.stores.sqlite_file import SqliteFile
from dataservice.stores.sqlite_queue import SqliteQueue, transaction

T = TypeVar("T")

PRUNE_EVERY = 64  # writes between two looks at the size: a look costs more than a write
PRUNE_TO = 0.9  # of the bound, so that not every later write prunes again

DEFAULT_SQLITE_BYTES = 256 * 2**20
"""Sixteen million observations: more than a workbook shows, little for a disk."""

CLOCK_SKEW_S = 60.0
"""A lease that ends much later than a new one would comes from a clock that was wrong: it must hold nobody for days."""


def default_sqlite_path() -> Path:
    """The file in the user's cache folder; the format is part of the name, so that versions live side by side."""
    return platformdirs.user_cache_path("dataservice-addin", appauthor=False) / "shelf-1.sqlite"


class SqliteStore:
    """Keeps entries in the SQLite file `path`, readable for this user only.

    The file is opened at the first use, in a thread of its own. If it is damaged, it is moved aside and a new one is
    started. `max_bytes` bounds the entries: those fetched longest ago are deleted first. `max_archive_bytes` bounds the
    logs beside them.

    >>> from dataservice.client import AsyncClient
    >>> client = AsyncClient("https://data.example", "ds_key", store=SqliteStore())
    """

    tier = "shelf"
    shared = True
    is_remote = False

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        max_bytes: int = DEFAULT_SQLITE_BYTES,
        max_archive_bytes: int = DEFAULT_ARCHIVE_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if max_bytes < 1:
            raise ValueError(f"max_bytes must be at least 1, not {max_bytes}")
        self.path = Path(path) if path is not None else default_sqlite_path()
        self._max_bytes = max_bytes
        self._max_archive_bytes = max_archive_bytes
        self._clock = clock
        self._queue = SqliteQueue(SqliteFile(self.path))
        self._writes = 0
        self._appends = 0

    async def salt(self, proposed: bytes | None = None) -> bytes:
        """The salt in the file, made by whoever opened it first."""

        def work(db: sqlite3.Connection) -> bytes:
            found = db.execute("SELECT bytes FROM salt").fetchone()
            if found is None:  # only then is anything written: a file on a full disk can still be read
                db.execute("INSERT OR IGNORE INTO salt VALUES (1, ?)", (proposed or secrets.token_bytes(16),))
                found = db.execute("SELECT bytes FROM salt").fetchone()
            return bytes(found[0])

        return await self._run(work)

    async def get(self, name: str) -> Entry | None:
        """The entry kept as `name`."""
        row = await self._first_row("SELECT payload, fetched_at FROM entries WHERE name = ?", (name,))
        return None if row is None else Entry(checked(row[0], name, row[1]), row[1])

    async def put(self, name: str, entry: Entry, *, ending: str = "") -> None:
        """Keep `entry`; it is on disk when this returns."""
        put = Put(name, entry, ending)

        def work(db: sqlite3.Connection) -> None:
            with _one_step(db) if ending else nullcontext():
                _put(db, put)

        await self._run(work)
        await self._written(entry)

    async def replace(self, name: str, entry: Entry, expected: float | None) -> bool:
        """Keep `entry` if what is kept is still of the time `expected`."""
        payload = with_checksum(entry.payload, name, entry.fetched_at)
        given = {"name": name, "new": entry.fetched_at, "payload": payload, "old": expected}
        replaced = await self._row_count(sql.INSERT if expected is None else sql.REPLACE, given) == 1
        await self._written(entry)
        return replaced

    async def clear(self, prefix: str = "") -> int:
        """Forget every entry whose name begins with `prefix`."""
        return await self._row_count("DELETE FROM entries WHERE substr(name, 1, ?) = ?", (len(prefix), prefix))

    async def entries(self, prefix: str = "") -> list[EntrySize]:
        """The sizes of all entries whose name begins with `prefix`, by name."""
        given = (len(prefix), prefix)
        return await self._run(lambda db: [EntrySize(*row) for row in db.execute(sql.ENTRIES, given)])

    async def shrink(self) -> bool:
        """Give the disk space of what was deleted back to the system; whether no other process kept it from that."""

        def work(db: sqlite3.Connection) -> bool:
            try:
                db.execute("VACUUM")
                busy: int = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            except sqlite3.OperationalError:  # in use, or no room for the copy: the space is used again all the same
                return False
            return not busy

        return await self._queue.run(work, alone=True)

    async def lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """Take the lease `name` if it is free, expired or already `owner`'s."""
        return (await self.claim(name, owner, ttl_s)).granted

    async def claim(self, name: str, owner: str, ttl_s: float) -> Claim:
        """The lease, and the time of the entry."""
        now = self._clock()
        given = {"name": name, "owner": owner, "until": now + ttl_s, "now": now, "skew_s": CLOCK_SKEW_S}

        def work(db: sqlite3.Connection) -> Claim:
            granted = db.execute(sql.LEASE, given).rowcount == 1
            row = db.execute(sql.FETCHED_AT, (name,)).fetchone()
            return Claim(granted, None if row is None else row[0])

        return await self._run(work)

    async def release(self, name: str, owner: str) -> None:
        """End the lease `name`, if `owner` still holds it."""
        await self._row_count(sql.RELEASE, (name, owner))

    async def add(self, counter: str, amount: int) -> int:
        """The value of `counter` after adding `amount`."""
        if amount == 0:
            row = await self._first_row("SELECT value FROM counters WHERE name = ?", (counter,))
            return 0 if row is None else int(row[0])
        return int((await self._first_row(sql.ADD, (counter, amount)))[0])

    async def parts(self, log: str, after: int = 0) -> Log:
        """The parts of a log behind the one numbered `after`; all, if that one is no longer there."""

        def work(db: sqlite3.Connection) -> Log:
            if not _has_parts(db):  # a file of an earlier version that can only be read
                return Log(())
            is_there = after == 0 or db.execute(sql.HAS_PART, (log, after)).fetchone() is not None
            found = db.execute(sql.PARTS, (log, after if is_there else 0))
            return Log(tuple(Part(number, checked(payload, log)) for number, payload in found), is_there)

        return await self._run(work)

    async def append(self, log: str, payload: bytes, after: int, *, then: Put | None = None) -> int:
        """Add a part behind the one numbered `after`; if all logs are too large, the oldest ones are dropped."""
        given = {"log": log, "payload": with_checksum(payload, log), "after": after}

        def work(db: sqlite3.Connection) -> int:
            with _one_step(db) if then is not None else nullcontext():
                row = db.execute(sql.APPEND, given).fetchone()
                if row is not None and then is not None:
                    _put(db, then)
            return 0 if row is None else int(row[0])

        number = await self._run(work)
        if number and then is not None:
            await self._written(then.entry)
        self._appends += 1
        if self._appends % PRUNE_EVERY == 0 or len(payload) * PRUNE_EVERY > self._max_archive_bytes:
            await self._run(lambda db: self._drop_logs(db, log))
        return number

    async def fold(self, log: str, numbers: Sequence[int], payload: bytes) -> bool:
        """Put one part in the place of those with these `numbers`, if all of them are still there."""

        def work(db: sqlite3.Connection) -> bool:
            with transaction(db):
                there = {number for (number,) in db.execute(sql.NUMBERS, (log,))}
                if not there.issuperset(numbers):
                    return False
                db.executemany(sql.DELETE_PART, [(log, number) for number in numbers])
                db.execute(sql.INSERT_PART, (log, with_checksum(payload, log)))
            return True

        return await self._run(work)

    async def logs(self, prefix: str = "") -> list[LogSize]:
        """The sizes of all logs whose name begins with `prefix`, by name."""

        def work(db: sqlite3.Connection) -> list[LogSize]:
            given = (len(prefix), prefix)
            return [LogSize(*row) for row in db.execute(sql.LOGS, given)] if _has_parts(db) else []

        return await self._run(work)

    async def delete_logs(self, prefix: str = "") -> int:
        """Delete every log whose name begins with `prefix`."""
        count = len(await self.logs(prefix))
        await self._row_count("DELETE FROM parts WHERE substr(log, 1, ?) = ?", (len(prefix), prefix))
        return count

    async def aclose(self) -> None:
        """Close the file; a later use opens it again."""
        await self._queue.aclose()

    async def _written(self, entry: Entry) -> None:
        self._writes += 1
        if self._writes % PRUNE_EVERY == 0 or len(entry.payload) * PRUNE_EVERY > self._max_bytes:
            await self._run(self._prune)

    def _prune(self, db: sqlite3.Connection) -> None:
        """Delete the entries fetched longest ago until what is left is well below the bound."""
        if _used_bytes(db) <= self._max_bytes:
            return
        total = db.execute("SELECT coalesce(sum(length(payload)), 0) FROM entries").fetchone()[0]
        if total > self._max_bytes:
            db.execute(sql.PRUNE, (total - self._max_bytes * PRUNE_TO,))

    def _drop_logs(self, db: sqlite3.Connection, last: str) -> None:
        """Drop the logs appended to longest ago, but not the `last` one, until what is left is below the bound."""
        if _used_bytes(db) <= self._max_archive_bytes:
            return
        with transaction(db):
            excess = db.execute("SELECT coalesce(sum(length(payload)), 0) FROM parts").fetchone()[0]
            excess -= self._max_archive_bytes
            for log, nbytes in db.execute(sql.OLDEST_LOGS, (last,)).fetchall() if excess > 0 else ():
                db.execute("DELETE FROM parts WHERE log = ?", (log,))
                db.execute(sql.INSERT_PART, (log, b""))
                excess -= nbytes
                if excess <= 0:
                    break

    async def _first_row(self, statement: str, values: Any) -> Any:
        return await self._run(lambda db: db.execute(statement, values).fetchone())

    async def _row_count(self, statement: str, values: Any) -> int:
        return await self._run(lambda db: db.execute(statement, values).rowcount)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._queue.run(work)


def _one_step(db: sqlite3.Connection) -> AbstractContextManager[None]:
    """All or nothing: the transaction under way, if there is one."""
    return nullcontext() if db.in_transaction else transaction(db)


def _put(db: sqlite3.Connection, put: Put) -> None:
    payload = with_checksum(put.entry.payload, put.name, put.entry.fetched_at)
    db.execute(sql.PUT, (put.name, put.entry.fetched_at, payload))
    if put.ending:
        db.execute(sql.RELEASE, (put.name, put.ending))


def _used_bytes(db: sqlite3.Connection) -> int:
    """What the file holds in all, known at once: adding up what the entries hold takes longer the more there are."""
    sizes = (db.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "freelist_count", "page_size"))
    pages, free, page_bytes = sizes
    return int((pages - free) * page_bytes)


def _has_parts(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'parts'").fetchone() is not None
