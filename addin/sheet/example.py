"""The template, filled from a service, as the book that the demo opens."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime
from pathlib import Path

from addin.config.connect import open_store
from addin.config.settings import Settings
from addin.errors import AddinError
from addin.workbook.template.build import write_template
from dataservice.client import AsyncClient
from udfs import Session

NAME = "workbook_template.xlsx"


class ExampleBook:
    """The filled template in a folder, written when it is first asked for, which takes seconds.

    It is filled with the key and into the cache of those who open it, so that opening it sends no request again.
    """

    def __init__(self, folder: Path, settings: Settings, key: str) -> None:
        self._path = folder / NAME
        self._settings = settings
        self._key = key
        self._writing = threading.Lock()
        self._is_stopped = False

    def file(self) -> Path:
        """The file; raises `AddinError` if the demo ends meanwhile."""
        with self._writing:
            if not self._path.exists():
                asyncio.run(self._write())
        return self._path

    def stop(self) -> None:
        """Break the writing off, and return when nothing is written any more."""
        self._is_stopped = True
        with self._writing:
            pass

    async def _write(self) -> None:
        store = open_store(self._settings)
        try:
            async with AsyncClient(self._settings.url, self._key, store=store) as client:
                await write_template(
                    self._path,
                    Session(client),
                    created=datetime.now(UTC),
                    namespace=self._settings.namespace,
                    opens_on="Dashboard",
                    progress=self._go_on,
                )
        finally:
            await store.aclose()

    def _go_on(self, done: int, total: int) -> None:
        if self._is_stopped:
            raise AddinError(f"the demo has ended: {done:,} of {total:,} formulas were filled in")
