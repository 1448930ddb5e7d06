"""A service whose series change, and what it said so far: what may be shown, and what has to be asked, follows.

All is kept by the number of the day since `FIRST`. Every value there ever was is unique, so that each one shown tells
for which signal, key and day it was true.
"""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from typing import Any

import httpx
import numpy as np
import orjson

from dataservice.client import HistoryResource, SignalResource
from dataservice.observations import Observations
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import quota

KEYS = tuple(f"ds_{digit * 40}" for digit in "12")
SLUGS = ("daily", "other.daily")
FIRST = date(2022, 1, 1)
DAYS = 12_000
PAGE = 1_000
NEVER = -np.inf
MODES = ("fine", "fine", "fine", "500", "404", "html", "no date", "big", "lost", "breaks off", "429")

LATENCY_S = 0.02
TTL_S, FULL_PULL_S, LIVE = 900.0, 30 * 86_400.0, 31
ENOUGH = 6
"""So many rows that agree show that all do."""


def number_of(day: date) -> int:
    """The number of a day."""
    return (day - FIRST).days


class Series:
    """One signal of one key: its observations, and what was said of each day to whoever asked with that key."""

    def __init__(self) -> None:
        self.values = np.full(DAYS, np.nan)
        self.touched_at = np.full(DAYS, NEVER)
        """When a day was last revised, dropped or published; never for the days of the beginning."""
        self.told = np.full(DAYS, np.nan)
        self.asked_at = np.full(DAYS, NEVER)
        self.pulled_at = np.full(DAYS, NEVER)
        """Since when a day counts as known without a lapse or a doubt."""
        self.detail_at = NEVER
        self.details_at: set[float] = set()
        """When whole details were told; one that a history shows is of no such time."""
        self.contradictions = 0
        """How often an answer contradicted an earlier one."""
        self.sources = ToldSources()

    @property
    def revisions(self) -> int:
        """How often an answer contradicted an earlier one, of either source or of the same."""
        return self.contradictions + self.sources.revisions

    @property
    def days(self) -> np.ndarray:
        """The numbers of the days with an observation."""
        return np.flatnonzero(~np.isnan(self.values))

    def tell(self, first: int, last: int, now: float) -> None:
        """Note an answer that held all observations of these days."""
        span = slice(first, last + 1)
        known = np.flatnonzero(~np.isnan(self.told))
        past = known[:-1][(known[:-1] >= first) & (known[:-1] <= last)]
        asked = np.isnan(self.told[span]) & np.isfinite(self.asked_at[span])
        late = np.flatnonzero(asked & ~np.isnan(self.values[span])) + first
        is_revision = np.any(self.told[past] != self.values[past]) or np.any(late < known[-1:].max(initial=-1))
        if is_revision and np.any(np.isfinite(self.pulled_at[past])):
            self.contradictions += 1
            self.pulled_at[:] = NEVER
            self.detail_at = NEVER
        lapsed = now - self.pulled_at[span] >= FULL_PULL_S
        self.pulled_at[span] = np.where(lapsed, now, self.pulled_at[span])
        self.asked_at[span] = now
        self.told[span] = self.values[span]

    def most_requests(self, resource: Any, now: float, today: date, not_before: float) -> int:
        """The most requests that reading `resource` needs by the rules of the documentation."""
        if isinstance(resource, SignalResource):
            if now - TTL_S < self.detail_at and self.detail_at >= not_before:
                return 0
            year = HistoryResource(resource.slug, today - timedelta(days=365))  # shown instead where both have differed
            return 1 + self.sources.have_differed * self.most_requests(year, now, today, not_before)
        first = 0 if resource.start is None else number_of(resource.start)
        is_open = resource.end is None or (today - resource.end).days < 7
        last = DAYS - 1 if is_open else number_of(resource.end)
        wanted, rows = slice(first, last + 1), int(np.sum(~np.isnan(self.values[first : last + 1])))
        known = np.flatnonzero(~np.isnan(self.told))
        live = int(known[-LIVE]) if len(known) > LIVE else 0
        recent = self.asked_at[max(first, live) : last + 1]
        # After a forced refresh a window counts only as far as it is fetched again, all of it.
        is_due = (now - self.pulled_at[wanted] >= FULL_PULL_S) | (self.asked_at[wanted] < not_before)
        if np.any(is_due):
            gaps = np.diff(np.append(0, is_due).astype(int))
            return pages(rows) + int(np.sum(gaps == 1)) + 1
        if np.all(recent > now - TTL_S):
            return 0
        return pages(int(np.sum(~np.isnan(self.values[live:]))))

    def most_from_nothing(self, resource: Any) -> int:
        """The most requests if nothing that is known counts: of a history all pages, and one for each part of it."""
        if isinstance(resource, SignalResource):
            return 1
        parts = int(np.sum(self.asked_at[1:] != self.asked_at[:-1]))
        return self.whole() + parts + 1

    def whole(self) -> int:
        """The requests that all its observations take."""
        return pages(len(self.days))


class ToldSources:
    """What the detail of a signal told last, and its windows, to any process: whether they were seen to agree.

    The client takes the two for one series where a process saw that (`docs/contract.md`). Where both came within the
    time of freshness and differed, its windows are shown, also in the detail.
    """

    def __init__(self) -> None:
        self.values = {is_detail: np.full(DAYS, np.nan) for is_detail in (True, False)}
        self.told_at = {is_detail: np.full(DAYS, NEVER) for is_detail in (True, False)}
        self.told_to = {is_detail: np.full(DAYS, -1) for is_detail in (True, False)}
        self.agreed: set[int] = set()
        """Processes that were told the same of all days that both reach, and not since what differs."""
        self.have_differed = False
        self.revisions = 0
        """How often one of them told another past than it did before."""
        self.near_s = TTL_S
        """Within this time both are to tell the same; any time where clocks are set."""

    def tell(self, span: slice, values: np.ndarray, process: int, now: float, *, is_detail: bool) -> None:
        """Note what one of them told a process, and compare it with the other."""
        known = np.flatnonzero(~np.isnan(self.values[is_detail][span]))[:-1]
        self.revisions += bool(np.any(self.values[is_detail][span][known] != values[span][known]))
        self.values[is_detail][span] = values[span]
        self.told_at[is_detail][span], self.told_to[is_detail][span] = now, process
        days = np.flatnonzero(np.isfinite(self.told_at[True]) & np.isfinite(self.told_at[False]))
        one, other = self.values[True][days], self.values[False][days]
        newest = min((int(days[~np.isnan(each)][-1]) for each in (one, other) if not np.isnan(each).all()), default=0)
        differ = (days < newest) & (one != other) & ~(np.isnan(one) & np.isnan(other))
        near = np.abs(self.told_at[True][days] - self.told_at[False][days]) <= self.near_s
        both = (self.told_to[True][days] == process) & (self.told_to[False][days] == process)
        if np.any(differ & near):
            self.have_differed = True
            self.agreed.clear()
        elif not np.any(differ) and np.sum((days < newest) & ~np.isnan(one) & both) >= ENOUGH:
            self.agreed.add(process)


def pages(rows: int) -> int:
    """The requests that so many rows take: each page after the first begins with a known one."""
    return 1 + -(-max(0, rows - PAGE) // (PAGE - 1))


class World:
    """The service: it says what the series are now, or fails in the mode that is on."""

    def __init__(self, chance: random.Random, clock: Clock) -> None:
        self.chance, self.clock = chance, clock
        self.mode = "fine"
        self.requests = 0
        self.refused = 0
        """Requests that were answered 429: they cost nothing."""
        self.cut_alike = 0
        """Windows that have as many rows, or span as many years, as services cut windows to (`docs/contract.md`)."""
        self.asked_by = 0
        """The process that asks."""
        self._meaning: list[tuple[int, int]] = []
        """Of every value there ever was: the number of its series, and its day."""
        self.series = {(key, slug): Series() for key in KEYS for slug in SLUGS}
        self._names = list(self.series)
        for name in self._names:
            for day in range(number_of(self.today())):
                self._put(name, day, NEVER)

    def today(self) -> date:
        return datetime.fromtimestamp(self.clock(), UTC).date()

    def _put(self, name: tuple[str, str], day: int, now: float) -> None:
        self.series[name].values[day] = len(self._meaning)
        self.series[name].touched_at[day] = now
        self._meaning.append((self._names.index(name), day))

    def change(self) -> None:
        """Publish, revise anywhere, or drop."""
        name, now = self.chance.choice(self._names), self.clock()
        series = self.series[name]
        days = series.days
        match self.chance.choice(("publish", "revise", "revise", "drop")):
            case "publish":
                most = self.chance.choice((1, 1, 5, 400))
                for day in range(int(days[-1]) + 1, min(int(days[-1]) + 1 + most, number_of(self.today()))):
                    self._put(name, day, now)
            case "revise":
                self._put(name, int(self.chance.choice(days[-self.chance.choice((1, 30, 365, len(days))) :])), now)
            case _ if len(days) > 800:
                day = self.chance.choice(days[-400:])
                series.values[day], series.touched_at[day] = np.nan, now

    def never_true(self, name: tuple[str, str], found: Observations) -> str:
        """The first observation that was never true for this key and signal."""
        days, own = day_numbers(found), self._names.index(name)
        for day, value in zip(days.tolist(), found.values.tolist(), strict=True):
            meant = self._meaning[int(value)] if 0 <= value < len(self._meaning) else None
            if meant != (own, day):
                return f"{FIRST + timedelta(days=day)} is {value}, which is {meant}"
        return ""

    @property
    def spent(self) -> int:
        """The requests that cost something."""
        return self.requests - self.refused

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        self.clock.advance(LATENCY_S)  # no two answers have one time
        parts = request.url.path.split("/")
        series = self.series[request.headers["authorization"].removeprefix("Bearer "), parts[3]]
        mode = self.mode
        if mode == "breaks off":
            mode = "fine" if self.requests % 2 else "500"
        match mode:
            case "500" | "404":
                return httpx.Response(int(mode), json={"error": "no"}, headers=quota())
            case "429":
                self.refused += 1
                return httpx.Response(429, json={"error": "slower"}, headers={**quota(), "retry-after": "30"})
            case "html":
                return httpx.Response(200, text="<html>", headers=quota())
            case "lost":
                raise httpx.ReadError("lost")
        is_whole, days = len(parts) == 4, series.days
        told, total = (days[-365:], 365) if is_whole else self._page(series, request.url.params)
        rows = [
            {"observed_at": f"{FIRST + timedelta(days=day)}T00:00:00Z", "value": value}
            for day, value in zip(told.tolist(), series.values[told].tolist(), strict=True)
        ]
        data: Any = {"slug": parts[3], "latest": rows[-1], "history": rows} if is_whole else rows
        if mode != "fine":
            data = _broken(mode, data)
        elif is_whole:
            series.tell(int(told[0]), DAYS - 1, self.clock())
            span = slice(int(told[0]), DAYS)
            series.sources.tell(span, series.values, self.asked_by, self.clock(), is_detail=True)
            series.detail_at = self.clock()
            series.details_at.add(self.clock())
        pagination = {"limit": PAGE, "offset": 0, "total": total}
        return httpx.Response(200, content=orjson.dumps({"data": data, "pagination": pagination}), headers=quota())

    def _page(self, series: Series, params: httpx.QueryParams) -> tuple[np.ndarray, int]:
        first = number_of(date.fromisoformat(params["start"])) if "start" in params else 0
        last = min(DAYS, number_of(date.fromisoformat(params["end"]))) if "end" in params else DAYS
        days = series.days
        found = days[(days >= first) & (days <= last)]
        self.cut_alike += looks_cut(found)
        if self.mode in {"fine", "breaks off"}:
            rest = len(found) > PAGE
            first, last = max(0, first), int(found[PAGE - 1]) - 1 if rest else last - 1
            series.tell(first, last, self.clock())
            span = slice(first, last + 1)
            series.sources.tell(span, series.values, self.asked_by, self.clock(), is_detail=False)
        return found[:PAGE], len(found)


def looks_cut(days: np.ndarray) -> bool:
    """Return whether rows of these days are as many, or span as many years, as services cut windows to."""
    span = int(days[-1] - days[0]) if len(days) > 1 else 0
    spans_years = any(-3 <= span - round(365.25 * years) <= 3 for years in (1, 2, 3, 5, 10))
    return spans_years or len(days) in {50, 100, 200, 250, 300, 365, 500, 1_000}


def _broken(mode: str, data: Any) -> Any:
    """The answer with something in it that cannot be read."""
    bad = {"observed_at": "today", "value": 1}
    if mode == "no date":
        return [bad] if isinstance(data, list) else {**data, "history": [bad]}
    late = {"observed_at": "0000-12-31T00:00:00+14:00", "value": 2}
    return [*data[:-1], late] if isinstance(data, list) else {**data, "n": orjson.Fragment(b"1" + b"0" * 40)}


def day_numbers(found: Observations) -> np.ndarray:
    """The numbers of the days of observations."""
    return (found.times.astype("datetime64[D]") - np.datetime64(FIRST)).astype(int)
