"""Made-up values: random walks on calendars, from a seed, so that everyone gets the same."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from dataservice.server.sample.catalogue import MadeUpSignal

DAILY_YEARS = 6  # more than one page of 1,000 observations
MONTHLY_YEARS = 20
_STEPS_A_YEAR = {"daily": 365, "weekdays": 260, "monthly": 12}
# How much of the way back to its level a series goes in a year; 3 keeps it near without pinning it.
_RETURN_A_YEAR = 3.0
# A level never falls below this share of itself: yields, volatilities and probabilities stay positive.
_FLOOR = 0.15
_SATURDAY = 5


@dataclass(frozen=True)
class Walk:
    """The observations of a made-up signal, oldest first."""

    signal: MadeUpSignal
    days: list[date]
    values: list[float]

    def change_pct(self, steps: int) -> float:
        """By how many percent the last value differs from the one so many steps before."""
        return 100 * (self.values[-1] / self.values[-1 - steps] - 1)

    @property
    def steps_a_year(self) -> int:
        """Observations a year."""
        return _STEPS_A_YEAR[self.signal.calendar]


def walk(signal: MadeUpSignal, *, as_of: date, seed: int) -> Walk:
    """A signal's observations up to a day, the same for the same seed."""
    random = Random(f"{seed}/{signal.slug}")  # noqa: S311  made-up prices, no secrets
    days = list(_days(signal.calendar, as_of))
    make = _price if signal.walk == "price" else _level
    return Walk(signal, days, [round(value, signal.decimals) for value in make(signal, len(days), random)])


def _days(calendar: str, as_of: date) -> Iterator[date]:
    if calendar == "monthly":
        last = as_of.year * 12 + as_of.month - 1
        for month in range(last - MONTHLY_YEARS * 12, last + 1):
            yield date(month // 12, month % 12 + 1, 1)
        return
    first = as_of - timedelta(days=DAILY_YEARS * 365)
    for number in range((as_of - first).days + 1):
        day = first + timedelta(days=number)
        if calendar == "daily" or day.weekday() < _SATURDAY:
            yield day


def _price(signal: MadeUpSignal, count: int, random: Random) -> Iterator[float]:
    steps = _STEPS_A_YEAR[signal.calendar]
    drift = signal.drift / 100 / steps
    spread = signal.volatility / 100 / math.sqrt(steps)
    value = signal.around
    for _ in range(count):
        yield value
        value *= math.exp(drift + spread * random.gauss(0, 1))


def _level(signal: MadeUpSignal, count: int, random: Random) -> Iterator[float]:
    steps = _STEPS_A_YEAR[signal.calendar]
    pull = _RETURN_A_YEAR / steps
    spread = signal.volatility / 100 * signal.around / math.sqrt(steps)
    value = signal.around
    for _ in range(count):
        yield value
        value += pull * (signal.around - value) + spread * random.gauss(0, 1)
        value = max(value, _FLOOR * signal.around)
