"""The names of version 0.1 for `dataservice.stores`: imports from here keep working."""

from dataservice.stores import Entry, MemoryStore, Store
from dataservice.stores import SqliteStore as Shelf
from dataservice.stores import default_sqlite_path as default_shelf_path

__all__ = ["Entry", "MemoryStore", "Shelf", "Store", "default_shelf_path"]
