"""The tables of the embedded service, in the words of SQLAlchemy Core so that SQLite and PostgreSQL hold the same.

A record (signal, index, post …) is kept whole as JSON text, which is what the API returns: unknown fields survive, and
nothing is taken apart and put together again for an answer. Only what is filtered or sorted by has a column of its own.
Points in time are integers, microseconds since 1970 in UTC: they sort right on every database, before 1970 too.
"""

from sqlalchemy import BigInteger, Column, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text

metadata = MetaData()

# Slugs are listed in the order of their characters, whatever language a PostgreSQL database sorts by.
_Name = String(200).with_variant(String(200, collation="C"), "postgresql")

signals = Table(
    "signals",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("slug", _Name, nullable=False, unique=True),
    Column("category", Text, nullable=False, index=True),
    Column("record", Text, nullable=False),
)

# The primary key is the reading order of /observations; SQLite stores the rows inside it (WITHOUT ROWID).
observations = Table(
    "observations",
    metadata,
    Column("signal_id", Integer, ForeignKey("signals.id"), primary_key=True, autoincrement=False),
    Column("observed_at_us", BigInteger, primary_key=True, autoincrement=False),
    Column("value", Float(53), nullable=False),
    sqlite_with_rowid=False,
)

indices = Table(
    "indices",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("slug", _Name, nullable=False, unique=True),
    Column("record", Text, nullable=False),
)

currents = Table(
    "currents",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("slug", _Name, nullable=False, unique=True),
    Column("record", Text, nullable=False),
)

posts = Table(
    "posts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("slug", _Name, nullable=False, unique=True),
    Column("published_at_us", BigInteger, nullable=False, index=True),
    Column("handle", Text, nullable=False),
    Column("beat", Text),
    Column("story_type", String(20), nullable=False),
    Column("record", Text, nullable=False),
)

wire_items = Table(
    "wire_items",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("uuid", _Name, nullable=False, unique=True),
    Column("published_at_us", BigInteger, nullable=False, index=True),
    Column("kind", String(20), nullable=False),
    Column("beat", Text),
    Column("source", Text, nullable=False),
    Column("importance_score", Float(53), nullable=False),
    Column("record", Text, nullable=False),
)

wire_tickers = Table(
    "wire_tickers",
    metadata,
    Column("ticker", String(100), primary_key=True),
    Column("wire_item_id", Integer, ForeignKey("wire_items.id"), primary_key=True, autoincrement=False),
)

# Keys and what they spent are no part of an import: they stay when the data are replaced.
api_keys = Table(
    "api_keys",
    metadata,
    Column("key_hash", String(64), primary_key=True),
    Column("tier", String(20), nullable=False),
    Column("cap", BigInteger, nullable=False),
    Column("label", Text, nullable=False),
    Column("created_at_us", BigInteger, nullable=False),
    Column("revoked_at_us", BigInteger),
)

usage = Table(
    "usage",
    metadata,
    Column("key_hash", String(64), ForeignKey("api_keys.key_hash"), primary_key=True),
    Column("month", String(7), primary_key=True),
    Column("used", BigInteger, nullable=False),
)

Index("posts_by_handle", posts.c.handle, posts.c.published_at_us)

DATA_TABLES = (signals, observations, indices, currents, posts, wire_items, wire_tickers)
