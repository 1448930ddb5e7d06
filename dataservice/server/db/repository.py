"""Everything the embedded service knows, in one database: the data to read, the keys, and what they spent."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson
from sqlalchemy import ColumnElement, Connection, Table, exists, func, select
from sqlalchemy.dialects import postgresql, sqlite

from dataservice.server.db.database import Database
from dataservice.server.db.keys import KeyRecord, Keys, Tier
from dataservice.server.db.schema import (
    currents,
    indices,
    observations,
    posts,
    signals,
    usage,
    wire_items,
    wire_tickers,
)
from dataservice.server.timestamps import Clock, instant, microseconds, month_of, utc_now


class Meter:
    """Spends the requests of keys; the period is the calendar month in UTC."""

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock
        self._insert = sqlite.insert if database.is_sqlite else postgresql.insert

    def spend(self, record: KeyRecord) -> int | None:
        """The requests left after spending one, or None when the month's cap was already reached.

        One statement decides and counts, so callers in several processes never get more than the cap between them.
        """
        table: Table = usage
        first = self._insert(table).values(key_hash=record.key_hash, month=month_of(self._clock()), used=1)
        statement = first.on_conflict_do_update(
            index_elements=[table.c.key_hash, table.c.month],
            set_={"used": table.c.used + 1},
            where=table.c.used < record.cap,
        ).returning(table.c.used)
        with self._database.writing() as connection:
            used = connection.execute(statement).scalar()
        return None if used is None else record.cap - used


Record = orjson.Fragment
"""A stored record: JSON text that goes into an answer as it is."""

Observation = dict[str, Any]
"""`{"observed_at": datetime in UTC, "value": float}`."""


@dataclass(frozen=True)
class SignalDetail:
    """A signal's definition with its newest observations, oldest first."""

    record: dict[str, Any]
    latest: Observation | None
    history: list[Observation]


@dataclass(frozen=True)
class RecordPage:
    """Some of the catalogue, and how many records there are in all."""

    items: list[Record]
    total: int


@dataclass(frozen=True)
class ObservationPage:
    """Some of a window of observations, oldest first, and how many the window holds."""

    items: list[Observation]
    total: int


@dataclass(frozen=True, kw_only=True)
class PostFilter:
    """Which posts to list; None leaves a filter out."""

    since: datetime | None = None
    handle: str | None = None
    beat: str | None = None
    story_type: str | None = None


@dataclass(frozen=True, kw_only=True)
class WireFilter:
    """Which wire items to list; None leaves a filter out."""

    since: datetime | None = None
    min_importance: int = 0
    kind: str | None = None
    beat: str | None = None
    ticker: str | None = None
    source: str | None = None


class Store:
    """The embedded service's data, keys and counts.

    `location` is the path of a SQLite file (made when it is missing) or a SQLAlchemy URL such as
    `postgresql+psycopg://user@host/name`. `clock` tells the time, which decides the month that is counted.

        with Store("team.db") as store:
            import_directory(store, Path("team-data"))
            key = store.create_key("pro")
    """

    def __init__(self, location: str | Path, *, clock: Clock = utc_now) -> None:
        self.database = Database(location)
        self.keys = Keys(self.database, clock=clock)
        self.meter = Meter(self.database, clock=clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the database."""
        self.database.close()

    def create_key(self, tier: Tier | str = Tier.FREE, *, cap: int | None = None, label: str = "") -> str:
        """A new API key; `cap` replaces the tier's monthly cap."""
        return self.keys.create(tier, cap=cap, label=label)

    def usage(self, key: str) -> int:
        """The requests a key spent this month; 0 for a key that opens nothing."""
        record = self.keys.find(key)
        return 0 if record is None else record.used

    def is_empty(self) -> bool:
        """Whether there is no signal yet."""
        with self.database.reading() as connection:
            return connection.execute(select(signals.c.id).limit(1)).first() is None

    def signals(self, *, limit: int, offset: int, category: str | None = None) -> RecordPage:
        """The catalogue in the order of its slugs."""
        found = [] if category is None else [signals.c.category == _text(category)]
        question = select(signals.c.record).where(*found).order_by(signals.c.slug).limit(limit).offset(offset)
        with self.database.reading() as connection:
            total = connection.execute(select(func.count()).select_from(signals).where(*found)).scalar_one()
            return RecordPage(_records(connection, question), total)

    def signal(self, slug: str, *, history: int) -> SignalDetail | None:
        """A signal with its newest `history` observations, or None when there is no such signal."""
        with self.database.reading() as connection:
            found = _find_signal(connection, slug)
            if found is None:
                return None
            newest = (
                select(observations.c.observed_at_us, observations.c.value)
                .where(observations.c.signal_id == found.id)
                .order_by(observations.c.observed_at_us.desc())
                .limit(max(history, 1))  # the newest is the latest, also when no history is asked for
            )
            rows = [_observation(row) for row in connection.execute(newest)]
        latest = rows[0] if rows else None
        return SignalDetail(orjson.loads(found.record), latest, rows[:history][::-1])

    def observations(
        self, slug: str, *, start: datetime | None, before: datetime | None, limit: int, offset: int
    ) -> ObservationPage | None:
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
            return ObservationPage([_observation(row) for row in connection.execute(page)], total)

    def indices(self) -> list[Record]:
        """Every index, in the order of their slugs."""
        return self._all(indices)

    def currents(self) -> list[Record]:
        """Every current, in the order of their slugs."""
        return self._all(currents)

    def posts(self, wanted: PostFilter, *, limit: int) -> list[Record]:
        """Research posts, newest first."""
        conditions = _equal((posts.c.handle, wanted.handle), (posts.c.beat, wanted.beat))
        conditions += _equal((posts.c.story_type, wanted.story_type))
        if wanted.since is not None:
            conditions.append(posts.c.published_at_us >= microseconds(wanted.since))
        order = (posts.c.published_at_us.desc(), posts.c.slug)
        with self.database.reading() as connection:
            return _records(connection, select(posts.c.record).where(*conditions).order_by(*order).limit(limit))

    def wire(self, wanted: WireFilter, *, limit: int) -> list[Record]:
        """Wire items, newest first."""
        items = wire_items.c
        conditions = _equal((items.kind, wanted.kind), (items.beat, wanted.beat), (items.source, wanted.source))
        if wanted.since is not None:
            conditions.append(items.published_at_us >= microseconds(wanted.since))
        if wanted.min_importance > 0:
            conditions.append(items.importance_score >= wanted.min_importance)
        if wanted.ticker is not None:
            named = (wire_tickers.c.wire_item_id == items.id) & (wire_tickers.c.ticker == _text(wanted.ticker))
            conditions.append(exists().where(named))
        order = (items.published_at_us.desc(), items.uuid)
        with self.database.reading() as connection:
            return _records(connection, select(items.record).where(*conditions).order_by(*order).limit(limit))

    def _all(self, table: Table) -> list[Record]:
        with self.database.reading() as connection:
            return _records(connection, select(table.c.record).order_by(table.c.slug))


def _text(value: str) -> str:
    """A value to compare with; PostgreSQL refuses NUL in text, and no record holds what stands in its place."""
    return value.replace("\0", "\ufffd")


def _equal(*pairs: tuple[Any, str | None]) -> list[ColumnElement[bool]]:
    return [column == _text(value) for column, value in pairs if value is not None]


def _find_signal(connection: Connection, slug: str) -> Any:
    return connection.execute(select(signals.c.id, signals.c.record).where(signals.c.slug == _text(slug))).first()


def _records(connection: Connection, question: Any) -> list[Record]:
    return [Record(text) for text in connection.execute(question).scalars()]


def _observation(row: Any) -> Observation:
    observed_at_us, value = row
    return {"observed_at": instant(observed_at_us), "value": value}
