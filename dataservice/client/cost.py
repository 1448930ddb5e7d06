"""How many requests something costs, as far as that can be known before it is asked: exactly, or from … to …."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum

import numpy as np

from dataservice.client.cache.answer import Answer, Freshness
from dataservice.client.cache.history import pulls_needed, window_of
from dataservice.client.cache.spans import History
from dataservice.client.contract.completeness.evidence import Evidence
from dataservice.client.contract.completeness.longest import looks_cut
from dataservice.client.contract.completeness.thinning import OVERLAP_ROWS, days_of
from dataservice.client.contract.paging import SEVERAL_ROWS, ends_early, most_pages
from dataservice.client.contract.requests import CATALOGUE_LIMIT
from dataservice.client.contract.resources import HistoryResource
from dataservice.client.contract.results import Catalogue, SignalDetail
from dataservice.client.contract.windows import Window, day_before, missing, utc_day
from dataservice.observations import Observations


class Refresh(StrEnum):
    """The mode of a refresh: it lifts what blocks requests; by force, nothing known counts as fresh either."""

    STALE = "stale"
    FORCE = "force"


@dataclass(frozen=True, slots=True)
class Cost:
    """From `at_least` to `at_most` requests; None where nobody can know how many.

    Requests that fail and are tried again come on top.

    >>> str(Cost(1, 3) + Cost(1, 1)), str(Cost(2, None)), str(Cost(2, None, likely=5))
    ('2 to 4 requests', 'at least 2 requests', 'at least 2 requests, likely 5')
    """

    at_least: int
    at_most: int | None
    likely: int | None = field(default=None, compare=False)
    """How many it likely is, said where there is no highest number; None where nobody can tell that either."""

    def __add__(self, other: Cost) -> Cost:
        known = self.at_most is not None and other.at_most is not None
        most = (self.at_most or 0) + (other.at_most or 0)
        likely = (self.usual, other.usual)
        together = None if None in likely else sum(each or 0 for each in likely)
        return Cost(self.at_least + other.at_least, most if known else None, together)

    def __mul__(self, times: int) -> Cost:
        """Return what so many cost that cost this each."""
        most, likely = (None if each is None else each * times for each in (self.at_most, self.likely))
        return Cost(self.at_least * times, most, likely)

    def __or__(self, other: Cost) -> Cost:
        """Return what holds where it is open which of both it will be."""
        known = self.at_most is not None and other.at_most is not None
        most = max(self.at_most or 0, other.at_most or 0)
        return Cost(min(self.at_least, other.at_least), most if known else None)

    @property
    def usual(self) -> int | None:
        """The likely number; where none was told the lowest of one that is bounded, or None: nobody can tell."""
        if self.likely is None:
            return None if self.at_most is None else self.at_least
        return max(self.at_least, self.likely)

    @property
    def number(self) -> int:
        """The highest number where there is one, else the likely one, or the lowest where nobody can tell."""
        return max(self.at_least, self.likely or 0) if self.at_most is None else self.at_most

    def range_text(self) -> str:
        """The numbers alone: `3`, `2 to 4`, `at least 2`, `0 or more`."""
        if self.at_most is None:
            return f"at least {self.at_least:,}" if self.at_least else "0 or more"
        return f"{self.at_least:,} to {self.at_most:,}" if self.at_least < self.at_most else f"{self.at_most:,}"

    def __str__(self) -> str:
        last = self.at_least if self.at_most is None else self.at_most
        likely = f", likely {self.number:,}" if self.at_most is None and self.number > self.at_least else ""
        return f"{self.range_text()} {'request' if last == 1 else 'requests'}{likely}"


BESIDE = 2
"""Observations that come with a window: of the day before it, and of the day behind it."""

NOTHING = Cost(0, 0)
ONE = Cost(1, 1)
POSSIBLY_ONE = Cost(0, 1)
ONE_OR_MORE = Cost(1, None)
UNKNOWN = Cost(0, None)
"""What nobody can tell, such as an estimate that failed."""


def catalogue_cost(known: Answer[Catalogue] | None) -> Cost:
    """The pages of the catalogue as it was last seen; a last page that is full may have one more behind it.

    Only the first page is sure: signals may have gone, and a service that lists none is asked no further.
    """
    if known is None:
        return ONE_OR_MORE
    return Cost(1, len(known.value) // CATALOGUE_LIMIT + 1)


def history_cost(
    resource: HistoryResource,
    history: History,
    detail: SignalDetail | None,
    now: float,
    rules: Freshness,
    evidence: Evidence,
) -> Cost:
    """The pages of all pulls that a window needs; only one is sure, as what was there may have been taken back.

    `evidence` is what pages have shown: how many rows they have, and whether they say what follows.
    Where it is not known how densely a series was observed, or when it began, nobody can know. When it began never is:
    older observations may have been added.
    """
    today = utc_day(now)
    wanted = window_of(resource.start, resource.end, today)
    history = replace(history, not_before=rules.not_before)
    pulls = pulls_needed(history, wanted, now, rules, rows_at_once=evidence.rows_at_once)
    known = history.observations if len(history.observations) > 1 or detail is None else detail.history
    total = NOTHING
    for pull in pulls:
        total += _pull_cost(known, history, pull, today, evidence)
    if any(span.window.meets(pull) for pull in pulls for span in history.spans):
        for rest in missing(pulls, wanted):  # what is pulled again, should a pull find that known days were revised
            total += Cost(0, _pull_cost(known, history, rest, today, evidence).at_most)
    return replace(total, at_least=min(1, total.at_least))


def _pull_cost(known: Observations, history: History, pull: Window, today: date, evidence: Evidence) -> Cost:
    inside = len(known.between(pull.start, pull.end))
    if len(known) < 2 or (evidence.thin_over and days_of(pull, today) > evidence.thin_over):
        return ONE_OR_MORE
    spans = [span.window for span in history.spans]
    first, last = known.first_day, known.last_day
    began = any(window.start == date.min for window in spans)  # nothing came before what is known, when it was asked
    if pull.start == date.min and not began:
        return ONE_OR_MORE
    before = 0 if pull.start == date.min else max(0, (min(first, pull.end) - pull.start).days)
    before = before // _least_step_days(known) if began else before
    after = max(0, (min(pull.end, today) - max(last, day_before(pull.start))).days) if pull.end > last else 0
    between = _unknown_days(known, spans, pull) if spans else 0
    most = inside + (before + after + between) * _most_a_day(known)
    again = 0 if pull.end == date.max else OVERLAP_ROWS
    stops = len(known) >= SEVERAL_ROWS and ends_early(known, min(pull.end, today))
    pages = most_pages(most + BESIDE + again, evidence, ends_early=stops)
    if pull.start == date.min:
        return ONE_OR_MORE
    # A service may keep so many rows, or years: then what lies before them is asked for once more.
    return Cost(1, pages) + (POSSIBLY_ONE if looks_cut(known) else NOTHING)


def _unknown_days(known: Observations, spans: list[Window], pull: Window) -> int:
    """The days of a pull between the first and the last known observation that were never pulled."""
    from_day, to_day = max(known.first_day, pull.start), min(known.last_day, pull.end)
    pulled = sum(max(0, (min(window.end, to_day) - max(window.start, from_day)).days + 1) for window in spans)
    return max(0, (to_day - from_day).days + 1 - pulled)


def _most_a_day(known: Observations) -> int:
    """The most observations of one day, at least 1: the past may have been as dense."""
    _, counts = np.unique(known.times.astype("datetime64[D]"), return_counts=True)
    return int(counts.max())


def _least_step_days(known: Observations) -> int:
    """Return how close to each other, in whole days, two observations are anywhere; at least 1."""
    return max(1, int(np.diff(known.times.astype("datetime64[D]")).astype(int).min()))
