"""The ledger of one machine: a small SQLite file, written through to the disk before a write counts."""

from __future__ import annotations

import asyncio
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from dataservice.ledger.base import Fact, LedgerAwayError, Look, Mark

T = TypeVar("T")

BUSY_TIMEOUT_S = 3.0
"""Writers of other processes hold the file for milliseconds; on a slow disk for longer."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS state (
    id INTEGER PRIMARY KEY CHECK (id = 1), incarnation TEXT NOT NULL, number INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, number INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""

STATE = "SELECT incarnation, number FROM state"
NEXT = "UPDATE state SET number = number + 1 RETURNING incarnation, number"
PUT = "INSERT OR REPLACE INTO facts VALUES (?, ?, ?)"
ADD = """
INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value RETURNING value
"""


class SqliteLedger:
    """Keeps facts in the file at `path`, which only its user can read.

    The file is opened for each operation, so that one that was deleted or replaced is noticed, and without a
    write-ahead log, so that it can be read on a disk that is full or read-only: then SQLite opens it for reading.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = Mark("", 0)
        """The last moment that is known here: a file that was set back to an earlier one begins again."""

    async def look(self, *names: str) -> Look:
        """The facts with these names."""
        return await self._done(lambda: self._looked(names))

    async def write(self, changes: Mapping[str, bytes | None]) -> Mark:
        """Write all these facts, or none."""

        def work() -> Mark:
            with self._writing() as file:
                mark = Mark(*file.execute(NEXT).fetchone())
                for name, value in changes.items():
                    if value is None:
                        file.execute("DELETE FROM facts WHERE name = ?", (name,))
                    else:
                        file.execute(PUT, (name, mark.number, value))
            self._saw(mark)
            return mark

        return await self._done(work)

    async def names(self, prefix: str) -> list[str]:
        """The names that begin with `prefix`."""

        def work() -> list[str]:
            with self._opened_now() as file:
                rows = file.execute("SELECT name FROM facts WHERE substr(name, 1, ?) = ?", (len(prefix), prefix))
                return sorted(row[0] for row in rows)

        return await self._done(work)

    async def add(self, counter: str, amount: int) -> int:
        """The counter after adding `amount`."""

        def work() -> int:
            if not amount:
                with self._opened_now() as file:
                    row = file.execute("SELECT value FROM counters WHERE name = ?", (counter,)).fetchone()
                    return int(row[0]) if row else 0
            with self._writing() as file:
                return int(file.execute(ADD, (counter, amount)).fetchone()[0])

        return await self._done(work)

    async def aclose(self) -> None:
        """Nothing is open between two operations."""

    def _looked(self, names: tuple[str, ...]) -> Look:
        seen = self._seen  # before the file is opened: another thread may learn of a later moment meanwhile
        with self._opened_now() as file:
            mark = Mark(*file.execute(STATE).fetchone())
            if mark.incarnation == seen.incarnation and mark.number < seen.number:
                file.execute("ROLLBACK")
                file.execute("BEGIN IMMEDIATE")
                file.execute("UPDATE state SET incarnation = ?, number = ?", (secrets.token_hex(8), seen.number + 1))
                mark = Mark(*file.execute(STATE).fetchone())
            self._saw(mark)
            places = ", ".join("?" * len(names))
            rows = file.execute(f"SELECT name, value, number FROM facts WHERE name IN ({places})", names)  # noqa: S608
            look = Look(mark, {name: Fact(value, number) for name, value, number in rows})
            file.execute("COMMIT")
            return look

    def _saw(self, mark: Mark) -> None:
        if mark.incarnation != self._seen.incarnation or mark.number > self._seen.number:
            self._seen = mark

    async def _done(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except (sqlite3.Error, OSError) as error:
            raise LedgerAwayError(f"{self._path.name} cannot be used ({error})") from None

    @contextmanager
    def _opened_now(self) -> Iterator[sqlite3.Connection]:
        if not self._path.exists():
            self._create()
        with _opened(f"file:{quote(str(self._path))}?mode=rw") as file:
            file.execute("PRAGMA synchronous = EXTRA")
            file.execute("BEGIN")
            yield file

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._looked(())  # a file that was set back begins again before anything is written
        with self._opened_now() as file:
            file.execute("ROLLBACK")
            file.execute("BEGIN IMMEDIATE")
            try:
                yield file
                file.execute("COMMIT")
            except BaseException:
                if file.in_transaction:
                    file.execute("ROLLBACK")
                raise

    def _create(self) -> None:
        """Make the file under another name first: nobody finds one without an incarnation."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._path.with_name(f"{self._path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with _opened(f"file:{quote(str(draft))}?mode=rw") as file:
                file.executescript(SCHEMA)
                file.execute("INSERT INTO state VALUES (1, ?, 0)", (secrets.token_hex(8),))
            try:
                os.link(draft, self._path)  # fails where another process was faster
            except FileExistsError:
                return
            except OSError:  # a disk without such links
                draft.replace(self._path)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def _opened(uri: str) -> Iterator[sqlite3.Connection]:
    file = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    try:
        yield file
    finally:
        file.close()
