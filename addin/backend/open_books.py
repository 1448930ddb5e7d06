"""The routes for workbooks that are open in a host: what a refresh would spend, and what of it is left."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from addin.backend.admission import admitted_body
from addin.backend.http import BodyLimits, JsonResponse
from addin.backend.limits.accounts import VALUE_BYTES, account_of
from addin.backend.state import BackendState, quota_shortfall
from addin.backend.tenants import Tenant
from addin.formulas.areas import Area, area_of
from addin.formulas.live_parts import may_be_of_template, tell_of_machine_only, tells_of_this_machine
from addin.formulas.open_book import OpenFormulas, PlannedCalls
from addin.protocol.batch import valid_calls
from addin.protocol.limits import BatchLimits
from addin.protocol.messages import (
    MAX_COLUMNS,
    BookCost,
    Cost,
    FilledArea,
    LivePart,
    LiveParts,
    OpenBook,
    PartsOfTemplate,
)
from dataservice.client import Refresh
from udfs.engine import CostPreview, in_turns, next_turn

CELLS_A_VALUE = 5
"""A cell that is only looked at takes about a fifth of what an argument of a call takes."""

MOST_MEMBERS = 100_000
"""Formulas, names and what describes sheets: reading those of a larger book would hold up the others."""

VALUES_A_MEMBER = 3
"""A formula takes about three times what an argument of a call takes, once it is read."""

MOST_CELL_VALUES = 1_300_000
"""Values and formulas of cells that are only looked at: hosts are asked for 300,000 cells at most."""

MOST_OF_MACHINE = 100
"""Tables about this machine that are compared with the cells of a book: of more, cells are kept."""

FORM = (
    'send {"sheets": [{"name": "Sheet1", "rows": 1, "formulas": {"0": "=…"}, "others": {}, "cells": []}], "names": {}}'
    ", with a formula or null for each value of cells"
)

_decode = msgspec.json.Decoder(OpenBook).decode


async def preview_refresh(request: Request) -> Response:
    """POST /functions/book/cost: what a refresh would spend, or which cells decide that; sends nothing."""
    mode = request.query_params.get("refresh", "stale")
    if mode not in tuple(Refresh):
        raise HTTPException(400, 'mode is "stale" or "force"')
    async with _opened(request) as (tenant, formulas):
        if wanted := await formulas.wanted():
            return JsonResponse(BookCost(wanted, None))
        planned = await formulas.planned()
        return JsonResponse(BookCost([], await _cost(request, tenant, planned, Refresh(mode), formulas.count)))


async def expect_calls(request: Request) -> Response:
    """POST /functions/book: how many calls a recalculation of the formulas makes; costs no request."""
    async with _opened(request) as (_, formulas):
        return JsonResponse(await formulas.expected())


async def live_parts(request: Request) -> Response:
    """POST /functions/book/parts: which areas the template made for a book with formulas; costs no request."""
    settings = BackendState.of(request).settings
    limits = BodyLimits(settings.max_body_bytes, "setting max_body_bytes", settings.receive_timeout_s)
    async with admitted_body(request, BackendState.of(request), limits, _weight) as (_, body):
        try:
            given = msgspec.json.decode(body, type=LiveParts)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise HTTPException(400, 'send {"parts": [], "filled": []}') from None
        machine: list[Area] = []
        async for filled in in_turns(given.filled, 1):
            if len(machine) < MOST_OF_MACHINE:
                machine += [_area(each) for each in filled if tells_of_this_machine(each.formula, settings.namespace)]
        found: list[bool] = []
        async for parts in in_turns(given.parts, 1):
            found += [await _is_of_template(part, machine) for part in parts]
        return JsonResponse(PartsOfTemplate(found))


def _area(filled: FilledArea) -> Area:
    return Area(filled.top + 1, filled.left + 1, filled.bottom + 1, filled.right + 1, filled.sheet)


async def _is_of_template(part: LivePart, machine: Sequence[Area]) -> bool:
    area = area_of(part.address)
    if area is None or area.sheet != part.sheet or not may_be_of_template(part.name, area, machine):
        return False
    async for numbers in in_turns(list(part.numbers.items()), 1):
        cells = [(_cell(part.sheet, place), formula) for place, formula in numbers]
        if not tell_of_machine_only(cells, machine):
            return False
    return True


def _cell(sheet: str, place: int) -> Area:
    row, column = divmod(place, MAX_COLUMNS)
    return Area(row + 1, column + 1, row + 1, column + 1, sheet)


OPEN_BOOKS = (
    Route("/functions/book", expect_calls, methods=["POST"]),
    Route("/functions/book/cost", preview_refresh, methods=["POST"]),
    Route("/functions/book/parts", live_parts, methods=["POST"]),
)


@asynccontextmanager
async def _opened(request: Request) -> AsyncIterator[tuple[Tenant, OpenFormulas]]:
    """The tenant, and the workbook in the body with its formulas read; raises `HTTPException` 400 for anything else."""
    backend = BackendState.of(request)
    settings = backend.settings
    limits = BodyLimits(settings.max_body_bytes, "setting max_body_bytes", settings.receive_timeout_s)
    async with admitted_body(request, backend, limits, _weight) as (tenant, body):
        await next_turn()
        try:
            formulas = OpenFormulas(_decode(body), settings.namespace)
            await formulas.read()
        except (msgspec.MsgspecError, UnicodeDecodeError, ValueError, RecursionError):
            raise HTTPException(400, FORM) from None
        yield tenant, formulas


def _weight(body: bytes) -> int:
    """Return how many values a book takes the room of; raises `HTTPException` 413 for too large a one."""
    if (members := body.count(b'":')) > MOST_MEMBERS:
        raise HTTPException(413, f"the workbook has more than {MOST_MEMBERS:,} formulas and names")
    if (commas := body.count(b",")) > MOST_CELL_VALUES:
        raise HTTPException(413, f"more than {MOST_CELL_VALUES:,} values and formulas of cells were handed over")
    return VALUES_A_MEMBER * members + commas // CELLS_A_VALUE


async def _cost(request: Request, tenant: Tenant, planned: PlannedCalls, mode: Refresh, formulas: int) -> Cost:
    """Return what the calls would spend. Of several parts the upper bounds add up; a resource may be in each."""
    settings = BackendState.of(request).settings
    everything = await _previews(request, tenant, planned.calls, mode)
    is_sure = len(planned.sure) == len(planned.calls)
    surely = everything if is_sure else await _previews(request, tenant, planned.sure, mode)
    at_least = max(each.cost.at_least for each in surely)
    bounds = [each.cost.at_most for each in everything]
    known = None if planned.is_open or None in bounds else sum(filter(None, bounds))
    at_most = None if known is None else max(known, at_least)
    likely = max(at_least, sum(each.requests for each in everything))
    refusals = (quota_shortfall(each.cost, tenant.client.quota_now, settings) for each in everything)
    shortfall = next(filter(None, refusals), None)
    return Cost(
        requests=likely if at_most is None else at_most,
        at_least=at_least,
        at_most=at_most,
        text="",
        calls=formulas,
        fresh_calls=sum(each.fresh_calls for each in everything),
        quota=tenant.quota,
        allowed=shortfall is None,
        reason=shortfall,
    )


async def _previews(request: Request, tenant: Tenant, texts: Sequence[bytes], mode: Refresh) -> list[CostPreview]:
    """What calls would spend, in parts that are no larger than batches may be."""
    limits, account = BackendState.of(request).settings.batch_limits, account_of(request)
    previews = []
    for part in _parts(texts, limits):
        calls = await valid_calls(part, limits)
        held = VALUE_BYTES * sum(text.count(b",") for text in part)
        await account.grow_in_turn(held)
        previews.append(await tenant.session.cost(calls, after=mode))
        account.shrink(held)
    return previews


def _parts(texts: Sequence[bytes], limits: BatchLimits) -> Iterator[Sequence[bytes]]:
    """Yield calls in parts; one part at least, which may be empty."""
    begin = values = 0
    for at, text in enumerate(texts):
        values += text.count(b",") + 1
        if at > begin and (at - begin == limits.calls or values > limits.values):
            yield texts[begin:at]
            begin, values = at, text.count(b",") + 1
    yield texts[begin:]
