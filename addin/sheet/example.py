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
    """A function that returns the file: writing it begins now, in a thread, and whoever calls early waits."""
    file = folder / NAME
    failures: list[Exception] = []

    def write() -> None:
        try:
            asyncio.run(_write(file, service_url, key, namespace))
        except Exception as error:  # noqa: BLE001 - handed to whoever asks for the file
            failures.append(error)

    writing = threading.Thread(target=write, name="write the template", daemon=True)
    writing.start()

    def written() -> Path:
        writing.join()
        if failures:
            raise failures[0]
        return file

    try:
        yield written
    finally:
        writing.join()  # so that nothing is written into a folder that is being removed


async def _write(file: Path, service_url: str, key: str, namespace: str) -> None:
    async with AsyncClient(service_url, key) as client:
        await write_template(file, Session(client), created=datetime.now(UTC), namespace=namespace)
