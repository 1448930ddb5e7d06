"""How many requests a resource would take now: decisions on what is known, without asking."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

import numpy as np

from dataservice.client.cache.answer import Answer, Freshness
from dataservice.client.cache.history import History, pulls_needed, window_of
from dataservice.client.contract.paging import pages_for
from dataservice.client.contract.requests import CATALOGUE_LIMIT
from dataservice.client.contract.resources import HistoryResource, Resource
from dataservice.client.contract.results import Catalogue, SignalDetail
from dataservice.client.contract.timestamps import utc_day
from dataservice.client.contract.windows import Window
from dataservice.observations import Observations

ASSUMED_START = date(1985, 1, 1)
"""Where a series is taken to begin when nobody knows: the long daily ones in common use begin in 1986."""

ASSUMED_SLOW_START = date(1830, 1, 1)
"""The same for one observed every `SLOW_DAYS` or more rarely: gold is known by months since 1833."""

SLOW_DAYS = 25.0

DAYS_PER_OBSERVATION = 1.4
"""How far apart observations are taken to lie when nobody knows: every working day, the costliest common case."""


def uncovered(resources: Iterable[Resource[Any]]) -> list[Resource[Any]]:
    """The resources without histories whose window lies inside another's: one pull brings both."""
    distinct = list(dict.fromkeys(resources))
    histories = [one for one in distinct if isinstance(one, HistoryResource)]
    return [one for one in distinct if not any(wide != one and wide.covers(one) for wide in histories)]


def catalogue_cost(known: Answer[Catalogue] | None) -> int:
    """The pages of the catalogue as it was last seen; 1 where it never was."""
    return 1 if known is None else max(1, -(-len(known.value) // CATALOGUE_LIMIT))


def history_cost(
    resource: HistoryResource, history: History, detail: SignalDetail | None, now: float, rules: Freshness
) -> int:
    """The pages of all pulls that the window needs, from how often the series is observed."""
    today = utc_day(now)
    wanted = window_of(resource.start, resource.end, today)
    known = history.observations if len(history.observations) > 1 or detail is None else detail.history
    return sum(pages_for(_expected(known, pull, today)) for pull in pulls_needed(history, wanted, now, rules))


def _expected(known: Observations, pull: Window, today: date) -> float:
    """How many observations a pull is likely to bring."""
    step_days = _step_days(known)
    start = pull.start if pull.start > date.min else _assumed_start(known, step_days)
    days = (min(pull.end, today) - start).days + 1
    return max(0.0, days / step_days)


def _assumed_start(known: Observations, step_days: float) -> date:
    assumed = ASSUMED_SLOW_START if step_days >= SLOW_DAYS else ASSUMED_START
    return min(known.first_day, assumed) if len(known) else assumed


def _step_days(known: Observations) -> float:
    if len(known) < 2:
        return DAYS_PER_OBSERVATION
    days = float((known.times[-1] - known.times[0]) / np.timedelta64(1, "D"))
    return max(days / (len(known) - 1), 1e-6)
