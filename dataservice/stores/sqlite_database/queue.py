"""Work on one SQLite file, done by a thread of its own: what waits together is done in one transaction."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeAlias, TypeVar

from dataservice.stores.base import StoreAwayError
from dataservice.stores.sqlite_database.file import SqliteFile, is_busy

T = TypeVar("T")

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

    A transaction for each piece costs several times the work itself. All that waits when the thread is ready shares
    one; nobody is answered before it is committed, and if it fails, each piece is done by itself.
    """

    def __init__(self, file: SqliteFile) -> None:
        self._file = file
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="dataservice-sqlite")
        self._lock = threading.Lock()
        self._waiting: list[_Work] = []

    def run(self, do: Callable[[sqlite3.Connection], T] | None, *, alone: bool = False) -> asyncio.Future[T]:
        """The result of `do`, which may be run more than once; `alone` for what no transaction can hold.

        In place of work, None closes the file.
        """
        loop = asyncio.get_running_loop()
        work = _Work(do, alone, loop, loop.create_future())
        with self._lock:
            self._waiting.append(work)
            is_first = len(self._waiting) == 1
        if is_first:
            self._start()
        return work.done

    async def aclose(self) -> None:
        """Close the file after all work that was given; later work opens it again."""
        try:
            await self.run(None, alone=True)
        except StoreAwayError:  # the interpreter is ending, and no thread uses the file
            self._file.close()

    def _start(self) -> None:
        try:
            self._thread.submit(self._do_waiting)
        except RuntimeError:  # the interpreter is ending: threads take no more work
            with self._lock:
                self._waiting.clear()
            raise StoreAwayError("the process is ending") from None

    def _do_waiting(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for group in _groups(waiting):
            _tell(group, self._outcomes(group))

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
