"""One database for data, keys and usage: its tables, and the connections to it.

A record (signal, index, post …) is stored whole as JSON text, which is what the API returns: unknown fields survive,
and no answer has to be assembled. Only what is filtered or sorted by has a column of its own. Points in time are
integers, microseconds since 1970 in UTC: they sort right on every database, before 1970 too.
"""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from dataservice.extras import install_command
from dataservice.server.errors import DatabaseUnavailableError

metadata = sa.MetaData()

_Name = sa.String(200).with_variant(sa.String(200, collation="C"), "postgresql")
"""Slugs are listed in the order of their characters, whatever language a PostgreSQL database sorts by."""


def _records_table(name: str, *columns: sa.Column[Any], identity: str = "slug") -> sa.Table:
    """A table of records, each with the column that names it and those it is filtered or sorted by."""
    return sa.Table(
        name,
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(identity, _Name, nullable=False, unique=True),
        *columns,
        sa.Column("record", sa.Text, nullable=False),
    )


signals = _records_table("signals", sa.Column("category", sa.Text, nullable=False, index=True))
indices = _records_table("indices")
currents = _records_table("currents")
posts = _records_table(
    "posts",
    sa.Column("published_at_us", sa.BigInteger, nullable=False, index=True),
    sa.Column("handle", sa.Text, nullable=False),
    sa.Column("beat", sa.Text),
    sa.Column("story_type", sa.String(20), nullable=False),
)
wire_items = _records_table(
    "wire_items",
    sa.Column("published_at_us", sa.BigInteger, nullable=False, index=True),
    sa.Column("kind", sa.String(20), nullable=False),
    sa.Column("beat", sa.Text),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("importance_score", sa.Float(53), nullable=False),
    identity="uuid",
)
sa.Index("posts_by_handle", posts.c.handle, posts.c.published_at_us)

observations = sa.Table(
    "observations",
    metadata,
    sa.Column("signal_id", sa.Integer, sa.ForeignKey("signals.id"), primary_key=True, autoincrement=False),
    sa.Column("observed_at_us", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("value", sa.Float(53), nullable=False),
    sqlite_with_rowid=False,
)
"""The primary key is the reading order of /observations; SQLite stores the rows inside it (WITHOUT ROWID)."""

wire_tickers = sa.Table(
    "wire_tickers",
    metadata,
    sa.Column("ticker", sa.String(100), primary_key=True),
    sa.Column("wire_item_id", sa.Integer, sa.ForeignKey("wire_items.id"), primary_key=True, autoincrement=False),
)

api_keys = sa.Table(
    "api_keys",
    metadata,
    sa.Column("key_hash", sa.String(64), primary_key=True),
    sa.Column("tier", sa.String(20), nullable=False),
    sa.Column("cap", sa.BigInteger, nullable=False),
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("created_at_us", sa.BigInteger, nullable=False),
    sa.Column("revoked_at_us", sa.BigInteger),
)

usage = sa.Table(
    "usage",
    metadata,
    sa.Column("key_hash", sa.String(64), sa.ForeignKey("api_keys.key_hash"), primary_key=True),
    sa.Column("month", sa.String(7), primary_key=True),
    sa.Column("used", sa.BigInteger, nullable=False),
)

DATA_TABLES = (signals, observations, indices, currents, posts, wire_items, wire_tickers)
"""What an import replaces. Keys and their usage are not among them: they are kept."""

data_state = sa.Table(
    "data_state",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("version", sa.BigInteger, nullable=False),
)
"""One row, another version after each import: what was answered before it is not answered again."""

BUSY_TIMEOUT_S = 30.0
"""How long a writer waits for another process: an import of a million observations holds the lock for seconds."""

POOL_SIZE = 40
"""Starlette's thread pool has 40 threads; each may hold one connection."""

EXAMPLE = "postgresql+psycopg://user@host/database"

_BEGIN = "sqlite_begin"

_USER_AND_QUERY = re.compile(r"(?<=://).*(?=@)|(?<=\?).*", re.DOTALL)
"""Where a URL may hold a password."""


def database_url(location: str | Path) -> sa.URL:
    """The SQLAlchemy URL of a location: a path names a SQLite file, a URL (`postgresql+psycopg://…`) stays as it is."""
    text = str(location)
    return make_url(text) if "://" in text else sa.URL.create("sqlite", database=str(Path(text).expanduser()))


_SQLITE_MARK = b"SQLite format 3\x00"
"""How every file of SQLite begins."""


class Database:
    """Connections to one database, with its tables in place.

    SQLite has one writer at a time and makes the others poll for the lock. Inside this process writers queue at a
    lock instead, so that only other processes have to be polled for.
    """

    def __init__(self, location: str | Path) -> None:
        self.url = _checked_url(location)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._write_lock = threading.Lock()
        try:
            self._open()
        except (DBAPIError, ModuleNotFoundError, NoSuchModuleError, OSError) as error:
            raise DatabaseUnavailableError(f"the database {self} cannot be opened: {_reason(error)}") from error

    def __str__(self) -> str:
        """The file, or the URL without its password, and without its query, which may hold one."""
        return str(self.url.database) if self.is_sqlite else self.url.set(query={}).render_as_string()

    @property
    def location(self) -> str:
        """Return what opens the same database elsewhere: the file, or the URL with its password."""
        return str(self.url.database) if self.is_sqlite else self.url.render_as_string(hide_password=False)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection whose queries all see the same state, also while an import replaces it."""
        with self.engine.connect() as connection:
            if not self.is_sqlite:
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A connection in one transaction: committed at the end, rolled back at an error."""
        if not self.is_sqlite:
            with self.engine.begin() as connection:
                yield connection
            return
        with self._write_lock, self.engine.connect() as connection:
            connection.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"})
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Close every connection; the next use opens new ones."""
        self.engine.dispose()

    def _open(self) -> None:
        if self.is_sqlite:
            file = Path(str(self.url.database))
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _keep_private(file)
            self.engine = _sqlite_engine(self.url)
        else:
            self.engine = sa.create_engine(self.url, pool_size=POOL_SIZE, pool_pre_ping=True)
        try:
            with self.writing() as connection:
                metadata.create_all(connection)
        except DBAPIError:
            self.close()
            raise


def _keep_private(file: Path) -> None:
    """Let only the owner read the file: it holds usage, and hashes of keys. SQLite's other files get its rights.

    One that an earlier version made for all to read is closed, too; where its rights cannot be changed it stays.
    So does a file that is no database, named by mistake.
    """
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        return
    with suppress(OSError):
        if not _is_database(file):
            return
        for each in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
            if each.is_file():
                each.chmod(0o600)


def _is_database(file: Path) -> bool:
    """Return whether SQLite wrote the file, or nobody wrote into it yet."""
    with file.open("rb") as stream:
        head = stream.read(len(_SQLITE_MARK))
    return head in (b"", _SQLITE_MARK)


def _checked_url(location: str | Path) -> sa.URL:
    try:
        url = database_url(location)
    except (ArgumentError, ValueError):  # for a port that is no number, which the rest of a password may seem to be
        shown = _USER_AND_QUERY.sub("…", str(location))
        raise DatabaseUnavailableError(f"{shown!r} is neither a file nor a URL such as {EXAMPLE}") from None
    if url.get_backend_name() not in {"sqlite", "postgresql"}:
        raise DatabaseUnavailableError(f"{url.get_backend_name()} is not supported: give a file or {EXAMPLE}")
    if url.get_backend_name() == "sqlite" and url.database in {None, "", ":memory:"}:
        raise DatabaseUnavailableError("the threads of the service share a file: a database in memory is not enough")
    return url


def _reason(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"its driver {error.name} is not installed: {install_command('postgres')}"
    if isinstance(error, OSError):
        return f"{error.strerror}: {error.filename}" if error.filename else str(error)
    return str(error.orig if isinstance(error, DBAPIError) else error).strip()


def _sqlite_engine(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(url, pool_size=POOL_SIZE, connect_args={"timeout": BUSY_TIMEOUT_S})
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _begin_sqlite(connection: sa.Connection) -> None:
    # A reader's transaction turns into a writer's only if nobody wrote meanwhile; a writer therefore says so at once.
    connection.exec_driver_sql(connection.get_execution_options().get(_BEGIN, "BEGIN"))


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver would begin transactions for writing statements only
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")  # readers go on while a writer writes
    # With WAL a power cut may take back the last counts but corrupts nothing; a sync per request costs milliseconds.
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.close()
