"""What a made-up series shows on a day: estimates that are revised later, late values, and withdrawn ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from random import Random

from dataservice.server.sample.signals import Walk

REVISION_DAY = 12
"""On this day of each month, last month's value gets its second estimate, and that of the month before its third."""


@dataclass(frozen=True)
class Estimates:
    """A monthly value is estimated `count` times; the last estimate is final, the first is off by about `error`."""

    count: int
    error: float


ESTIMATES = {"us-cpi": Estimates(3, 0.3), "us-unemployment": Estimates(2, 0.12), "survey.pmi": Estimates(2, 0.5)}

LATE = {"eia.henry-hub": (20, 5)}
"""The value of this day of a month appears so many days later, when newer ones are there already."""

WITHDRAWN = {"pm.rate-cut": (10, 3)}
"""The value of this day of a month vanishes so many days later."""


def as_known(final: Walk, *, as_of: date, seed: int) -> Walk:
    """Return what the service shows of a walk on the day `as_of`."""
    slug = final.signal.slug
    if slug in ESTIMATES:
        return _estimated(final, ESTIMATES[slug], as_of, seed)
    shown = [_is_shown(slug, day, as_of) for day in final.days]
    days = [day for day, is_shown in zip(final.days, shown, strict=True) if is_shown]
    values = [value for value, is_shown in zip(final.values, shown, strict=True) if is_shown]
    return replace(final, days=days, values=values)


def estimates_known(month: date, as_of: date) -> int:
    """How many estimates of a month's value are out: one from its first day on, one more on each revision day after.

    >>> [estimates_known(date(2026, 6, 1), date(2026, 7, day)) for day in (11, 12)]
    [1, 2]
    """
    months = (as_of.year - month.year) * 12 + as_of.month - month.month
    return max(1, months + (1 if as_of.day >= REVISION_DAY else 0))


def _estimated(final: Walk, estimates: Estimates, as_of: date, seed: int) -> Walk:
    values = []
    for day, value in zip(final.days, final.values, strict=True):
        random = Random(f"{seed}/{final.signal.slug}/{day}")  # noqa: S311  made-up errors, no secrets
        left = max(0, estimates.count - estimates_known(day, as_of)) / (estimates.count - 1)
        error = estimates.error * random.gauss(0, 1) * left
        values.append(round(value + error, final.signal.decimals))
    return replace(final, values=values)


def _is_shown(slug: str, day: date, as_of: date) -> bool:
    late_on, late_days = LATE.get(slug, (0, 0))
    withdrawn_on, kept_days = WITHDRAWN.get(slug, (0, 0))
    if day.day == late_on:
        return as_of >= day + timedelta(days=late_days)
    if day.day == withdrawn_on:
        return as_of < day + timedelta(days=kept_days)
    return True
