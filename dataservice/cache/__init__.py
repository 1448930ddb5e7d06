"""The name that `dataservice.stores` had in version 0.1: what was imported from here still is."""

from dataservice.stores import Entry, MemoryStore, Store, default_shelf_path
from dataservice.stores import SqliteStore as Shelf

__all__ = ["Entry", "MemoryStore", "Shelf", "Store", "default_shelf_path"]
