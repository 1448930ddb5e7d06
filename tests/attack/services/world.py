"""A variant of the embedded service in memory, on two days, and the truth that it holds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import orjson

from dataservice.server import Store, create_app, import_directory, write_sample
from dataservice.server.variants import Rows, Variant, VariantMiddleware, told_in_windows, true_rows

FIRST_DAY, LATER_DAY = date(2026, 8, 31), date(2026, 9, 15)
"""Two weeks apart: some values of the sample were revised between them, some came, one was withdrawn."""

SHOWN_DAYS = {"from-ten-years-ago": 3_653, "from-a-year-ago": 366}
"""Days before the newest observation that windows show anything of, whatever is asked."""

DETAIL_ROWS = 365

URL = "https://data.example"


def noon(day: date) -> float:
    """The middle of a day, in seconds since the epoch."""
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp()


@dataclass(frozen=True)
class Databases:
    """The sample of both days, served to one key."""

    paths: tuple[Path, Path]
    key: str
    kept: tuple[dict[tuple[Any, ...], Any], dict[tuple[Any, ...], Any]] = field(default_factory=lambda: ({}, {}))

    @classmethod
    def made(cls, folder: Path) -> Databases:
        """Made in a folder, once for all variants."""
        first, later = folder / "first.db", folder / "later.db"
        with Store(first) as store:
            key = store.create_key("enterprise")
        shutil.copy(first, later)
        for path, day in ((first, FIRST_DAY), (later, LATER_DAY)):
            write_sample(folder / str(day), as_of=day)
            with Store(path) as store:
                import_directory(store, folder / str(day))
        return cls((first, later), key)


@dataclass
class Truth:
    """What is true in a variant on one day, whatever it takes to find out."""

    store: Store
    variant: Variant
    today: date
    _rows: dict[str, Rows] = field(default_factory=dict)

    def rows(self, slug: str) -> Rows:
        """The observations that have a value, oldest first."""
        if slug not in self._rows:
            found = true_rows(self.store, slug, self.variant) or []
            self._rows[slug] = [row for row in found if row[1] is not None]
        return self._rows[slug]

    def tellings(self, slug: str) -> list[Rows]:
        """The same as details tell them, and as windows do: a cell shows one of the two, and nothing of both."""
        rows = self.rows(slug)
        told = [row for row in told_in_windows(rows, self.variant) if row[0].date() <= self.today]
        days = SHOWN_DAYS.get(self.variant["window-longest"])
        if days is not None and told:
            shown = [row for row in told if row[0] > rows[-1][0] - timedelta(days=days)]
            if not shown or self._first_in_detail(slug) < shown[0][0]:
                return [rows]  # the detail shows that there are others
            return [rows, *(told[-count:] for count in range(len(shown), len(shown) + DETAIL_ROWS))]
        return [rows, told]

    def _first_in_detail(self, slug: str) -> datetime:
        """The time of the first row with a value that a detail shows; rows without one take places there, too."""
        places = true_rows(self.store, slug, self.variant) or []
        return next(at for at, value in places[-DETAIL_ROWS:] if value is not None)

    @cached_property
    def catalogue(self) -> list[dict[str, Any]]:
        """The signals."""
        return _plain(self.store.signals(limit=500, offset=0).items)

    @cached_property
    def wire(self) -> list[dict[str, Any]]:
        """The wire, newest first."""
        return _plain(self.store.wire(limit=10_000))

    @cached_property
    def posts(self) -> list[dict[str, Any]]:
        """The codex, newest first."""
        return _plain(self.store.posts(limit=10_000))

    @cached_property
    def indices(self) -> list[dict[str, Any]]:
        """The indices."""
        return _plain(self.store.indices())

    @cached_property
    def currents(self) -> list[dict[str, Any]]:
        """The currents."""
        return _plain(self.store.currents())


def _plain(records: Any) -> list[dict[str, Any]]:
    plain: list[dict[str, Any]] = json.loads(orjson.dumps(records))
    return plain


class KeptStore(Store):
    """A database whose series are read once for all variants."""

    def __init__(self, path: Path, kept: dict[tuple[Any, ...], Any]) -> None:
        super().__init__(path)
        self._kept = kept

    def observations(self, slug: str, **window: Any) -> Any:
        """The same page as before."""
        asked = (slug, *window.values())
        if asked not in self._kept:
            self._kept[asked] = super().observations(slug, **window)
        return self._kept[asked]


class World(httpx.AsyncBaseTransport):
    """A service on one of two days; notes what it was asked."""

    def __init__(self, databases: Databases, variant: Mapping[str, str], folder: Path) -> None:
        self.variant = Variant(variant)
        self.key = databases.key
        self.asked: list[str] = []
        self._stores = [
            KeptStore(shutil.copy(path, folder / path.name), kept)
            for path, kept in zip(databases.paths, databases.kept, strict=True)
        ]
        self._inner = [
            httpx.ASGITransport(VariantMiddleware(create_app(store), store, self.variant)) for store in self._stores
        ]
        days = (FIRST_DAY, LATER_DAY)
        self.truths = [Truth(store, self.variant, day) for store, day in zip(self._stores, days, strict=True)]
        self.day = 0

    @property
    def truth(self) -> Truth:
        """What is true today."""
        return self.truths[self.day]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer as the service of today."""
        self.asked.append(request.url.raw_path.decode())
        return await self._inner[self.day].handle_async_request(request)

    def close(self) -> None:
        """Close the databases."""
        for store in self._stores:
            store.close()


@contextmanager
def world_of(databases: Databases, variant: Mapping[str, str], folder: Path) -> Iterator[World]:
    """A service that is closed afterwards."""
    world = World(databases, variant, folder)
    try:
        yield world
    finally:
        world.close()
