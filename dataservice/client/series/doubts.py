"""What has to be asked besides before a window that arrived is relied on: is it empty, thinned out, without its end?"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import date

from dataservice.client.cache.answer import Answer
from dataservice.client.cache.codec import pack
from dataservice.client.cache.history import is_told_lately
from dataservice.client.cache.recent import with_history
from dataservice.client.contract.completeness.density import (
    after_dense_window,
    check_window,
    same_days,
    window_may_be_thin,
)
from dataservice.client.contract.completeness.sources import SEVERAL
from dataservice.client.contract.completeness.thinning import (
    LEAST_ROWS,
    SHORTEST_PART_DAYS,
    days_of,
    leaves_out,
    shorter_parts,
)
from dataservice.client.contract.paging import Pulled
from dataservice.client.contract.results import SignalDetail
from dataservice.client.contract.windows import Window, day_after
from dataservice.client.series.pull import Purpose, SeriesPull
from dataservice.client.series.tools import FetchTools
from dataservice.errors import DataServiceError, MalformedAnswerError, NotFoundError
from dataservice.observations import Observations


async def look(pull: SeriesPull, days: Window) -> None:
    """Ask again for days that are known from elsewhere."""
    arrived = await pull.arrive(days, None, Purpose.CHECK)
    await check_empty(pull, arrived)
    await keep(pull, days, arrived, None, Purpose.CHECK)


async def keep(pull: SeriesPull, window: Window, arrived: Pulled, since: date | None, purpose: Purpose) -> None:
    """Keep a window that is relied on, once it is known whether its last row came."""
    try:
        await _compare_newest(pull, arrived)
    finally:
        await pull.keep_pulled(window, arrived, since, purpose)


async def check_empty(pull: SeriesPull, arrived: Pulled) -> None:
    """Raise where a window is said to be empty of which the detail shows several observations at this time.

    One that is no longer fresh is asked for again: the service may have emptied the series since.
    """
    known = pull.detail_at_hand
    if len(arrived.observations) or known is None:
        return
    if not known.is_fresh(pull.tools.clock()) and _several_in(arrived.window, known):
        known = await _detail_now(pull)
    if known is not None and (shown := _several_in(arrived.window, known)):
        if arrived.window.end < date.max:  # else there are no windows of this signal
            await pull.tools.note(hidden_until=shown.last_day)
        problem = f"no observations from {shown.first_day} on, where its detail shows {len(shown)}"
        raise pull.refused(MalformedAnswerError(problem))


async def check_edge(pull: SeriesPull, arrived: Pulled) -> None:
    """Look at the first days of a detail where nothing came right before them.

    The day behind a window is asked for with it, and the detail has a row of it: it was due, too. Raises
    `MalformedAnswerError` where windows do not reach so far: what lies before is not known to be empty.
    """
    known, end = pull.detail_at_hand, arrived.window.end
    if len(arrived.arrived) or known is None or end == date.max:
        return
    behind = known.value.history.between(day_after(end))[:LEAST_ROWS]
    if len(behind) >= SEVERAL and behind.first_day == day_after(end):
        await look(pull, Window(behind.first_day, behind.last_day))


async def is_thinned_out(pull: SeriesPull, arrived: Pulled) -> bool:
    """Return whether a window left days out, after a look at its last days if it looks so.

    Others are compared with what is known of their days otherwise.
    """
    found = pull.up_to_today(arrived.observations)
    is_doubtful = arrived.begins_early or window_may_be_thin(found, pull.history.observations, pull.seen)
    if not (len(found) and is_doubtful) or pull.tools.details.proves(pull.slug, found):
        return await _is_denser_known(pull, arrived.window, found)
    days = check_window(found)
    if not is_told_lately(pull.by_windows, days, pull.tools.clock(), pull.tools.cache.answers.rules):
        await look(pull, days)
    return await _is_denser_known(pull, arrived.window, found, days)


async def _is_denser_known(pull: SeriesPull, window: Window, found: Observations, days: Window | None = None) -> bool:
    """Compare a window with what is known of its days otherwise; whether it was thinned out.

    Of the `days` that were just asked for again, every row must be the same one.
    Where what is known was, by a detail, no detail counts from now on but for its newest row.
    """
    known = pull.lately(window)
    if leaves_out(found, known) or (days and not same_days(found, known, days)):
        asked = days_of(window, pull.tools.today)
        await ask_in_parts(pull.tools, asked)
        if asked <= SHORTEST_PART_DAYS:
            raise MalformedAnswerError(
                f"{len(found)} observations from {window.start} on, where {len(known)} are known"
            )
        return True
    tools, detail = pull.tools, pull.detail_at_hand
    tools.evidence.now = after_dense_window(pull.seen, found)
    is_denser = detail is not None and leaves_out(detail.value.history, found)
    if (tools.details.contradicted(pull.slug, found) or is_denser) and not pull.seen.thin_details:
        await tools.distrust_details()
    await _rely_again(pull)
    return False


async def ask_in_parts(tools: FetchTools, asked_days: int) -> None:
    """Ask for windows in parts from now on: one of so many days was thinned out."""
    await tools.note(thin_over=shorter_parts(asked_days, tools.evidence.now.thin_over))


async def _rely_again(pull: SeriesPull) -> None:
    """Let a recent history count after all that a window has proven: rhythms are the same in any order then."""
    known, told = pull.detail_at_hand, pull.tools.details.proven(pull.slug)
    if known is not None and len(told) > len(known.value.history):
        detail = with_history(known.value, told)
        await pull.tools.cache.keep_detail(pull.signal, detail, pack(detail), known.fetched_at)


async def _compare_newest(pull: SeriesPull, arrived: Pulled) -> None:
    """Learn the newest observation from the detail where nothing shows that the last row of a window is there."""
    is_up_to_today = arrived.window.end == date.max and len(arrived.arrived) > 0
    if not (is_up_to_today and pull.seen.may_lack_last) or pull.is_in_place_of_detail:
        return
    with suppress(DataServiceError):  # of some names a service has no detail
        detail = (await pull.read_detail()).value
        if detail.last_day == arrived.arrived.last_day:
            pull.tools.evidence.now = replace(pull.seen, keeps_last=True)


async def _detail_now(pull: SeriesPull) -> Answer[SignalDetail] | None:
    """The detail as it is now; None where there is none any more, or it is what is asked for."""
    if pull.is_in_place_of_detail:
        return None
    try:
        found = await pull.read_detail()
    except NotFoundError:
        return None
    if found.stale_because is not None:
        raise found.stale_because.afresh()
    return found


def _several_in(window: Window, detail: Answer[SignalDetail]) -> Observations | None:
    """The observations of a window that a detail shows, where they are several."""
    shown: Observations = detail.value.history.between(window.start, window.end)
    return shown if len(shown) >= SEVERAL else None
