"""The SQLite store: one file in the user's cache folder, shared by all processes of the user."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import platformdirs

from dataservice.stores.base import Entry

T = TypeVar("T")

FORMAT = 1  # of the tables; another number in the file means that another version made it
BUSY_TIMEOUT_S = 3.0  # writers of other processes hold the lock for milliseconds
SWITCH_ATTEMPTS, SWITCH_WAIT_S = 100, 0.02  # together 2 s: another process holds the file for milliseconds
PRUNE_EVERY = 64  # writes between two looks at the size: a look costs more than a write
PRUNE_TO = 0.9  # of the bound, so that not every later write prunes again

DEFAULT_SQLITE_BYTES = 256 * 2**20
"""Sixteen million observations: more than a workbook shows, little for a disk."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (name TEXT PRIMARY KEY, fetched_at REAL NOT NULL, payload BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS entries_by_age ON entries (fetched_at);
CREATE TABLE IF NOT EXISTS leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, expires_at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS salt (id INTEGER PRIMARY KEY CHECK (id = 1), bytes BLOB NOT NULL);
"""

# One statement, so that two processes cannot both take a lease.
LEASE = """
INSERT INTO leases VALUES (:name, :owner, :until) ON CONFLICT (name) DO UPDATE
SET owner = :owner, expires_at = :until WHERE owner = :owner OR expires_at <= :now
"""

ADD = """
INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value RETURNING value
"""

PRUNE = """
DELETE FROM entries WHERE rowid IN (SELECT rowid FROM (
    SELECT rowid, sum(length(payload)) OVER (ORDER BY fetched_at, rowid) - length(payload) AS before FROM entries
) WHERE before < ?)
"""

_logger = logging.getLogger("dataservice.stores")


def default_sqlite_path() -> Path:
    """The file in the user's cache folder; the format is part of the name, so that versions live side by side."""
    return platformdirs.user_cache_path("dataservice-addin", appauthor=False) / "shelf-1.sqlite"


class SqliteStore:
    """Keeps entries in the SQLite file `path`, readable for this user only.

    The file is opened at the first use, in a thread of its own. If it is damaged, it is moved aside and a new one is
    started. `max_bytes` bounds what is kept: the entries fetched longest ago are deleted first.

    >>> from dataservice.client import AsyncClient
    >>> client = AsyncClient("https://data.example", "ds_key", store=SqliteStore())
    """

    tier = "shelf"
    shared = True

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        max_bytes: int = DEFAULT_SQLITE_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if max_bytes < 1:
            raise ValueError(f"max_bytes must be at least 1, not {max_bytes}")
        self.path = Path(path) if path is not None else default_sqlite_path()
        self._max_bytes = max_bytes
        self._clock = clock
        self._file = SqliteFile(self.path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="dataservice-sqlite")
        self._writes = 0

    async def salt(self) -> bytes:
        """The salt in the file, made by whoever opened it first."""

        def work(db: sqlite3.Connection) -> bytes:
            db.execute("INSERT OR IGNORE INTO salt VALUES (1, ?)", (secrets.token_bytes(16),))
            return bytes(db.execute("SELECT bytes FROM salt").fetchone()[0])

        return await self._run(work)

    async def get(self, name: str) -> Entry | None:
        """The entry kept as `name`."""
        row = await self._first_row("SELECT payload, fetched_at FROM entries WHERE name = ?", (name,))
        return None if row is None else Entry(row[0], row[1])

    async def put(self, name: str, entry: Entry) -> None:
        """Keep `entry`; it is on disk when this returns."""
        values = (name, entry.fetched_at, entry.payload)
        await self._row_count("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", values)
        self._writes += 1
        if self._writes % PRUNE_EVERY == 0 or len(entry.payload) * PRUNE_EVERY > self._max_bytes:
            await self._run(self._prune)

    async def clear(self, prefix: str = "") -> int:
        """Forget every entry whose name begins with `prefix`."""
        return await self._row_count("DELETE FROM entries WHERE substr(name, 1, ?) = ?", (len(prefix), prefix))

    async def lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """Take the lease `name` if it is free, expired or already `owner`'s."""
        now = self._clock()
        return await self._row_count(LEASE, {"name": name, "owner": owner, "until": now + ttl_s, "now": now}) == 1

    async def release(self, name: str, owner: str) -> None:
        """End the lease `name`, if `owner` still holds it."""
        await self._row_count("DELETE FROM leases WHERE name = ? AND owner = ?", (name, owner))

    async def add(self, counter: str, amount: int) -> int:
        """The value of `counter` after adding `amount`."""
        return int((await self._first_row(ADD, (counter, amount)))[0])

    async def aclose(self) -> None:
        """Close the file; a later use opens it again."""
        try:
            await self._in_thread(self._file.close)
        except RuntimeError:  # the interpreter is ending: threads take no more work, and none uses the file
            self._file.close()

    def _prune(self, db: sqlite3.Connection) -> None:
        """Delete the entries fetched longest ago until what is left is well below the bound."""
        total = db.execute("SELECT coalesce(sum(length(payload)), 0) FROM entries").fetchone()[0]
        if total > self._max_bytes:
            db.execute(PRUNE, (total - self._max_bytes * PRUNE_TO,))

    async def _first_row(self, statement: str, values: Any) -> Any:
        return await self._run(lambda db: db.execute(statement, values).fetchone())

    async def _row_count(self, statement: str, values: Any) -> int:
        return await self._run(lambda db: db.execute(statement, values).rowcount)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._in_thread(lambda: self._file.run(work))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


class SqliteFile:
    """The connection to one file, opened when first needed; used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `work`; if the file turns out damaged it is replaced, and the work done on the new one."""
        for repair in (self.close, self._move_aside):  # opened again it is fine, if another process replaced it
            try:
                return work(self._open())
            except sqlite3.OperationalError:
                raise  # locked, full, read-only: the file itself is fine
            except sqlite3.DatabaseError:
                repair()
        return work(self._open())

    def close(self) -> None:
        """Close the file, if it is open."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = _opened(self._path)
        return self._connection

    def _move_aside(self) -> None:
        self.close()
        aside = self._path.with_name(f"{self._path.name}.damaged-{int(time.time())}")
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            self._path.rename(aside)
        for suffix in ("-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        _logger.warning("the cache file was damaged; it was renamed to %s, and a new one is started", aside.name)


def _opened(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # SQLite gives its side files the permissions of the main file: made here, so that nobody else can ever read it.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    path.chmod(0o600)
    db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        _use_write_ahead_log(db)
        db.execute("PRAGMA synchronous = NORMAL")  # a power cut may take the last answers, never the file
        found = db.execute("PRAGMA user_version").fetchone()[0]
        if found not in {0, FORMAT}:
            raise sqlite3.DatabaseError(f"format {found}, expected {FORMAT}")
        db.executescript(SCHEMA)
        db.execute(f"PRAGMA user_version = {FORMAT}")
    except BaseException:
        db.close()
        raise
    return db


def _use_write_ahead_log(db: sqlite3.Connection) -> None:
    """Switch to the write-ahead log, in which readers go on while another process writes.

    For this one statement SQLite's busy time-out does not apply: when processes open a new file at once, we wait.
    """
    never = threading.Event()
    for attempts_left in reversed(range(SWITCH_ATTEMPTS + 1)):
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or not attempts_left:
                raise
            never.wait(SWITCH_WAIT_S)
        else:
            return
