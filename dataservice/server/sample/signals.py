"""The made-up signals: names everyone in the field knows, with values that wander at random from a seed."""

from __future__ import annotations

import csv
import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from io import StringIO
from random import Random

import msgspec

SOURCE = "Made-up data"

DAILY_YEARS = 6
"""More than one page of 1,000 observations."""

MONTHLY_YEARS = 20

DRAWN_FOR = date(2026, 8, 31)
"""The walks begin so many years before this day. Later days continue them, earlier days lead up to them, so that the
value of a day does not depend on when it is read."""

_STEPS_A_YEAR = {"daily": 365, "weekdays": 260, "monthly": 12}

_RETURN_A_YEAR = 3.0
"""How much of the way back to its level a series goes in a year; 3 keeps it near without pinning it."""

_FLOOR = 0.15
"""A level never falls below this share of itself: yields, volatilities and probabilities stay positive."""

_SATURDAY = 5

_TABLE = """\
slug,shortcode,name,category,signal_type,unit,calendar,walk,around,volatility,drift,decimals,premium,description
us-cpi,CPI,US consumer price index,macro,index,index 2010=100,monthly,price,100,0.7,2.4,3,false,All items
us-unemployment,UNRATE,US unemployment rate,macro,rate,percent,monthly,level,4.6,18,0,1,false,Share of the labour force
us-10y,UST10Y,US Treasury 10-year yield,macro,rate,percent,weekdays,level,3.9,16,0,2,false,Constant maturity
eia.wti.spot,WTI,WTI crude oil spot price,commodities,price,USD per barrel,weekdays,price,64,32,2,2,false,Cushing
wb.gold,GOLD,Gold price,commodities,price,USD per troy ounce,monthly,price,1250,14,4.5,2,false,Monthly average
eia.henry-hub,NATGAS,Henry Hub natural gas price,commodities,price,USD per million Btu,weekdays,level,3.1,45,0,3,false,
sp-500,SPX,S&P 500 index,equities,index,points,weekdays,price,3900,16,7,2,false,"Close, without dividends"
cboe.vix,VIX,VIX volatility index,equities,index,points,weekdays,level,18.5,70,0,2,false,Close
etf.world,WRLD,World equity fund,etf,price,USD,weekdays,price,82,15,6,2,false,
fx.eur-usd,EURUSD,USD per EUR exchange rate,fx,rate,USD per EUR,weekdays,level,1.1,7,0,4,false,
fx.usd-jpy,USDJPY,JPY per USD exchange rate,fx,rate,JPY per USD,weekdays,level,138,9,0,2,false,
btc-usd,BTC,Bitcoin in US dollars,crypto,price,USD,daily,price,29000,55,18,2,false,"Every day, midnight UTC"
eth-usd,ETH,Ether in US dollars,crypto,price,USD,daily,price,1900,65,10,2,true,
pm.rate-cut,,Rate cut at the next meeting,prediction,probability,percent,daily,level,46,60,0,1,true,What a market says
survey.pmi,PMI,Purchasing managers' index,survey,index,points,monthly,level,51.2,7,0,1,false,Above 50 is growth
"""
"""A price grows by `drift` a year and moves by `volatility` a year, both in percent of itself; a level moves by
`volatility` percent of `around` a year and is drawn back to it."""


@dataclass(frozen=True)
class MadeUpSignal:
    """A signal and the walk its values take."""

    slug: str
    shortcode: str
    name: str
    category: str
    signal_type: str
    unit: str
    calendar: str
    walk: str
    around: float
    volatility: float
    drift: float
    decimals: int
    premium: str
    description: str

    @property
    def row(self) -> list[str]:
        """The signal's row in signals.csv, in the order of `COLUMNS`."""
        name = f"{self.name} (made up)"
        kind = (self.category, self.signal_type, SOURCE)
        return [self.slug, self.shortcode, name, *kind, self.description, self.unit, self.premium]


COLUMNS = ["slug", "shortcode", "name", "category", "signal_type", "source", "description", "unit", "is_premium"]

SIGNALS = msgspec.convert(list(csv.DictReader(StringIO(_TABLE))), list[MadeUpSignal], strict=False)


@dataclass(frozen=True)
class Walk:
    """The observations of a made-up signal, oldest first."""

    signal: MadeUpSignal
    days: list[date]
    values: list[float]

    def until(self, last: date) -> Walk:
        """The walk up to `last`, which is included."""
        count = bisect_right(self.days, last)
        return replace(self, days=self.days[:count], values=self.values[:count])

    def change_pct(self, steps: int) -> float:
        """By how many percent the last value differs from the one so many steps before."""
        return 100 * (self.values[-1] / self.values[-1 - steps] - 1)

    @property
    def steps_a_year(self) -> int:
        """Observations a year."""
        return _STEPS_A_YEAR[self.signal.calendar]


def walk(signal: MadeUpSignal, *, as_of: date, seed: int) -> Walk:
    """A signal's final values up to a day, the same for the same seed; a day's value is the same in every walk."""
    origin = _first_day(signal.calendar, DRAWN_FOR)
    start = min(origin, _first_day(signal.calendar, as_of))  # a series does not lose its beginning as days pass
    before = list(_days(signal.calendar, start, origin - timedelta(days=1)))
    since = list(_days(signal.calendar, origin, as_of))
    values = [*reversed(_backwards(signal, len(before), seed)), *_forwards(signal, len(since), seed)]
    drawn = Walk(signal, before + since, [round(value, signal.decimals) for value in values])
    return drawn.until(as_of)


def _first_day(calendar: str, as_of: date) -> date:
    if calendar == "monthly":
        return as_of.replace(year=as_of.year - MONTHLY_YEARS, day=1)
    return as_of - timedelta(days=DAILY_YEARS * 365)


def _days(calendar: str, first: date, last: date) -> Iterator[date]:
    for number in range((last - first).days + 1):
        day = first + timedelta(days=number)
        if calendar == "daily" or (day.day == 1 if calendar == "monthly" else day.weekday() < _SATURDAY):
            yield day


def _forwards(signal: MadeUpSignal, count: int, seed: int) -> list[float]:
    """The first values of the walk from its origin on."""
    random = Random(f"{seed}/{signal.slug}")  # noqa: S311  made-up prices, no secrets
    return list(_price(signal, count, random) if signal.walk == "price" else _level(signal, count, random))


def _backwards(signal: MadeUpSignal, count: int, seed: int) -> list[float]:
    """The values before the origin, the nearest first."""
    random = Random(f"{seed}/{signal.slug}/before")  # noqa: S311
    falling = replace(signal, drift=-signal.drift)
    make = _price if signal.walk == "price" else _level
    return list(make(falling, count + 1, random))[1:]


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
