"""Windows of a series, whatever the service makes of long ones: it may thin them out, refuse them or cut them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import date

from dataservice.client.cache.history import is_told_lately
from dataservice.client.contract.completeness.longest import (
    QUIET_DAYS,
    SHORT_DAYS,
    left_out,
    lengths_to_try,
    names_a_length,
    part_before,
)
from dataservice.client.contract.completeness.sources import SEVERAL, valued
from dataservice.client.contract.completeness.thinning import days_of, likely_start, parts_of
from dataservice.client.contract.paging import too_many_pages
from dataservice.client.contract.requests import first_request
from dataservice.client.contract.windows import NO_DAYS, Window, day_before
from dataservice.client.series.doubts import check_edge, check_empty, is_thinned_out, keep
from dataservice.client.series.pull import Purpose, SeriesPull
from dataservice.errors import DataServiceError, InvalidRequestError, MalformedAnswerError

MOST_EMPTY_DAYS = 15 * 366
"""Parts of windows that are asked for without any observation: who wants older ones tells when they end."""

FEW_PARTS = 2
"""A window of so many parts is not asked for as a whole before."""


async def pull_window(pull: SeriesPull, window: Window) -> None:
    """Pull a window, in parts where longer ones are known to be thinned out or refused.

    A window of many parts is asked for as a whole first: it tells where the series begins, and whether it is one that
    has so few rows by itself.
    """
    days, seen = days_of(window, pull.tools.today), pull.seen
    if seen.longest_days and days > seen.longest_days:
        await _pull_back(pull, window)
        return
    try:
        if not seen.thin_over or days > FEW_PARTS * seen.thin_over:
            await _pull_at_once(pull, window, purpose=Purpose.BESIDE if seen.hidden_until else Purpose.WINDOW)
        else:
            await _pull_in_parts(pull, window)
    except InvalidRequestError as error:
        await _pull_shorter(pull, window, error, bounds=seen.bounds)
    else:
        await _pull_beside(pull, window)


async def _pull_at_once(
    pull: SeriesPull, window: Window, since: date | None = None, purpose: Purpose = Purpose.WINDOW
) -> None:
    """Pull a window, in parts if it comes thinned out; nothing lies between the day `since` and the window."""
    arrived = await pull.arrive(window, since, purpose)
    await check_empty(pull, arrived)
    if purpose is Purpose.WINDOW:
        await check_edge(pull, arrived)
    if await is_thinned_out(pull, arrived):
        await _pull_in_parts(pull, window, arrived.observations.first_day)
    else:
        await keep(pull, window, arrived, since, purpose)


async def _pull_in_parts(pull: SeriesPull, window: Window, first: date | None = None) -> None:
    """Pull a window part by part, of a series that was shown from the day `first` on."""
    start = window.start if first is None else max(window.start, likely_start(first))
    rest = Window(start, window.end)
    while rest:
        parts = parts_of(rest, pull.tools.today, pull.seen.thin_over)
        if len(parts) > pull.tools.max_pages:
            raise _too_many(pull, "long windows are thinned out; ask for a shorter one")
        since = window.start if parts[0].start == start else parts[0].start
        await _pull_at_once(pull, parts[0], since)
        rest = Window(start, day_before(parts[0].start)) if parts[0].start > start else NO_DAYS


async def _pull_shorter(pull: SeriesPull, window: Window, refusal: InvalidRequestError, *, bounds: int) -> None:
    """Pull a window that was refused in shorter ones, if its length was why.

    Where the refusal does not say so, a short window tells whether it was. `bounds` are those before the refusal.
    """
    tools, today, days = pull.tools, pull.tools.today, days_of(window, pull.tools.today)
    lengths = lengths_to_try(days, refusal.message)
    if not lengths:
        raise refusal
    tools.evidence.now = replace(pull.seen, bounds=bounds)
    if not names_a_length(refusal.message):
        lengths = (SHORT_DAYS, *lengths)
    for length in lengths:
        tools.sender.pardon(first_request(pull.resource), pull.context)
        if 0 < pull.seen.longest_days < days:  # windows of another signal have shown it meanwhile
            break
        try:
            await _pull_at_once(pull, part_before(window, length, today), purpose=Purpose.SHORTER)
        except InvalidRequestError:
            if length == SHORT_DAYS:
                raise refusal from None
        else:
            if length != SHORT_DAYS:
                await tools.note(longest_days=length)
                break
    else:
        raise refusal
    await _pull_back(pull, window)


async def _pull_back(pull: SeriesPull, window: Window) -> None:
    """Pull a window in parts of the longest that the service allows, the newest first.

    Those that a shorter window told just now are known; others are asked for, as a refresh looks for revisions.
    An open start ends where nothing came for so long that the series begins there.
    """
    tools, today, longest = pull.tools, pull.tools.today, pull.seen.longest_days
    rest, first = window, min(window.end, today)
    is_begun, sent = False, 0
    while rest:
        part = part_before(rest, longest, today)
        if sent >= tools.max_pages or (not is_begun and (first - part.start).days > MOST_EMPTY_DAYS):
            raise _too_many(pull, f"a window spans at most {longest} days")
        if not is_told_lately(pull.history, part, tools.clock(), tools.cache.answers.rules):
            await _pull_at_once(pull, part)
            sent += 1
        if len(found := pull.told(part)):
            is_begun, first = True, found.first_day
        rest = Window(rest.start, day_before(part.start)) if part.start > rest.start else NO_DAYS
        if rest and is_begun and (first - part.start).days > QUIET_DAYS:
            await pull.keep(rest, found[:0])
            return


async def _pull_beside(pull: SeriesPull, window: Window) -> None:
    """Pull what lies beside a window that looks as if it was cut, until nothing does.

    Raises `MalformedAnswerError` where windows were seen to leave out older observations.
    """
    tools, is_cut = pull.tools, pull.looks_cut
    pull.looks_cut = False
    empty: set[Window] = set()
    for _ in range(tools.max_pages):
        told, found = pull.by_windows.observations, pull.told(window)
        rests = [each for each in left_out(window, found, told, tools.today) if each not in empty]
        if not rests or not (is_cut or pull.seen.cuts_windows):
            break
        await _pull_at_once(pull, rests[0], purpose=Purpose.BESIDE)
        if len(pull.told(window)) > len(found):
            await tools.note(cuts_windows=True)
        else:
            empty.add(rests[0])
    await _compare_reach(pull, window, may_ask=bool(empty))
    is_untold = pull.unknown(window) == [window]
    if pull.seen.hidden_until and (is_untold or any(rest.start == window.start for rest in empty)):
        problem = f"nothing came from {window.start} on, and windows of others left out what was older"
        raise pull.refused(MalformedAnswerError(problem))
    for rest in empty:
        if not len(pull.lately(rest)):  # what came may have been known
            await pull.keep(rest, found[:0])


async def _compare_reach(pull: SeriesPull, window: Window, *, may_ask: bool) -> None:
    """Raise where the detail shows several observations of a window before the first one that came.

    The detail is asked for where the window looked as if it was cut; an old one may show what is gone by now.
    """
    found, known = pull.told(window), pull.detail_at_hand
    if known is None and may_ask and not pull.is_in_place_of_detail:
        with suppress(DataServiceError):
            known = await pull.read_detail()
    if known is None or not known.is_fresh(pull.tools.clock()) or not len(found) or found.first_day <= window.start:
        return
    shown = valued(known.value.history.between(window.start, day_before(found.first_day)))
    if len(shown) >= SEVERAL:
        await pull.tools.note(hidden_until=shown.last_day)
        problem = f"windows begin on {found.first_day}, and the detail shows {len(shown)} observations before"
        raise pull.refused(MalformedAnswerError(problem))


def _too_many(pull: SeriesPull, advice: str) -> DataServiceError:
    return pull.refused(too_many_pages(f"the observations of {pull.slug}", pull.tools.max_pages, advice))
