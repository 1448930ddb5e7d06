"""The store of the embedded service: data, keys and usage in one database."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import orjson
from sqlalchemy import ColumnElement, Connection, Integer, Select, Table, bindparam, exists, func, select

from dataservice.server.db.database import (
    Database,
    currents,
    indices,
    observations,
    posts,
    signals,
    wire_items,
    wire_tickers,
)
from dataservice.server.db.keys import Keys, Tier
from dataservice.server.timestamps import Clock, instant, microseconds, utc_now

Record = orjson.Fragment
"""A stored record: JSON text that goes into an answer as it is."""

Observation = dict[str, Any]
"""`{"observed_at": datetime in UTC, "value": float}`."""

Item = TypeVar("Item")

KNOWN_TIMES = 65_536
"""Times that are kept as date-times: the series of one database share most of their days."""

_moment = lru_cache(maxsize=KNOWN_TIMES)(instant)


@dataclass(frozen=True)
class StoredSignal:
    """A signal's definition with its newest observations, oldest first."""

    record: dict[str, Any]
    latest: Observation | None
    history: list[Observation]


@dataclass(frozen=True)
class Page(Generic[Item]):
    """Part of a list, and how many items the whole list has."""

    items: list[Item]
    total: int


class Store:
    """The embedded service's data, keys and usage.

    `location` is the path of a SQLite file (made when it is missing) or a SQLAlchemy URL such as
    `postgresql+psycopg://user@host/name`. `clock` tells the time, which decides the month that is counted.

        with Store("team.db") as store:
            import_directory(store, Path("team-data"))
            key = store.create_key("pro")
    """

    def __init__(self, location: str | Path, *, clock: Clock = utc_now) -> None:
        self.database = Database(location)
        self.keys = Keys(self.database, clock=clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the database."""
        self.keys.close()
        self.database.close()

    def create_key(self, tier: Tier | str = Tier.FREE, *, cap: int | None = None, label: str = "") -> str:
        """A new API key; `cap` replaces the tier's monthly cap."""
        return self.keys.create(tier, cap=cap, label=label)

    def usage(self, key: str) -> int:
        """The requests a key spent this month; 0 for a key that is not valid."""
        record = self.keys.find(key)
        return 0 if record is None else record.used

    def is_empty(self) -> bool:
        """Return whether there is no signal yet."""
        with self.database.reading() as connection:
            return connection.execute(select(signals.c.id).limit(1)).first() is None

    def signals(self, *, limit: int, offset: int, category: str | None = None) -> Page[Record]:
        """The catalogue in the order of its slugs."""
        found = [] if category is None else [signals.c.category == _text(category)]
        query = select(signals.c.record).where(*found).order_by(signals.c.slug).limit(limit).offset(offset)
        with self.database.reading() as connection:
            total = connection.execute(select(func.count()).select_from(signals).where(*found)).scalar_one()
            return Page(_records(connection, query), total)

    def signal(self, slug: str, *, history: int) -> StoredSignal | None:
        """A signal with its newest `history` observations, or None when there is no such signal."""
        with self.database.reading() as connection:
            found = _find_signal(connection, slug)
            if found is None:
                return None
            # The newest is the latest, also when no history is asked for.
            rows = _observations(connection.execute(_NEWEST, {"id": found.id, "most": max(history, 1)}).all())
        latest = rows[0] if rows else None
        return StoredSignal(orjson.loads(found.record), latest, rows[:history][::-1])

    def observations(
        self, slug: str, *, start: datetime | None, before: datetime | None, limit: int, offset: int
    ) -> Page[Observation] | None:
        """Observations from `start` on and before `before`, oldest first, or None when there is no such signal."""
        at = observations.c.observed_at_us
        with self.database.reading() as connection:
            found = _find_signal(connection, slug)
            if found is None:
                return None
            window = [observations.c.signal_id == found.id]
            window += [] if start is None else [at >= microseconds(start)]
            window += [] if before is None else [at < microseconds(before)]
            total = connection.execute(select(func.count()).select_from(observations).where(*window)).scalar_one()
            page = select(at, observations.c.value).where(*window).order_by(at).limit(limit).offset(offset)
            return Page(_observations(connection.execute(page).all()), total)

    def indices(self) -> list[Record]:
        """Every index, in the order of their slugs."""
        return self._records(select(indices.c.record).order_by(indices.c.slug))

    def currents(self) -> list[Record]:
        """Every current, in the order of their slugs."""
        return self._records(select(currents.c.record).order_by(currents.c.slug))

    def posts(
        self,
        *,
        limit: int,
        since: datetime | None = None,
        handle: str | None = None,
        beat: str | None = None,
        story_type: str | None = None,
    ) -> list[Record]:
        """Research posts, newest first; None leaves a filter out."""
        conditions = _published(posts, since, handle=handle, beat=beat, story_type=story_type)
        order = (posts.c.published_at_us.desc(), posts.c.slug)
        return self._records(select(posts.c.record).where(*conditions).order_by(*order).limit(limit))

    def wire(
        self,
        *,
        limit: int,
        since: datetime | None = None,
        min_importance: int = 0,
        kind: str | None = None,
        beat: str | None = None,
        ticker: str | None = None,
        source: str | None = None,
    ) -> list[Record]:
        """Wire items, newest first; None leaves a filter out."""
        items = wire_items.c
        conditions = _published(wire_items, since, kind=kind, beat=beat, source=source)
        if min_importance > 0:
            conditions.append(items.importance_score >= min_importance)
        if ticker is not None:
            named = (wire_tickers.c.wire_item_id == items.id) & (wire_tickers.c.ticker == _text(ticker))
            conditions.append(exists().where(named))
        order = (items.published_at_us.desc(), items.uuid)
        return self._records(select(items.record).where(*conditions).order_by(*order).limit(limit))

    def _records(self, query: Select[tuple[str]]) -> list[Record]:
        with self.database.reading() as connection:
            return _records(connection, query)


def _text(value: str) -> str:
    """A value to compare with; PostgreSQL refuses NUL in text, and no record holds what stands in its place."""
    return value.replace("\0", "\ufffd")


def _published(table: Table, since: datetime | None, **equal: str | None) -> list[ColumnElement[bool]]:
    conditions = [table.c[name] == _text(value) for name, value in equal.items() if value is not None]
    return conditions if since is None else [*conditions, table.c.published_at_us >= microseconds(since)]


_SIGNAL = select(signals.c.id, signals.c.record).where(signals.c.slug == bindparam("slug"))

_NEWEST = (
    select(observations.c.observed_at_us, observations.c.value)
    .where(observations.c.signal_id == bindparam("id"))
    .order_by(observations.c.observed_at_us.desc())
    .limit(bindparam("most", type_=Integer))
)
"""Both are asked for each new signal; making a statement takes longer than executing it."""


def _find_signal(connection: Connection, slug: str) -> Any:
    return connection.execute(_SIGNAL, {"slug": _text(slug)}).first()


def _records(connection: Connection, query: Select[tuple[str]]) -> list[Record]:
    return [Record(text) for text in connection.execute(query).scalars()]


def _observations(rows: Sequence[Any]) -> list[Observation]:
    return [{"observed_at": _moment(at), "value": value} for at, value in rows]
