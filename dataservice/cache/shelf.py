"""The tier that survives a restart: one SQLite file, shared by all processes of a user."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import platformdirs

from dataservice.cache.shelf_file import ShelfFile
from dataservice.cache.store import Entry

__all__ = ["DEFAULT_SHELF_BYTES", "Shelf", "default_shelf_path"]

T = TypeVar("T")

DEFAULT_SHELF_BYTES = 256 * 2**20
"""Sixteen million observations: more than a workbook shows, little for a disk."""


def default_shelf_path() -> Path:
    """The shelf in the user's cache folder; the format is part of the name, so that versions live side by side."""
    return platformdirs.user_cache_path("dataservice-addin", appauthor=False) / "shelf-1.sqlite"


class Shelf:
    """Keeps entries in the SQLite file `path`, readable for this user only.

    The file is opened at the first use, in a thread of its own. One that is damaged is moved aside and a new one begun.
    `max_bytes` bounds what is kept: the entries fetched longest ago go first.

    >>> from dataservice.client import AsyncClient
    >>> client = AsyncClient("https://data.example", "ds_key", store=Shelf())
    """

    tier = "shelf"
    shared = True

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        max_bytes: int = DEFAULT_SHELF_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if max_bytes < 1:
            raise ValueError(f"max_bytes must be at least 1, not {max_bytes}")
        self.path = Path(path) if path is not None else default_shelf_path()
        self._file = ShelfFile(self.path, max_bytes=max_bytes, clock=clock)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="dataservice-shelf")

    async def salt(self) -> bytes:
        """The salt in the file."""
        return await self._in_thread(self._file.salt)

    async def get(self, name: str) -> Entry | None:
        """The entry kept as `name`."""
        return await self._in_thread(lambda: self._file.get(name))

    async def put(self, name: str, entry: Entry) -> None:
        """Keep `entry`; it is on disk when this returns."""
        await self._in_thread(lambda: self._file.put(name, entry))

    async def clear(self, prefix: str = "") -> int:
        """Forget every entry whose name begins with `prefix`."""
        return await self._in_thread(lambda: self._file.clear(prefix))

    async def lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """Take the lease `name` if it is free, expired or already `owner`'s."""
        return await self._in_thread(lambda: self._file.lease(name, owner, ttl_s))

    async def release(self, name: str, owner: str) -> None:
        """End the lease `name`, if `owner` still holds it."""
        await self._in_thread(lambda: self._file.release(name, owner))

    async def add(self, counter: str, amount: int) -> int:
        """The value of `counter` after adding `amount`."""
        return await self._in_thread(lambda: self._file.add(counter, amount))

    async def aclose(self) -> None:
        """Close the file; a later use opens it again."""
        await self._in_thread(self._file.close)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
