"""The template, filled from a service, as the book that the demo opens."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from addin.workbook.template.build import write_template
from dataservice.client import AsyncClient
from udfs import Session

NAME = "workbook_template.xlsx"


@contextmanager
def example_book(folder: Path, service_url: str, key: str, namespace: str) -> Iterator[Callable[[], Path]]:
    """A function that returns the file, which the first call writes; the end of the block waits for that."""
    file = folder / NAME
    writing = threading.Lock()

    def written() -> Path:
        with writing:
            if not file.exists():
                asyncio.run(_write(file, service_url, key, namespace))
        return file

    try:
        yield written
    finally:
        with writing:
            pass


async def _write(file: Path, service_url: str, key: str, namespace: str) -> None:
    async with AsyncClient(service_url, key) as client:
        await write_template(file, Session(client), created=datetime.now(UTC), namespace=namespace)
