"""API keys: their form, what their tier allows, and what they spent (contract: Authentication, Limits)."""

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, bindparam, func, insert, select, update

from dataservice.server.db.counting import Account, Counted, RequestCounter
from dataservice.server.db.database import Database, api_keys, usage
from dataservice.server.timestamps import Clock, instant, microseconds, month_of, utc_now

_KEY = re.compile(r"ds_[0-9a-f]{40}", re.ASCII)

_KEY_BYTES = 20
"""40 hexadecimal characters."""

_ID_LENGTH = 12
"""Characters of the hash: enough to tell keys apart, not enough to be a secret."""


class Tier(StrEnum):
    """The plan of a key: decides the monthly cap and whether the wire may be read."""

    FREE = "free"
    PRO = "pro"
    ENTERPRISE = "enterprise"

    @property
    def cap(self) -> int:
        """Requests a month."""
        return {Tier.FREE: 1_000, Tier.PRO: 50_000, Tier.ENTERPRISE: 1_000_000}[self]

    @property
    def reads_wire(self) -> bool:
        """Return whether /v1/wire is open."""
        return self is not Tier.FREE


@dataclass(frozen=True)
class KeyRecord:
    """A key as the service knows it: never the key itself."""

    key_hash: str
    tier: Tier
    cap: int
    label: str
    created_at: datetime
    revoked_at: datetime | None
    used: int
    """Requests spent in the current month."""

    @property
    def id(self) -> str:
        """The short name the command line uses."""
        return self.key_hash[:_ID_LENGTH]


def hash_key(key: str) -> str:
    """The SHA-256 of a key, in hexadecimal.

    A key is 160 random bits, so there is no dictionary to try: a slow or salted hash would only cost every request
    time, and the plain one can be looked up by an index.
    """
    return hashlib.sha256(key.encode()).hexdigest()


class Keys:
    """The keys of one database, and the requests they spent; usage is counted by calendar month in UTC."""

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock
        self._counter = RequestCounter(database)

    def create(self, tier: Tier | str = Tier.FREE, *, cap: int | None = None, label: str = "") -> str:
        """A new key, shown this once; `cap` replaces the tier's monthly cap."""
        tier = Tier(tier)
        if cap is not None and cap < 1:
            raise ValueError(f"cap must be at least 1 request a month, not {cap}")
        key = f"ds_{secrets.token_hex(_KEY_BYTES)}"
        row = {
            "key_hash": hash_key(key),
            "tier": tier.value,
            "cap": tier.cap if cap is None else cap,
            "label": label,
            "created_at_us": microseconds(self._clock()),
        }
        with self._database.writing() as connection:
            connection.execute(insert(api_keys).values(row))
        return key

    def find(self, key: str) -> KeyRecord | None:
        """Return what is known of a key, unless it is malformed, unknown or revoked."""
        if not _KEY.fullmatch(key):
            return None
        query = _KEYS.where(api_keys.c.key_hash == hash_key(key), api_keys.c.revoked_at_us.is_(None))
        with self._database.reading() as connection:
            row = connection.execute(query, {"month": month_of(self._clock())}).first()
        return None if row is None else _record(row)

    def records(self) -> list[KeyRecord]:
        """Every key, oldest first, revoked ones too."""
        query = _KEYS.order_by(api_keys.c.created_at_us, api_keys.c.key_hash)
        with self._database.reading() as connection:
            rows = connection.execute(query, {"month": month_of(self._clock())})
            return [_record(row) for row in rows]

    def revoke(self, record: KeyRecord) -> None:
        """Refuse a key from now on."""
        change = update(api_keys).where(api_keys.c.key_hash == record.key_hash)
        with self._database.writing() as connection:
            connection.execute(change.values(revoked_at_us=microseconds(self._clock())))

    def account(self, record: KeyRecord) -> Account:
        """Return where a request of now is counted."""
        return Account(record.key_hash, month_of(self._clock()), record.cap)

    def count(self, record: KeyRecord) -> Counted | None:
        """Return what one more request makes; None when the month's cap was reached, or the key is no longer valid."""
        return self._counter.count(self.account(record))

    def count_at_once(self, account: Account) -> Counted | None:
        """As `count`, without waiting; raises `BusyError` where that is not possible."""
        return self._counter.count_at_once(account)

    def count_together(self, wanted: Mapping[Account, int]) -> dict[Account, list[Counted | None]]:
        """Return what `count` gives for so many requests of each account, in one transaction."""
        return self._counter.count_together(wanted)

    def close(self) -> None:
        """Close the connection that counts."""
        self._counter.close()


_KEYS = select(api_keys, func.coalesce(usage.c.used, 0).label("used")).select_from(
    api_keys.outerjoin(usage, (usage.c.key_hash == api_keys.c.key_hash) & (usage.c.month == bindparam("month")))
)


def _record(row: Row[Any]) -> KeyRecord:
    return KeyRecord(
        key_hash=row.key_hash,
        tier=Tier(row.tier),
        cap=row.cap,
        label=row.label,
        created_at=instant(row.created_at_us),
        revoked_at=None if row.revoked_at_us is None else instant(row.revoked_at_us),
        used=row.used,
    )
