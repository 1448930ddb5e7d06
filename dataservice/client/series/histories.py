"""The history of a signal: which windows it takes, and when it is complete."""

from __future__ import annotations

from typing import Any

from dataservice.client.cache.answer import Answer
from dataservice.client.cache.history import pulls_needed, window_of
from dataservice.client.contract.resources import HistoryResource
from dataservice.client.contract.windows import Window, days_in
from dataservice.client.network.call_context import CallContext
from dataservice.client.series.pull import SeriesPull
from dataservice.client.series.tools import FetchTools
from dataservice.client.series.windows import pull_window
from dataservice.errors import DeadlineExceededError

MOST_ROUNDS = 3
"""So often as many days may be left as before: a series that changes each time is not shown as one."""


async def fetch_history(tools: FetchTools, resource: HistoryResource, context: CallContext) -> Answer[Any]:
    """The history of a signal after as many pulls as it takes."""
    cache = tools.cache
    pull = SeriesPull(tools, resource, context, await cache.signals.history_at_hand(resource.slug, tools.clock()))
    was_thin = pull.seen.thin_details
    for window in _needed(pull):
        await pull_window(pull, window)
    if pull.seen.thin_details and not was_thin:
        return await fetch_history(tools, resource, context)
    await _complete(pull)
    answer = cache.signals.from_history(resource, pull.history, tools.clock())
    if answer is None or pull.unknown(_wanted(pull)):
        raise DeadlineExceededError("the history could not be completed")
    return answer


def _wanted(pull: SeriesPull) -> Window:
    return window_of(pull.resource.start, pull.resource.end, pull.tools.today)


def _needed(pull: SeriesPull) -> list[Window]:
    now, rules = pull.tools.clock(), pull.tools.cache.answers.rules
    return pulls_needed(pull.history, _wanted(pull), now, rules, rows_at_once=pull.seen.rows_at_once)


async def _complete(pull: SeriesPull) -> None:
    """Pull what is still unknown of a window, as long as each round leaves fewer days.

    Of a window that is cut little comes at a time; a pull that finds a revision makes others doubtful.
    """
    wanted = _wanted(pull)
    left, pulls, futile = pull.unknown(wanted), 0, 0
    while left and futile < MOST_ROUNDS and pulls < pull.tools.max_pages:
        for window in left:
            await pull_window(pull, window)
        pulls, before = pulls + len(left), left
        left = pull.unknown(wanted)
        futile += days_in(left) >= days_in(before)
