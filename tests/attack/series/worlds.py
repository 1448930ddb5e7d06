"""Random series of a known rhythm: with gaps, holidays, leap years, offsets within the period, and odd ends."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Any

import numpy as np

from dataservice.observations import Observations

DAY = timedelta(days=1)

Array = np.ndarray[Any, Any]

MONTHS = {"monthly": 1, "quarterly": 3, "half-yearly": 6, "yearly": 12}
WEEKS = {"weekly": 1, "biweekly": 2}
DAYS = ("daily", "business daily")
KINDS = (*DAYS, *WEEKS, *MONTHS, "several a day", "irregular")

LENGTHS = {"daily": 480, "business daily": 420, "weekly": 150, "biweekly": 90, "monthly": 90, "quarterly": 50}
LENGTHS |= {"half-yearly": 40, "yearly": 36, "several a day": 160, "irregular": 70}


@dataclass(frozen=True)
class World:
    """One series: its rhythm, its observations, and the number of the period that each of them was made for."""

    kind: str
    times: Array
    values: Array
    numbers: Array

    @cached_property
    def observations(self) -> Observations:
        """The series as the client has it."""
        return Observations(self.times, self.values)

    @cached_property
    def labels(self) -> Array:
        """When its observations are: their days, and their times where there are several a day."""
        return (
            self.times if self.kind == "several a day" else self.times.astype("datetime64[D]").astype(self.times.dtype)
        )

    @property
    def days(self) -> list[date]:
        """The day of each observation."""
        days: list[date] = self.times.astype("datetime64[D]").tolist()
        return days


def world(dice: random.Random, kind: str, first: date | None = None) -> World:
    """A random series of a kind."""
    first = first or date(dice.randint(1985, 2021), dice.randint(1, 12), dice.randint(1, 28))
    days = list(_days(dice, kind, first, int(LENGTHS[kind] * dice.uniform(0.6, 1))))
    gaps = set() if dice.random() < 0.3 else set(dice.sample(range(len(days)), len(days) // dice.choice((12, 25, 60))))
    gaps -= set(range(len(days) - 3, len(days)))
    if kind in DAYS and dice.random() < 0.3:  # a pause of weeks, which is a gap
        begin = dice.randrange(len(days) // 2)
        gaps |= set(range(begin, begin + dice.randint(11, 25)))
    kept = [each for place, each in enumerate(days) if place not in gaps]
    clock = time(16) if kind != "several a day" and dice.random() < 0.3 else time()
    times = [when if isinstance(when, datetime) else datetime.combine(when, clock) for _, when in kept]
    values, numbers = _values(dice, len(kept)), [number for number, _ in kept]
    return World(kind, np.array(times, "datetime64[us]"), np.array(values), np.array(numbers))


def _values(dice: random.Random, count: int) -> list[float]:
    level, found = dice.choice((1.0, 100.0, 3000.0)), []
    signed = dice.random() < 0.15
    for _ in range(count):
        level *= 1 + dice.gauss(0.001, 0.02)
        found.append(round(level - (100.0 if signed else 0.0), 4))
    if dice.random() < 0.2:
        for place in dice.sample(range(count), min(3, count - 3)):
            found[place] = float("nan")
    return found


def _days(dice: random.Random, kind: str, first: date, count: int) -> Iterator[tuple[int, date | datetime]]:
    if kind in DAYS:
        yield from _daily(first, count, kind == "business daily")
    elif kind in WEEKS:
        yield from _weekly(dice, first, count, 7 * WEEKS[kind])
    elif kind in MONTHS:
        yield from _by_months(dice, first, count, MONTHS[kind])
    elif kind == "several a day":
        for number in range(count):
            yield number, datetime.combine(first + DAY * (number // 8), time(9 + number % 8, dice.choice((0, 30))))
    else:
        day = first
        for number in range(count):
            yield number, day
            day += DAY * dice.choice((2, 3, 5, 11, 17, 23, 29, 37))


def _daily(first: date, count: int, business: bool) -> Iterator[tuple[int, date]]:
    day, number = first, 0
    while number < count:
        if not business or day.weekday() < 5:
            yield number, day
            number += 1
        day += DAY


def _weekly(dice: random.Random, first: date, count: int, width: int) -> Iterator[tuple[int, date]]:
    """On one weekday, on the day before it where that is a holiday."""
    for number in range(count):
        yield number, first + DAY * (width * number - (dice.random() < 0.03))


def _by_months(dice: random.Random, first: date, count: int, months: int) -> Iterator[tuple[int, date]]:
    """On the first, the last, the last business day, or around the day of a release."""
    place = dice.choice(("first", "last", "business", "release"))
    around = dice.randint(10, 20)
    for number in range(count):
        month = first.year * 12 + first.month - 1 + months * number
        begin = date(month // 12, month % 12 + 1, 1)
        last = (begin + DAY * 31).replace(day=1) - DAY
        match place:
            case "first":
                yield number, begin
            case "last":
                yield number, last
            case "business":
                yield number, last - DAY * max(0, last.weekday() - 4)
            case _:
                yield number, begin.replace(day=around + dice.randint(-3, 3))
