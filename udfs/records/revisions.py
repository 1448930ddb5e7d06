"""The last revision of a signal that was seen: which value changed, by how much, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np

from dataservice.client import Vintages
from udfs.records.fields import day_or_moment


@dataclass(frozen=True, slots=True)
class Revision:
    """A value that the look at `first_seen` showed to have changed, and the look at `not_before` did not yet."""

    observed_at: date
    before: float | None
    """None for an observation that had vanished."""
    value: float | None
    """None for one that vanished."""
    first_seen: datetime
    not_before: datetime

    @property
    def text(self) -> str:
        """Return what changed, in a few words.

        >>> seen = datetime(2026, 9, 15, tzinfo=UTC)
        >>> Revision(date(2026, 8, 1), 104.2, 104.5, seen, seen).text
        '2026-08-01: 104.2 → 104.5 (+0.3)'
        """
        if self.value is None:
            return f"{self.observed_at}: {_number(self.before)} vanished"
        if self.before is None:
            return f"{self.observed_at}: {_number(self.value)} appeared again"
        change = Decimal(repr(self.value)) - Decimal(repr(self.before))
        return f"{self.observed_at}: {_number(self.before)} → {_number(self.value)} ({float(change):+,.10g})"

    @property
    def since(self) -> str:
        """The day of the last look that did not show it yet, in words."""
        return f"not before {self.not_before:%Y-%m-%d}"


def revision_count(vintages: Vintages) -> int:
    """Return how many revisions were seen; new observations are none."""
    return len(vintages.revised()[0])


def last_revision(vintages: Vintages) -> Revision | None:
    """The revision seen last; of several seen at once that of the newest observation."""
    facts, before = vintages.revised()
    if not len(facts):
        return None
    place = int(np.flatnonzero(facts.first_seen == facts.first_seen.max())[-1])
    return Revision(
        day_or_moment(facts.times[place].item().replace(tzinfo=UTC)),
        _value(before[place]),
        _value(facts.values[place]),
        _moment(facts.first_seen[place]),
        _moment(facts.not_before[place]),
    )


def _value(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.10g}"


def _moment(micros: np.int64) -> datetime:
    return datetime.fromtimestamp(int(micros) // 1_000_000, UTC)
