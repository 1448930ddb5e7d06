"""Batches of calls over HTTP: answering them, saying what they would cost, and refreshing."""

from __future__ import annotations

import time

import orjson
from starlette.requests import Request
from starlette.responses import Response

from addin.backend.http import JsonResponse, Refusal, read_body, read_members, user_key
from addin.backend.quota_check import allowance_text
from addin.backend.state import Backend, quota_members
from addin.backend.tenants import Tenant
from addin.protocol.batch import BadBatchError, calls_in, read_call
from udfs.engine.session import Call


async def answer_calls(request: Request) -> Response:
    """POST /functions/call: the answers to many calls, in order."""
    backend = Backend.of(request)
    calls = await _read_calls(request, backend)
    user = user_key(request, backend.settings)
    if backend.settings.background_refresh and user is None:
        backend.asked.note(calls, time.time())
    async with backend.accounts.lent(user) as account:
        answers = await account.batches.answer(calls)
        backend.requests_total += answers.requests
        return JsonResponse(
            b'{"answers":%b,"requests":%d,"quota":%b,"generation":%d}'
            % (answers.text, answers.requests, orjson.dumps(quota_members(account.client)), account.generation)
        )


async def preview_cost(request: Request) -> Response:
    """POST /functions/cost: what the same batch would spend now; sends nothing."""
    backend = Backend.of(request)
    calls = await _read_calls(request, backend)
    async with backend.accounts.lent(user_key(request, backend.settings)) as account:
        return JsonResponse(await _cost(account, calls, backend))


async def refresh(request: Request) -> Response:
    """POST /refresh: ask again for what is stale, or with mode "force" for everything."""
    backend = Backend.of(request)
    mode = (await read_members(request, backend.settings)).get("mode", "stale")
    if mode not in ("stale", "force"):
        raise Refusal(400, 'mode is "stale" or "force"')
    async with backend.accounts.lent(user_key(request, backend.settings)) as account:
        await backend.accounts.refresh(account, force=mode == "force")
        return JsonResponse({"generation": account.generation, "quota": quota_members(account.client)})


async def _read_calls(request: Request, backend: Backend) -> list[bytes]:
    body = await read_body(request, backend.settings)
    try:
        calls = calls_in(body)
    except BadBatchError as error:
        raise Refusal(400, str(error)) from None
    limit = backend.settings.max_calls
    if len(calls) > limit:
        raise Refusal(413, f"{len(calls):,} calls are more than {limit:,} in one batch (setting max_calls)")
    return calls


async def _cost(account: Tenant, texts: list[bytes], backend: Backend) -> dict[str, object]:
    calls = [call for call in map(read_call, texts) if isinstance(call, Call)]
    preview = await account.session.cost(calls)
    reason = allowance_text(
        preview.requests,
        account.client.quota_now,
        reserve=backend.settings.reserve,
        monthly_budget=backend.settings.monthly_budget,
    )
    return {
        "requests": preview.requests,
        "calls": len(texts),
        "fresh_calls": preview.fresh_calls + len(texts) - len(calls),
        "quota": quota_members(account.client),
        "allowed": reason is None,
        "reason": reason,
    }
