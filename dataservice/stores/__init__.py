"""Where answers are kept: in the process, in the user's SQLite file, or in a Redis that machines share.

`RedisStore` needs the extra `redis` and is imported by its own name: `from dataservice.stores.redis import RedisStore`.
"""

from dataservice.stores.base import (
    DEFAULT_ARCHIVE_BYTES,
    Claim,
    Entry,
    EntrySize,
    Log,
    LogSize,
    Part,
    Put,
    Store,
    StoreAwayError,
    Unpacked,
)
from dataservice.stores.memory import MemoryStore
from dataservice.stores.replica import ReplicatedStore
from dataservice.stores.resilient import ResilientStore
from dataservice.stores.sqlite import SqliteStore, default_archive_path, default_sqlite_path

__all__ = [
    "DEFAULT_ARCHIVE_BYTES",
    "Claim",
    "Entry",
    "EntrySize",
    "Log",
    "LogSize",
    "MemoryStore",
    "Part",
    "Put",
    "ReplicatedStore",
    "ResilientStore",
    "SqliteStore",
    "Store",
    "StoreAwayError",
    "Unpacked",
    "default_archive_path",
    "default_sqlite_path",
]
