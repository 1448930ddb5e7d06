"""The template, filled from a service, as the book that the demo opens."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime
from pathlib import Path

from addin.errors import AddinError
from addin.workbook.template.build import write_template
from dataservice.client import AsyncClient
from udfs import Session

NAME = "workbook_template.xlsx"


class ExampleBook:
    """The filled template in a folder, written when it is first asked for, which takes seconds."""

    def __init__(self, folder: Path, service_url: str, key: str, namespace: str) -> None:
        self._path = folder / NAME
        self._service_url = service_url
        self._key = key
        self._namespace = namespace
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
        async with AsyncClient(self._service_url, self._key) as client:
            await write_template(
                self._path,
                Session(client),
                created=datetime.now(UTC),
                namespace=self._namespace,
                progress=self._go_on,
            )

    def _go_on(self, done: int, total: int) -> None:
        if self._is_stopped:
            raise AddinError(f"the demo has ended: {done:,} of {total:,} formulas were filled in")
