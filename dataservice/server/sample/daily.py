"""The made-up data of the day in a store: as days pass they grow and are revised, as a real service's are."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
from sqlalchemy.exc import DBAPIError

from dataservice.server.db.repository import Store
from dataservice.server.errors import ServiceError
from dataservice.server.imports.importer import import_directory
from dataservice.server.sample.directory import write_sample
from dataservice.server.sample.signals import SOURCE
from dataservice.server.timestamps import Clock, utc_now

CHECK_EVERY_S = 30.0
"""So long after midnight (UTC) at most, the new day's data are shown."""

_logger = logging.getLogger("dataservice.server")


class DailySample:
    """The made-up data in `store`, those of the day that `clock` tells.

    Raises `ServiceError` if the store holds other data, which would be lost.
    """

    def __init__(self, store: Store, *, clock: Clock = utc_now) -> None:
        if not _is_made_up(store):
            raise ServiceError(
                f"{store.database} holds data that are not made up: name another database for the sample"
            )
        self._store = store
        self._clock = clock
        self._day: date | None = None

    def update(self) -> bool:
        """Show the data of the day, all at once; whether they were not shown already."""
        day = self._clock().date()
        if day == self._day:
            return False
        with TemporaryDirectory(prefix="dataservice-sample-") as folder:
            write_sample(folder, as_of=day)
            import_directory(self._store, Path(folder))
        self._day = day
        return True

    @contextmanager
    def following(self, *, check_every_s: float = CHECK_EVERY_S) -> Iterator[None]:
        """Inside the block, update in the background whenever another day begins."""
        ended = threading.Event()
        thread = threading.Thread(target=self._follow, args=(ended, check_every_s), name="sample", daemon=True)
        self.update()
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _follow(self, ended: threading.Event, check_every_s: float) -> None:
        while not ended.wait(check_every_s):
            try:
                self.update()
            except (DBAPIError, OSError, ServiceError) as error:  # a full disk, say: the old day stays, and it goes on
                _logger.warning("the made-up data of the new day cannot be shown yet: %s", error)


def _is_made_up(store: Store) -> bool:
    """Return whether every signal of the store is of the sample; an empty store holds nothing else."""
    page = store.signals(limit=1_000, offset=0)
    sources = {orjson.loads(orjson.dumps(record)).get("source") for record in page.items}
    return page.total == len(page.items) and sources <= {SOURCE}
