"""One database for data, keys and counts: a SQLite file unless a URL names another."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from dataservice.server.db.schema import metadata
from dataservice.server.errors import DatabaseUnavailableError

# How long a writer waits for another process: an import of a million observations holds the lock for seconds.
BUSY_TIMEOUT_S = 30.0
# Starlette's thread pool has 40 threads; each may hold one connection.
POOL_SIZE = 40

EXAMPLE = "postgresql+psycopg://user@host/database"

_BEGIN = "sqlite_begin"


def database_url(location: str | Path) -> URL:
    """The SQLAlchemy URL of a location: a path names a SQLite file, a URL (`postgresql+psycopg://…`) stays as it is."""
    text = str(location)
    return make_url(text) if "://" in text else URL.create("sqlite", database=str(Path(text).expanduser()))


class Database:
    """Connections to one database, with its tables in place.

    SQLite has one writer at a time and lets the others poll for their turn. Inside this process writers queue at a
    lock instead, so that only other processes have to be polled for.
    """

    def __init__(self, location: str | Path) -> None:
        self.url = _checked_url(location)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._write_turn = threading.Lock()
        try:
            self._open()
        except (DBAPIError, ModuleNotFoundError, NoSuchModuleError, OSError) as error:
            raise DatabaseUnavailableError(f"the database {self} cannot be opened: {_reason(error)}") from error

    def __str__(self) -> str:
        """The file, or the URL without its password."""
        return str(self.url.database) if self.is_sqlite else self.url.render_as_string()

    @property
    def location(self) -> str:
        """What opens the same database elsewhere: the file, or the URL with its password."""
        return str(self.url.database) if self.is_sqlite else self.url.render_as_string(hide_password=False)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection whose queries all see the same state, also while an import replaces it."""
        with self.engine.connect() as connection:
            if not self.is_sqlite:
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection in one transaction: committed at the end, rolled back at an error."""
        if not self.is_sqlite:
            with self.engine.begin() as connection:
                yield connection
            return
        with self._write_turn, self.engine.connect() as connection:
            connection.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"})
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Close every connection; the next use opens new ones."""
        self.engine.dispose()

    def _open(self) -> None:
        if self.is_sqlite:
            Path(str(self.url.database)).parent.mkdir(parents=True, exist_ok=True)
            self.engine = _sqlite_engine(self.url)
        else:
            self.engine = create_engine(self.url, pool_size=POOL_SIZE, pool_pre_ping=True)
        try:
            with self.writing() as connection:
                metadata.create_all(connection)
        except DBAPIError:
            self.close()
            raise


def _checked_url(location: str | Path) -> URL:
    try:
        url = database_url(location)
    except ArgumentError as error:
        raise DatabaseUnavailableError(f"{str(location)!r} is neither a file nor a URL such as {EXAMPLE}") from error
    if url.get_backend_name() not in {"sqlite", "postgresql"}:
        raise DatabaseUnavailableError(f"{url.get_backend_name()} is not supported: give a file or {EXAMPLE}")
    if url.get_backend_name() == "sqlite" and url.database in {None, "", ":memory:"}:
        raise DatabaseUnavailableError("the threads of the service share a file: a database in memory is not enough")
    return url


def _reason(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"its driver {error.name} is not installed (pip install dataservice-addin[postgres])"
    return str(error.orig if isinstance(error, DBAPIError) else error).strip()


def _sqlite_engine(url: URL) -> Engine:
    engine = create_engine(url, pool_size=POOL_SIZE, connect_args={"timeout": BUSY_TIMEOUT_S})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _begin_sqlite(connection: Connection) -> None:
    # A reader's transaction turns into a writer's only if nobody wrote meanwhile; a writer therefore says so at once.
    connection.exec_driver_sql(connection.get_execution_options().get(_BEGIN, "BEGIN"))


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver would begin transactions for writing statements only
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")  # readers go on while a writer writes
    # With WAL a power cut may take back the last counts but corrupts nothing; a sync per request costs milliseconds.
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.close()
