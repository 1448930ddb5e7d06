"""The connection to one SQLite file: opened for writing if possible, else for reading, and replaced if damaged.

A thread of its own works on it: what waits together is done in one transaction.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import quote

from dataservice.stores.base import StoreAwayError
from dataservice.stores.sqlite_database.salvage import salvaged

T = TypeVar("T")

FORMAT = 1  # of the tables; another number in the file means that another version made it
BUSY_TIMEOUT_S = 3.0  # writers of other processes hold the lock for milliseconds
SWITCH_ATTEMPTS, SWITCH_WAIT_S = 100, 0.02  # together 2 s: another process holds the file for milliseconds

SIDE_FILES = ("-wal", "-shm")

# The salt comes first, so that it stands at the beginning of a file: without it nothing is found by its name.
SCHEMA = """
CREATE TABLE IF NOT EXISTS salt (id INTEGER PRIMARY KEY CHECK (id = 1), bytes BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS entries (name TEXT PRIMARY KEY, fetched_at REAL NOT NULL, payload BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS entries_by_age ON entries (fetched_at);
CREATE TABLE IF NOT EXISTS leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, expires_at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS parts (number INTEGER PRIMARY KEY AUTOINCREMENT, log TEXT NOT NULL, payload BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS parts_by_log ON parts (log);
"""

_logger = logging.getLogger("dataservice.stores")


class SqliteFile:
    """The connection to one file, opened when first needed; used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._only_readable = False

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `work`; if the file turns out damaged it is replaced, and the work done on the new one."""
        for repair in (self.close, self._move_aside):  # opened again it is fine, if another process replaced it
            try:
                return self._done(work)
            except sqlite3.OperationalError:
                raise  # locked, full, read-only: the file itself is fine
            except (sqlite3.DatabaseError, UnicodeDecodeError):  # a message may hold the damaged bytes
                repair()
        return work(self._open())

    def _done(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return work(self._open())
        except sqlite3.OperationalError:
            if not self._only_readable:
                raise
        self.close()  # the disk may have room again by now
        return work(self._open())

    def close(self) -> None:
        """Close the file, if it is open."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection, self._only_readable = _opened(self._path), False
            except (OSError, sqlite3.OperationalError) as error:
                self._connection, self._only_readable = _opened_for_reading(self._path, error), True
        return self._connection

    def _move_aside(self) -> None:
        """Put a new file in the place of a damaged one, with all of its logs that can be read."""
        self.close()
        aside = self._path.with_name(f"{self._path.name}.damaged-{int(time.time())}")
        fresh = self._path.with_name(f"{self._path.name}.new-{secrets.token_hex(4)}")
        try:
            damaged = _identity(self._path)
            kept = _written_anew(self._path, fresh)
            if _identity(self._path) != damaged:
                return
            self._path.rename(aside)
            for suffix in SIDE_FILES:
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            _put_in_place(fresh, self._path)
        except FileNotFoundError:  # another process was faster
            return
        finally:
            for name in (fresh.name, *(fresh.name + suffix for suffix in SIDE_FILES)):
                fresh.with_name(name).unlink(missing_ok=True)
        archived = f" with {kept:,} parts of the archive" if kept else ""
        _logger.warning(
            "the cache file was damaged; it was renamed to %s, and a new one is started%s", aside.name, archived
        )


def _put_in_place(fresh: Path, path: Path) -> None:
    """The new file as `path`, unless another process has begun one there."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        return
    except OSError:  # no links on this disk
        if not path.exists():
            fresh.rename(path)


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def _written_anew(damaged: Path, fresh: Path) -> int:
    """A new file with what is readable of the logs of a `damaged` one; how many parts that are."""
    found = salvaged(damaged)
    with contextlib.closing(_opened(fresh)) as db:
        if found.salt is not None:
            db.execute("INSERT INTO salt VALUES (1, ?)", (found.salt,))
        db.execute("BEGIN")
        db.executemany("INSERT INTO parts (log, payload) VALUES (?, ?)", found.parts)
        db.execute("COMMIT")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return len(found.parts)


def _opened(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # SQLite gives its side files the permissions of the main file: made here, so that nobody else can ever read it.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    if path.stat().st_mode & 0o777 != 0o600:
        path.chmod(0o600)
    db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        _use_write_ahead_log(db)
        db.execute("PRAGMA synchronous = NORMAL")  # a power cut may take the last answers, never the file
        found = _format_of(db)
        db.executescript(SCHEMA)
        if found != FORMAT:
            db.execute(f"PRAGMA user_version = {FORMAT}")
    except BaseException:
        db.close()
        raise
    return db


def _opened_for_reading(path: Path, because: Exception) -> sqlite3.Connection:
    """The file as it is, on a disk that is full or read-only; raises `because` where it cannot be read either.

    `immutable` is for a folder where SQLite cannot make its side files: then it takes no locks, and sees no changes.
    """
    if is_busy(because) or not path.is_file():
        raise because
    for options in ("mode=ro", "mode=ro&immutable=1"):
        with contextlib.suppress(sqlite3.OperationalError):
            db = sqlite3.connect(
                f"file:{quote(str(path))}?{options}", uri=True, isolation_level=None, check_same_thread=False
            )
            try:
                if _format_of(db) == FORMAT:
                    db.execute("SELECT 1 FROM entries LIMIT 1").fetchone()
                    return db
            except BaseException:
                db.close()
                raise
            db.close()
    raise because


def _format_of(db: sqlite3.Connection) -> int:
    found: int = db.execute("PRAGMA user_version").fetchone()[0]
    if found not in {0, FORMAT}:
        raise sqlite3.DatabaseError(f"format {found}, expected {FORMAT}")
    return found


def is_busy(error: Exception) -> bool:
    """Return whether another process held the lock for too long."""
    return isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode == sqlite3.SQLITE_BUSY


def _use_write_ahead_log(db: sqlite3.Connection) -> None:
    """Switch to the write-ahead log, in which readers go on while another process writes.

    For this one statement SQLite's busy time-out does not apply: when processes open a new file at once, we wait.
    """
    never = threading.Event()
    for attempts_left in reversed(range(SWITCH_ATTEMPTS + 1)):
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not is_busy(error) or not attempts_left:
                raise
            never.wait(SWITCH_WAIT_S)
        else:
            return


GATHER_S, LONGEST_GATHER_S = 0.0015, 0.02
"""For so long more work is awaited after several pieces came together, and again while more comes, so long in all: a
transaction and the change of threads cost more than most of it. What comes alone is done at once."""

ENOUGH = 64
"""For so many pieces nothing more is awaited: each costs little of the transaction by then."""

AT_ONCE = 256
"""Pieces of work in one transaction: other processes wait for its end."""

Outcome: TypeAlias = tuple[Any, Exception | None]
"""A result, or why there is none."""


class _Work(NamedTuple):
    do: Callable[[sqlite3.Connection], Any] | None
    """None closes the file."""
    is_alone: bool
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[Any]


class SqliteQueue:
    """Does work on `file` in the order in which it is given.

    A transaction for each piece costs several times the work itself. All that comes in one turn of the event loop, or
    soon after others that came together, shares one; nobody is answered before it is committed, and if it fails, each
    piece is done by itself.
    """

    def __init__(self, file: SqliteFile) -> None:
        self._file = file
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="dataservice-sqlite")
        self._lock = threading.Lock()
        self._waiting: list[_Work] = []
        self._is_working = False
        self._starter: asyncio.AbstractEventLoop | None = None
        """The loop that will start the thread; another one does not rely on it."""
        self._is_enough = threading.Event()
        """Set when what waits is worth a transaction."""

    def run(self, do: Callable[[sqlite3.Connection], T] | None, *, alone: bool = False) -> asyncio.Future[T]:
        """The result of `do`, which may be run more than once; `alone` for what no transaction can hold.

        In place of work, None closes the file.
        """
        loop = asyncio.get_running_loop()
        work = _Work(do, alone, loop, loop.create_future())
        with self._lock:
            self._waiting.append(work)
            is_enough = alone or len(self._waiting) == ENOUGH
            is_cared_for = self._is_working or self._starter is loop
            self._starter = None if self._is_working else loop
        if not is_cared_for:
            loop.call_soon(self._start)
        elif is_enough:
            self._is_enough.set()
        return work.done

    async def aclose(self) -> None:
        """Close the file after all work that was given; later work opens it again."""
        try:
            await self.run(None, alone=True)
        except StoreAwayError:  # the interpreter is ending, and no thread uses the file
            self._file.close()

    def _start(self) -> None:
        with self._lock:
            self._starter, self._is_working = None, True
        try:
            self._thread.submit(self._do_waiting)
        except RuntimeError:  # the interpreter is ending: threads take no more work
            with self._lock:
                waiting, self._waiting, self._is_working = self._waiting, [], False
            _tell(waiting, [(None, StoreAwayError("the process is ending")) for _ in waiting])

    def _do_waiting(self) -> None:
        """Do what waits, and what comes meanwhile: to wake a thread takes longer than a piece of work."""
        while True:
            self._is_enough.clear()
            with self._lock:
                waiting, self._waiting = self._waiting, []
                self._is_working = bool(waiting)
            if not waiting:
                return
            for group in _groups(waiting):
                _tell(group, self._outcomes(group))
            if len(waiting) > 1:
                self._gather()

    def _gather(self) -> None:
        """Wait while more comes."""
        count, until = -1, time.monotonic() + LONGEST_GATHER_S
        while count < len(self._waiting) and time.monotonic() < until:
            count = len(self._waiting)
            if self._is_enough.wait(GATHER_S):
                return

    def _outcomes(self, group: Sequence[_Work]) -> list[Outcome]:
        if len(group) > 1:
            try:
                return [(result, None) for result in self._file.run(lambda db: _together(db, group))]
            except Exception as error:  # noqa: BLE001 - whichever piece it was, each of them is tried by itself
                if is_busy(error):  # waiting once is enough
                    return [(None, error) for _ in group]
        return [self._outcome(work) for work in group]

    def _outcome(self, work: _Work) -> Outcome:
        try:
            if work.do is not None:
                return self._file.run(work.do), None
            self._file.close()
        except Exception as error:  # noqa: BLE001 - it is raised where the work was given
            return None, error
        return None, None


def _together(db: sqlite3.Connection, group: Sequence[_Work]) -> list[Any]:
    with transaction(db):
        return [work.do(db) for work in group if work.do is not None]


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, and no other process writes meanwhile; a part of the transaction under way, if there is one."""
    is_part = db.in_transaction
    db.execute("SAVEPOINT part" if is_part else "BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # a full disk ends it by itself
            db.execute("ROLLBACK TO part" if is_part else "ROLLBACK")
        raise
    db.execute("RELEASE part" if is_part else "COMMIT")


def _groups(waiting: Sequence[_Work]) -> Iterator[Sequence[_Work]]:
    group: list[_Work] = []
    for work in waiting:
        if work.is_alone or len(group) == AT_ONCE:
            if group:
                yield group
            group = []
        if work.is_alone:
            yield [work]
        else:
            group.append(work)
    if group:
        yield group


def _tell(group: Sequence[_Work], outcomes: Sequence[Outcome]) -> None:
    """Wake those who wait, all of one event loop at once."""
    told: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Outcome]]] = {}
    for work, outcome in zip(group, outcomes, strict=True):
        told.setdefault(work.loop, []).append((work.done, outcome))
    for loop, each in told.items():
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_wake, each)


def _wake(told: Sequence[tuple[asyncio.Future[Any], Outcome]]) -> None:
    for done, (result, error) in told:
        if done.done():
            continue
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)
