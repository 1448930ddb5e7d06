"""The pages of the catalogue and of windows of observations, one request each, until nothing more follows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import date
from functools import partial

import httpx

from dataservice.client.cache.codec import pack
from dataservice.client.contract import decode
from dataservice.client.contract.body import version_in
from dataservice.client.contract.completeness.catalogue import PulledCatalogue
from dataservice.client.contract.completeness.evidence import Evidences
from dataservice.client.contract.completeness.longest import names_a_length
from dataservice.client.contract.paging import (
    FEWEST_ON_A_PAGE,
    Pulled,
    is_silent,
    too_many_pages,
)
from dataservice.client.contract.requests import catalogue_request, observations_request
from dataservice.client.contract.results import Catalogue
from dataservice.client.contract.windows import day_after, day_before
from dataservice.client.network.call_context import CallContext
from dataservice.client.network.sender import RequestSender
from dataservice.errors import (
    DataServiceError,
    InvalidRequestError,
    MalformedAnswerError,
    NotFoundError,
    ServerFailedError,
)


async def pages_of_catalogue(
    sender: RequestSender, context: CallContext, category: str | None = None, *, max_pages: int | None = None
) -> AsyncIterator[PulledCatalogue]:
    """The catalogue as far as it has arrived after each of its pages, one request each.

    Raises `TooManyPagesError` instead of asking for too many, and `MalformedAnswerError` where not one signal is
    listed: a service that is being set up says so, and all that is known of its signals would be lost.
    """
    pulled = PulledCatalogue()
    while pulled.offset is not None:
        if max_pages is not None and max(1, pulled.pages_left) + pulled.pages > max_pages:
            advice = "search the service's own site"
            raise sender.refused(too_many_pages("the signals", max_pages, advice), catalogue_request(0), context)
        request = catalogue_request(0 if pulled.further else pulled.offset, category).further(pulled.further)
        page = await sender.fetch(request, context, _catalogue_page)
        if not (pulled.pages or page.signals or category):
            raise sender.refused(MalformedAnswerError("the service lists no signal at all"), request, context)
        try:
            pulled = pulled.with_page(page)
        except MalformedAnswerError as error:
            raise sender.refused(error, request, context) from None
        yield pulled


async def pages_of_window(
    sender: RequestSender,
    context: CallContext,
    slug: str,
    begin: Pulled,
    evidence: Evidences,
    *,
    max_pages: int | None = None,
    exists: Callable[[], Awaitable[bool]] | None = None,
    is_closed: bool = False,
) -> AsyncIterator[Pulled]:
    """Yield what has arrived of a window of observations after each of its pages, one request each.

    Some services refuse a window that begins before its series; `exists` tells whether there is one at all.
    Raises `TooManyPagesError` instead of asking for too many, as soon as the service tells how many there are.
    """
    pulled, left = begin, 0
    while (position := pulled.next) is not None:
        tried = evidence.now
        end, is_first = position.end or pulled.window.end, not pulled.pages
        if (tried.longest_days or is_closed) and end == date.max:  # an open end would make it longer
            end = day_after(pulled.last or end)
        asked = tried.asked_window(position.start, end, is_first=is_first, behind=position.behind)
        if position.further:
            asked = replace(asked, start=position.asked)
        request = observations_request(slug, asked.start, asked.end).further(position.further)
        if max_pages is not None and pulled.pages + left >= max_pages:
            what = f"the observations of {slug}"
            error = too_many_pages(what, max_pages, "ask for a shorter window")
            raise sender.refused(error, request, context)
        known_day = position.start if pulled.pages and position.end is None else None
        try:
            page, pulled = await sender.fetch(
                request, context, partial(_with_page, pulled, evidence, asked.start, known_day)
            )
        except (InvalidRequestError, NotFoundError, ServerFailedError) as error:
            is_parameter = isinstance(error, InvalidRequestError) and not names_a_length(error.message)
            if is_parameter and pulled.window.is_open and evidence.try_other_bounds(tried):
                sender.pardon(request, context)
                continue
            if asked.start is None or not is_first or not await _may_be_about_start(error, evidence, exists):
                raise
            page, pulled = await _from_first(sender, context, slug, pulled, evidence, error, asked.end)
        is_page = page.rows >= min(page.limit or FEWEST_ON_A_PAGE, FEWEST_ON_A_PAGE)
        left = page.pages_left if is_page and not pulled.complete else 0
        yield pulled
        if pulled.problem:
            raise sender.refused(MalformedAnswerError(pulled.problem), request, context)


async def _may_be_about_start(
    error: DataServiceError, evidence: Evidences, exists: Callable[[], Awaitable[bool]] | None
) -> bool:
    """Return whether a window may have been refused because it begins before its series."""
    if evidence.now.refuses_early_start is False or names_a_length(error.message):
        return False
    if isinstance(error, InvalidRequestError):
        return True
    is_of_this = isinstance(error, NotFoundError) or error.status == httpx.codes.INTERNAL_SERVER_ERROR
    return is_of_this and exists is not None and await exists()


async def _from_first(
    sender: RequestSender,
    context: CallContext,
    slug: str,
    pulled: Pulled,
    evidence: Evidences,
    refusal: DataServiceError,
    end: date | None,
) -> tuple[decode.ObservationsPage, Pulled]:
    """The first page of a refused window, asked for without `start`; raises the `refusal` where that was not why.

    What comes may begin where the service pleases. The day before is asked for, too: if it is refused, the series
    begins there. Once that was seen, it is not asked again.
    """
    seen, first = evidence.now, observations_request(slug, None, end)
    sender.pardon(first, context)
    try:
        page, result = await sender.fetch(first, context, partial(_with_page, pulled, evidence, None, None))
    except DataServiceError:
        evidence.now = replace(evidence.now, refuses_early_start=seen.refuses_early_start or False)
        raise refusal from None
    if seen.refuses_early_start or not len(page.observations):
        return page, result
    day = page.observations.first_day
    is_refused = False
    try:
        before = observations_request(slug, day_before(day), day)
        await sender.fetch(before, context, decode.observations_page)
    except type(refusal):
        is_refused = True
        sender.pardon(before, context)
    evidence.now = replace(evidence.now, refuses_early_start=is_refused)
    if not is_refused:
        raise sender.refused(refusal, first, context)
    return page, result


@decode.readable
def _catalogue_page(body: bytes) -> decode.CataloguePage:
    page = decode.catalogue_page(body)
    pack(Catalogue(page.signals))  # refused here if it could not be kept
    return page


@decode.readable
def _with_page(
    pulled: Pulled, evidence: Evidences, asked: date | None, known_day: date | None, body: bytes
) -> tuple[decode.ObservationsPage, Pulled]:
    evidence.heed(version_in(body))
    page = decode.observations_page(body, evidence.now.day_first)
    seen = evidence.now.after(page, asked, known_day)
    result = pulled.with_page(page, seen, asked)
    is_new = len(result.arrived) > len(pulled.arrived)
    is_asked_on = pulled.next is None or pulled.next.end is None or pulled.pages_new < pulled.pages
    is_idle = (
        result.complete
        and not (result.problem or result.is_unclear)
        and (pulled.promised or page.more is True)
        and not is_new
        and is_asked_on  # a look at older days alone says nothing of those that are said to follow
    )
    if pulled.next is not None and pulled.next.behind and (keeps := _keeps_last(pulled, page)) is not None:
        seen = replace(seen, keeps_last=keeps and seen.keeps_last is not False)
    if result.complete and not result.problem and result.pages_new == 1 and is_silent(page):
        seen = seen.after_window(result.observations)
    evidence.now = replace(seen, claims_are_idle=True) if is_idle else seen
    return page, result


def _keeps_last(pulled: Pulled, page: decode.ObservationsPage) -> bool | None:
    """Whether the page before held its last row, by one that goes on behind the window; None where that tells nothing.

    Several rows that come behind it were left for the next page.
    """
    since, found = day_after(pulled.arrived.last_day), page.observations
    left_out = len(found.between(since, pulled.window.end))
    return None if left_out > 1 or not len(found.between(since)) else not left_out
