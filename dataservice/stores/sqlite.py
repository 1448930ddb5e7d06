"""The SQLite store: one file in the user's cache folder, shared by all processes of the user."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

import platformdirs

from dataservice.stores.base import (
    DEFAULT_ARCHIVE_BYTES,
    Claim,
    Entry,
    EntrySize,
    Log,
    LogsAwayError,
    LogSize,
    Part,
    Put,
)
from dataservice.stores.sqlite_database import statements as sql
from dataservice.stores.sqlite_database.file import SqliteFile, SqliteQueue, transaction
from dataservice.stores.sqlite_database.statements import checked, is_damaged, with_checksum

T = TypeVar("T")

PRUNE_EVERY = 64  # writes between two looks at the size: a look costs more than a write
PRUNE_TO = 0.9  # of the bound, so that not every later write prunes again

DEFAULT_SQLITE_BYTES = 256 * 2**20
"""Sixteen million observations: more than a workbook shows, little for a disk."""

ARCHIVE_NAME = "archive-1.sqlite"

MOVED_AT_ONCE = 500
"""Parts of logs that are moved in one transaction."""

CLOCK_SKEW_S = 60.0
"""A lease that ends much later than a new one would comes from a clock that was wrong: it must hold nobody for days."""


def default_sqlite_path() -> Path:
    """The file in the user's cache folder; the format is part of the name, so that versions live side by side."""
    return platformdirs.user_cache_path("dataservice-addin", appauthor=False) / "shelf-1.sqlite"


def default_archive_path() -> Path:
    """The file of the archive in the user's data folder: what lies in a cache folder anybody may delete at any time."""
    return platformdirs.user_data_path("dataservice-addin", appauthor=False) / ARCHIVE_NAME


class SqliteStore:
    """Keeps entries in the SQLite file `path`, readable for this user only.

    The file is opened at the first use, in a thread of its own. If it is damaged, it is moved aside and a new one is
    started, with all of its logs that can be read. `max_bytes` bounds the entries: those fetched longest ago are
    deleted first. `max_archive_bytes` bounds the logs, which are kept in the file `archive_path`: by default in the
    user's data folder, or in `path` itself where that is given. Logs of an earlier version are moved there.

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
        archive_path: Path | str | None = None,
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
        default = default_archive_path() if path is None else self.path
        self.archive_path = default if archive_path is None else Path(archive_path)
        self._queue = SqliteQueue(SqliteFile(self.path))
        self._is_one_file = self.archive_path == self.path
        self._logs = self._queue if self._is_one_file else SqliteQueue(SqliteFile(self.archive_path))
        self._writes = 0
        self._appends = 0

    async def salt(self, proposed: bytes | None = None) -> bytes:
        """The salt in the file, made by whoever opened it first; that of the archive names what is in both files."""
        found = await self._queue.run(lambda db: _salt(db, proposed))
        if self._is_one_file:
            return found
        await self._move_logs()
        try:
            named_by = await self._run_logs(lambda db: _salt(db, found))
        except LogsAwayError:
            return found  # the cache goes on; the archive tells its failure where it is used
        if named_by != found:  # each file keeps it for the other
            await self._queue.run(lambda db: db.execute("UPDATE salt SET bytes = ?", (named_by,)).rowcount)
        return named_by

    async def get(self, name: str) -> Entry | None:
        """The entry kept as `name`."""
        row = await self._queue.run(lambda db: db.execute(sql.GET, (name,)).fetchone())
        return None if row is None else Entry(checked(row[0], name, row[1]), row[1])

    async def put(self, name: str, entry: Entry, *, ending: str = "") -> None:
        """Keep `entry`; it is on disk when this returns."""
        put = Put(name, entry, ending)

        def work(db: sqlite3.Connection) -> None:
            with _one_step(db) if ending else nullcontext():
                _put(db, put)

        await self._queue.run(work)
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
        return await self._queue.run(lambda db: [EntrySize(*row) for row in db.execute(sql.ENTRIES, given)])

    async def shrink(self) -> bool:
        """Give the disk space of what was deleted back to the system; whether no other process kept it from that."""
        queues = [self._queue] if self._is_one_file else [self._queue, self._logs]
        return all([await self._shrunk(queue) for queue in queues])

    async def _shrunk(self, queue: SqliteQueue) -> bool:
        def work(db: sqlite3.Connection) -> bool:
            try:
                db.execute("VACUUM")
                busy: int = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            except sqlite3.OperationalError:  # in use, or no room for the copy: the space is used again all the same
                return False
            return not busy

        return await queue.run(work, alone=True)

    async def lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """Take the lease `name` if it is free, expired or already `owner`'s."""
        return (await self.claim(name, owner, ttl_s)).granted

    async def claim(self, name: str, owner: str, ttl_s: float) -> Claim:
        """The lease, and the time of the entry."""
        now = self._clock()
        given = (name, owner, now + ttl_s, now, CLOCK_SKEW_S, name)

        def work(db: sqlite3.Connection) -> Claim:
            granted = db.execute(sql.LEASE, given).fetchone()
            row = granted or db.execute(sql.FETCHED_AT, (name,)).fetchone()
            return Claim(granted is not None, None if row is None else row[0])

        return await self._queue.run(work)

    async def release(self, name: str, owner: str) -> None:
        """End the lease `name`, if `owner` still holds it."""
        await self._row_count(sql.RELEASE, (name, owner))

    async def add(self, counter: str, amount: int) -> int:
        """The value of `counter` after adding `amount`."""
        statement, given = (sql.ADD, (counter, amount)) if amount else (sql.COUNT, (counter,))
        row = await self._queue.run(lambda db: db.execute(statement, given).fetchone())
        return 0 if row is None else int(row[0])

    async def parts(self, log: str, after: int = 0) -> Log:
        """The parts of a log behind the one numbered `after`; all, if that one is no longer there."""

        def work(db: sqlite3.Connection) -> Log:
            if not _has_parts(db):  # a file of an earlier version that can only be read
                return Log(())
            is_there = after == 0 or db.execute(sql.HAS_PART, (log, after)).fetchone() is not None
            found = db.execute(sql.PARTS, (log, after if is_there else 0))
            return Log(tuple(_part(log, *row) for row in found), is_there)

        return await self._run_logs(work)

    async def append(self, log: str, payload: bytes, after: int, *, then: Put | None = None) -> int:
        """Add a part behind the one numbered `after`; if all logs are too large, the oldest ones are dropped."""
        given = (log, with_checksum(payload, log), after, log)
        in_one_step = then if self._is_one_file else None

        def work(db: sqlite3.Connection) -> int:
            with _one_step(db) if in_one_step is not None else nullcontext():
                added = db.execute(sql.APPEND, given)
                if added.rowcount and in_one_step is not None:
                    _put(db, in_one_step)
            return added.lastrowid or 0 if added.rowcount else 0

        number = await self._run_logs(work)
        if number and in_one_step is not None:
            await self._written(in_one_step.entry)
        elif number and then is not None:
            await self.put(then.name, then.entry, ending=then.ending)
        self._appends += 1
        if self._appends % PRUNE_EVERY == 0 or len(payload) * PRUNE_EVERY > self._max_archive_bytes:
            await self._run_logs(lambda db: self._drop_logs(db, log))
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

        return await self._run_logs(work)

    async def logs(self, prefix: str = "") -> list[LogSize]:
        """The sizes of all logs whose name begins with `prefix`, by name."""

        def work(db: sqlite3.Connection) -> list[LogSize]:
            given = (len(prefix), prefix)
            return [LogSize(*row) for row in db.execute(sql.LOGS, given)] if _has_parts(db) else []

        return await self._run_logs(work)

    async def delete_logs(self, prefix: str = "") -> int:
        """Delete every log whose name begins with `prefix`."""
        count = len(await self.logs(prefix))
        given = (len(prefix), prefix)
        await self._run_logs(lambda db: db.execute("DELETE FROM parts WHERE substr(log, 1, ?) = ?", given).rowcount)
        return count

    async def aclose(self) -> None:
        """Close the file; a later use opens it again."""
        await self._queue.aclose()
        if not self._is_one_file:
            await self._logs.aclose()

    async def _move_logs(self) -> None:
        """Move what an earlier version kept beside the answers; a part that is there twice says the same as once.

        Where another program writes to the file all the time, the next one that opens it does so.
        """
        with suppress(sqlite3.OperationalError, LogsAwayError):
            while rows := await self._queue.run(_first_parts):
                await self._run_logs(lambda db, rows=rows: _take_over(db, rows))  # type: ignore[misc]
                numbers = [(number,) for number, _, _ in rows]
                await self._queue.run(lambda db, given=numbers: db.executemany(sql.DELETE_NUMBER, given))  # type: ignore[misc]

    async def _written(self, entry: Entry) -> None:
        self._writes += 1
        if self._writes % PRUNE_EVERY == 0 or len(entry.payload) * PRUNE_EVERY > self._max_bytes:
            await self._queue.run(self._prune)

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

    def _row_count(self, statement: str, values: Any) -> asyncio.Future[int]:
        return self._queue.run(lambda db: db.execute(statement, values).rowcount)

    async def _run_logs(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `work` in the archive's file; raises `LogsAwayError` where only that one fails."""
        if self._is_one_file:
            return await self._queue.run(work)
        try:
            return await self._logs.run(work)
        except (sqlite3.Error, OSError) as error:
            raise LogsAwayError(f"{self.archive_path}: {error}") from error


def _one_step(db: sqlite3.Connection) -> AbstractContextManager[None]:
    """All or nothing: the transaction under way, if there is one."""
    return nullcontext() if db.in_transaction else transaction(db)


def _put(db: sqlite3.Connection, put: Put) -> None:
    payload = with_checksum(put.entry.payload, put.name, put.entry.fetched_at)
    db.execute(sql.PUT, (put.name, put.entry.fetched_at, payload))
    if put.ending:
        db.execute(sql.RELEASE, (put.name, put.ending))


def _used_bytes(db: sqlite3.Connection) -> int:
    """Return what the file holds in all, known at once: adding up the entries takes longer the more there are."""
    sizes = (db.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "freelist_count", "page_size"))
    pages, free, page_bytes = sizes
    return int((pages - free) * page_bytes)


def _has_parts(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'parts'").fetchone() is not None


def _salt(db: sqlite3.Connection, proposed: bytes | None) -> bytes:
    found = db.execute("SELECT bytes FROM salt").fetchone()
    if found is None:  # only then is anything written: a file on a full disk can still be read
        db.execute("INSERT OR IGNORE INTO salt VALUES (1, ?)", (proposed or secrets.token_bytes(16),))
        found = db.execute("SELECT bytes FROM salt").fetchone()
    return bytes(found[0])


def _part(log: str, number: int, kept: bytes) -> Part:
    payload = checked(kept, log)
    return Part(number, payload, is_damaged(kept, payload))


def _first_parts(db: sqlite3.Connection) -> list[tuple[int, str, bytes]]:
    """The parts that are to be moved next; raises at once where they could not be deleted after that."""
    found = db.execute(sql.FIRST_PARTS, (MOVED_AT_ONCE,)).fetchall() if _has_parts(db) else []
    if found:
        db.execute(sql.DELETE_NUMBER, (0,))  # no part has this number
    return found


def _take_over(db: sqlite3.Connection, rows: Sequence[tuple[int, str, bytes]]) -> None:
    """Append the parts of another file; that older ones were dropped there says nothing of what is here."""
    with _one_step(db):
        for _, log, kept in rows:
            db.execute(sql.TAKE_OVER, {"log": log, "payload": kept})
