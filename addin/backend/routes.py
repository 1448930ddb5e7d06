"""The routes of the backend's protocol: batches of calls, refreshes, and the backend's status, key and functions."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from functools import cache, partial

from msgspec import UNSET, UnsetType
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from addin.backend.admission import admitted_batch, admitted_tenant, note_spent, owned_backend, who_is_there
from addin.backend.answers import BatchAnswer
from addin.backend.http import JsonResponse, read_members, read_message
from addin.backend.limits.accounts import account_of
from addin.backend.open_books import OPEN_BOOKS
from addin.backend.operation.facts import facts_of
from addin.backend.operation.metrics import MEDIA_TYPE
from addin.backend.security import may_scrape
from addin.backend.state import BackendState, quota_shortfall
from addin.backend.tenants import Tenant
from addin.backend.workers.exchange import answer_of_all, measured_by_all, told_by_all
from addin.config.api_key import checked_key
from addin.config.connect import open_client
from addin.formulas.advice import advice, wrong_count
from addin.protocol.batch import valid_calls
from addin.protocol.describe import describe
from addin.protocol.encoding import Answers
from addin.protocol.messages import (
    Advice,
    AdviceRequest,
    Budget,
    ConsentAnswer,
    ConsentTaken,
    Cost,
    KeySaved,
    KeyVerdict,
    ProbeFinding,
    ProbeVerdict,
    Progress,
    Question,
    Refreshed,
    RefreshRequest,
    Reply,
    Status,
    encode,
    encode_around,
)
from addin.protocol.pending_batches import PartialReply
from dataservice.client import Refresh
from dataservice.errors import DataServiceError
from dataservice.version import product_version
from udfs import REGISTRY
from udfs.errors import error_kind, reason

MOST_LOST = 100
"""So many lost posts can be named at once."""

LEFT_ENDS_WITHIN_S = 3.0
"""A post whose caller has left fetches nothing more: it ends when what is under way has its answer."""

BAD_MODE = 'mode is "stale" or "force"'

WHERE_ASKED = {
    "yes": "say yes or no in the task pane; in the sheet, above the cells",
    "menu": "press Load above the cells, or choose Data Service ▸ Load Waiting Cells",
}
"""Where hosts ask the question whether many requests may be sent, by what they put into `?asks=`."""


async def answer_calls(request: Request) -> Response:
    """POST /functions/call: the answers to many calls, in order.

    With `?pending=yes` within about two seconds; what is not there by then is pending, and is to be posted again. Where
    others keep the backend busy, such a post is answered within some seconds more, or refused as one too many. With
    `?asks=` one of `WHERE_ASKED` the caller shows the question whether many requests may be sent. A caller that names
    its post (`?post=`) may send it again, or name it in a later one (`?lost=`), if its answer is lost.
    """
    backend = BackendState.of(request)
    post = request.query_params.get("post", "")
    if _may_be_pending(request):
        account_of(request).hurry()
    async with admitted_batch(request, backend) as (tenant, calls):
        with tenant.told.answering(post):
            return await _answered(request, tenant, calls, post)


async def _answered(request: Request, tenant: Tenant, calls: Sequence[bytes], post: str) -> Response:
    """Answer the calls of a post, and tell what it has spent."""
    backend, asked = BackendState.of(request), request.query_params
    if backend.settings.background_refresh and tenant is backend.own:
        backend.recent_calls.add(calls, time.time())
    where = WHERE_ASKED.get(asked.get("asks", "")) or _elsewhere(request, backend)
    lost = [each for each in asked.get("lost", "").split(",")[:MOST_LOST] if each]
    await tenant.told.have_ended(lost, LEFT_ENDS_WITHIN_S)
    loaded = await _loaded(request, tenant, calls, where) if _may_be_pending(request) else None
    answers = loaded.answers if loaded else await _whole(request, tenant, calls, where)
    try:
        if await request.is_disconnected():
            raise ClientDisconnect
        account_of(request).hold(answers.held_bytes)
    except (ClientDisconnect, HTTPException):
        tenant.batches.late.add(answers.requests)  # told with the next answer, as this one is not sent
        raise
    backend.requests_total += answers.requests
    await note_spent(request, backend, answers.requests)
    spent = await backend.tell(tenant, post, lost, answers.requests)
    await backend.metrics.answered(answers.heads, answers.requests)
    progress, question = _loading(tenant, loaded)
    head, tail = encode_around(Reply([], spent, tenant.quota, tenant.generation, progress, question))
    return BatchAnswer(head, answers.pieces, tail)


def _may_be_pending(request: Request) -> bool:
    return request.query_params.get("pending") == "yes"


async def _whole(request: Request, tenant: Tenant, calls: Sequence[bytes], where: str) -> Answers:
    """Return the answers to all of `calls`, once it is their turn among those of the key."""
    async with tenant.turn():
        if await request.is_disconnected():
            raise ClientDisconnect  # while it waited; nothing was spent
        with BackendState.of(request).metrics.batch():
            return await tenant.batches.answer(calls, where)


async def _loaded(request: Request, tenant: Tenant, calls: Sequence[bytes], where: str) -> PartialReply:
    """Return what is there of `calls` soon; if the caller goes away meanwhile, nothing more is fetched for them.

    They take none of the turns of their key: a page would wait behind others that wait for the service.
    """
    backend, account = BackendState.of(request), account_of(request)
    has_room = partial(backend.has_room_to_load, tenant, account)
    answering = asyncio.ensure_future(tenant.pending.answer(calls, where, has_room))
    leaving = asyncio.ensure_future(_left(request))
    try:
        with backend.metrics.batch():
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                tenant.pending.drop(calls)
            return await answering
    finally:
        leaving.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def advise(request: Request) -> Response:
    """POST /functions/advice: what to change in a formula that a host cannot read; costs no request."""
    settings = BackendState.of(request).settings
    asked = await read_message(request, settings, AdviceRequest, 'send {"formula": "=SIGNAL(1)"}')
    said = advice(asked.formula, settings.namespace, frozenset(REGISTRY), alone=False)
    return JsonResponse(Advice(said or wrong_count(asked.formula, settings.namespace, REGISTRY)))


async def drop_calls(request: Request) -> Response:
    """POST /functions/drop: fetch nothing more for these calls, which were pending."""
    backend = BackendState.of(request)
    async with admitted_batch(request, backend) as (tenant, calls):
        tenant.pending.drop(calls)
        return JsonResponse({"ok": True})


async def answer_question(request: Request) -> Response:
    """POST /functions/consent: whether to load what was asked for; `{"taken": false}` if nothing is asked any more."""
    backend = BackendState.of(request)
    given = await read_message(request, backend.settings, ConsentAnswer, 'send {"question": 1, "load": true}')
    async with admitted_tenant(request, backend) as tenant:
        taken = await answer_of_all(backend, tenant, given.question, yes=given.load)
        return JsonResponse(ConsentTaken(taken))


async def preview_cost(request: Request) -> Response:
    """POST /functions/cost: what the same batch would spend now, or after `?refresh=…`; sends nothing."""
    backend = BackendState.of(request)
    mode = request.query_params.get("refresh")
    if mode not in (None, *Refresh):
        raise HTTPException(400, BAD_MODE)
    after = None if mode is None else Refresh(mode)
    async with admitted_batch(request, backend) as (tenant, texts):
        calls = await valid_calls(texts, backend.settings.batch_limits)
        preview = await tenant.session.cost(calls, after=after)
        shortfall = quota_shortfall(preview.cost, tenant.client.quota_now, backend.settings)
        return JsonResponse(
            Cost(
                requests=preview.requests,
                at_least=preview.cost.at_least,
                at_most=preview.cost.at_most,
                text=str(preview.cost),
                calls=len(texts),
                fresh_calls=preview.fresh_calls + len(texts) - len(calls),
                quota=tenant.quota,
                allowed=shortfall is None,
                reason=shortfall,
            )
        )


async def refresh(request: Request) -> Response:
    """POST /refresh: ask again for what is stale, or with mode "force" for everything."""
    backend = BackendState.of(request)
    given = await read_message(request, backend.settings, RefreshRequest, BAD_MODE)
    async with admitted_tenant(request, backend) as tenant:
        await backend.refresh(tenant, force=given.mode == "force")
        return JsonResponse(Refreshed(tenant.generation, tenant.quota))


async def status(request: Request) -> Response:
    """GET /status: version, key, quota, budget, and the state of every resource that was requested."""
    backend = BackendState.of(request)
    settings = backend.settings
    async with admitted_tenant(request, backend) as tenant:
        await tenant.client.look_up_quota()
        told = await told_by_all(backend, tenant)
        return JsonResponse(
            Status(
                version=product_version(),
                service=settings.url,
                namespace=settings.namespace,
                ttl_s=settings.ttl_s,
                shared=settings.per_user_keys,
                key=backend.key_state,
                quota=tenant.quota,
                budget=Budget(settings.reserve, settings.monthly_budget),
                question=told.question,
                resources=told.resources,
                generation=tenant.generation,
                requests_total=told.requests_total,
                started_at=backend.started_at,
                person=await who_is_there(request, backend),
            )
        )


async def set_key(request: Request) -> Response:
    """POST /key: store a key and use it from now on."""
    backend = owned_backend(request)
    given = (await read_members(request, backend.settings)).get("key")
    await backend.use_key(backend.keys.save(_key_text(given)))
    return await _key_response(backend)


async def forget_key(request: Request) -> Response:
    """DELETE /key: forget the stored key and use none."""
    backend = owned_backend(request)
    try:
        backend.keys.forget()
    finally:
        await backend.use_key(None)
    return await _key_response(backend)


async def test_key(request: Request) -> Response:
    """POST /key/test: ask the service once, with the key given or the one in use."""
    backend = owned_backend(request)
    given = (await read_members(request, backend.settings)).get("key")
    used = backend.key.value if backend.key else None
    key = used if given is None else checked_key(_key_text(given))
    async with open_client(backend.settings, key, None) as client:  # without a store nothing is found in a cache
        try:
            quota = await client.quota()
        except DataServiceError as error:
            kind = error_kind(error)
            return JsonResponse(
                KeyVerdict(
                    ok=False, tier=None, message=reason(error, "This"), kind=UNSET if kind is None else str(kind)
                )
            )
    left = f"{quota.remaining:,} of {quota.cap:,} requests are left this month"
    return JsonResponse(KeyVerdict(ok=True, tier=quota.tier, message=f"The key works ({quota.tier} tier): {left}."))


async def probe_contract(request: Request) -> Response:
    """POST /contract: find out in at most 11 requests how the service answers what its contract leaves open."""
    backend = BackendState.of(request)
    async with admitted_tenant(request, backend) as tenant:
        before = tenant.client.requests_sent
        found, problem = [], ""
        try:
            profile = await tenant.client.probe()
            found = [ProbeFinding(each.question, each.found, each.does) for each in profile.deviations]
        except DataServiceError as error:
            problem = reason(error, "This")
        spent = tenant.client.requests_sent - before
        backend.requests_total += spent
        await note_spent(request, backend, spent)
        if not problem:
            await backend.refresh(tenant, force=False)
        return JsonResponse(ProbeVerdict(ok=not problem, message=problem, requests=spent, findings=found))


async def registry(_: Request) -> Response:
    """GET /registry.json: every function with its help, arguments and options."""
    return JsonResponse(_registry())


async def health(request: Request) -> Response:
    """GET /health: that the backend answers at all, and where it has several processes, which one does."""
    worker = {} if BackendState.of(request).place is None else {"worker": os.getpid()}
    return JsonResponse({"ok": True, **worker})


async def serving(request: Request) -> Response:
    """GET /health/serving: whether new callers may be sent here, 503 once the backend was told to stop."""
    is_draining = BackendState.of(request).is_draining
    return JsonResponse({"serving": not is_draining}, 503 if is_draining else 200)


async def metrics(request: Request) -> Response:
    """GET /metrics: what is counted and measured, as Prometheus reads it."""
    backend = BackendState.of(request)
    if not may_scrape(request, backend.metrics_token):
        raise HTTPException(401, "send the token for metrics: Authorization: Bearer … (metrics_token)")
    workers = await measured_by_all(backend)
    text = backend.metrics.text(workers, await facts_of(backend, workers), product_version())
    return Response(text, media_type=MEDIA_TYPE)


async def ready(request: Request) -> Response:
    """GET /ready: whether all that the backend needs works, 503 if not or once it drains; costs no request."""
    backend = BackendState.of(request)
    if backend.is_draining:
        return JsonResponse({"ready": False, "draining": True}, 503)
    return await dependencies(request)


async def dependencies(request: Request) -> Response:
    """GET /health/dependencies: the same while the backend drains."""
    readiness = await BackendState.of(request).readiness.now()
    return JsonResponse(readiness.members(), 200 if readiness.ready else 503)


ROUTES = (
    Route("/functions/call", answer_calls, methods=["POST"]),
    Route("/functions/drop", drop_calls, methods=["POST"]),
    Route("/functions/advice", advise, methods=["POST"]),
    *OPEN_BOOKS,
    Route("/functions/consent", answer_question, methods=["POST"]),
    Route("/functions/cost", preview_cost, methods=["POST"]),
    Route("/refresh", refresh, methods=["POST"]),
    Route("/status", status),
    Route("/key", set_key, methods=["POST"]),
    Route("/key", forget_key, methods=["DELETE"]),
    Route("/key/test", test_key, methods=["POST"]),
    Route("/contract", probe_contract, methods=["POST"]),
    Route("/registry.json", registry),
    Route("/health", health),
    Route("/live", health),
    Route("/health/serving", serving),
    Route("/ready", ready),
    Route("/health/dependencies", dependencies),
    Route("/metrics", metrics),
)


def _elsewhere(request: Request, backend: BackendState) -> str:
    """Return where a user of a host without a pane can allow it."""
    base = (backend.settings.public_url or f"{request.url.scheme}://{request.headers['host']}").rstrip("/")
    limit = f"ask_above ({backend.settings.ask_above:,}) sets how many need none"
    return f"say yes at {base}/taskpane.html and refresh; {limit}"


def _loading(tenant: Tenant, loaded: PartialReply | None) -> tuple[Progress | UnsetType, Question | UnsetType]:
    """Return what only callers are told that know of pending calls: how far loading is, and the question."""
    progress: Progress | UnsetType = UNSET
    if loaded is None:
        return progress, UNSET
    if loaded.pending:
        left_s = None if loaded.left_s is None else round(loaded.left_s, 1)
        progress = Progress(loaded.done, loaded.of, left_s, tenant.client.pace or UNSET)
    question = tenant.consent.question
    return progress, UNSET if question is None else question.message


def _key_text(given: object) -> str:
    if not isinstance(given, str):
        raise HTTPException(400, 'send {"key": "…"}')
    return given


async def _key_response(backend: BackendState) -> Response:
    async with backend.tenant() as tenant:
        return JsonResponse(KeySaved(backend.key_state, tenant.generation))


@cache
def _registry() -> bytes:
    return encode([describe(function) for function in REGISTRY.values()])
