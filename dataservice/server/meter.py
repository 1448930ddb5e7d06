"""The monthly allowance: counted in the database, so that any number of processes share one cap (contract: Limits)."""

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite

from dataservice.server.database import Database
from dataservice.server.instants import Clock, month_of, utc_now
from dataservice.server.keys import KeyRecord
from dataservice.server.schema import usage


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
