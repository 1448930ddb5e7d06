"""A session on the made-up data set with its clock held still: what the template's example values come from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from dataservice.client import AsyncClient
from udfs import Session

__all__ = ["EXAMPLE_DAY", "example_session"]

EXAMPLE_DAY = date(2026, 8, 31)
"""The last day of the made-up data: fixed, so that the template is the same file on every machine."""


@asynccontextmanager
async def example_session(day: date = EXAMPLE_DAY) -> AsyncIterator[Session]:
    """A session with a Pro key on an embedded service with the made-up data set up to `day`; the time is its noon."""
    # The server's part is loaded only here: no other command of a workbook needs it.
    from dataservice.server import Store, import_directory, running, write_sample

    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp()
    with TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        write_sample(data, as_of=day)
        with Store(Path(folder) / "service.db") as store:
            import_directory(store, data)
            with running(store) as service:
                async with AsyncClient(service.url, store.create_key("pro"), clock=lambda: noon) as client:
                    yield Session(client, clock=lambda: noon)
