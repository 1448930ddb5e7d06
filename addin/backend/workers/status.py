"""What all workers of a port know together, so that whichever is asked gives the same status."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from math import inf

import msgspec

from addin.backend.operation.metrics import WorkerMeasures
from addin.backend.state import BackendState
from addin.backend.tenants import Tenant
from addin.backend.workers.consent import take
from addin.backend.workers.messages import ConsentOutcome, WorkerQuery, WorkerReport
from addin.protocol.messages import ResourceReport
from dataservice.client import ResourceState, State
from udfs.errors import error_kind, reason
from udfs.functions.status import label


@asynccontextmanager
async def answering_others(backend: BackendState) -> AsyncIterator[None]:
    """Inside the block, tell the other workers of the port what this one knows of a key, and hear what users said."""
    if backend.place is None:
        yield
        return

    async def tell(text: str) -> bytes:
        asked = msgspec.json.decode(text, type=WorkerQuery)
        if asked.measure:
            return msgspec.json.encode(await backend.measures())
        backend.own.scope = backend.own.scope or await backend.own.client.scope()
        tenant = backend.tenant_of(asked.scope)
        if asked.question is not None or asked.granted is not None:
            return msgspec.json.encode(ConsentOutcome(None) if tenant is None else take(tenant, asked))
        return msgspec.json.encode(_told_here(backend, tenant))

    async with backend.place.answering(tell):
        yield


async def told_by_all(backend: BackendState, tenant: Tenant) -> WorkerReport:
    """Return what this worker and the others of the port know of the tenant's key."""
    here = _told_here(backend, tenant)
    if backend.place is None:
        return here
    answers = await backend.place.ask_others(WorkerQuery(tenant.scope).text())
    told = [here, *(msgspec.json.decode(answer, type=WorkerReport) for answer in answers)]
    question = next((each.question for each in told if each.question), None)
    return WorkerReport(merged(each.resources for each in told), sum(each.requests_total for each in told), question)


async def measured_by_all(backend: BackendState) -> list[WorkerMeasures]:
    """Return what each worker of the port holds now; one that does not answer is left out."""
    here = await backend.measures()
    if backend.place is None:
        return [here]
    answers = await backend.place.ask_others(WorkerQuery(None, measure=True).text())
    return [here, *(msgspec.json.decode(answer, type=WorkerMeasures) for answer in answers)]


def _told_here(backend: BackendState, tenant: Tenant | None) -> WorkerReport:
    if tenant is None:
        return WorkerReport([], backend.requests_total)
    question = tenant.consent.question
    return WorkerReport(shown_resources(tenant), backend.requests_total, question.message if question else None)


def merged(tables: Iterable[list[ResourceReport]]) -> list[ResourceReport]:
    """Return one row for each resource: of the youngest answer, and of equally old ones the one with an error.

    Each worker tells ages of when it was asked, so two within a second of each other are equal: the stale one loses.
    """
    best: dict[str, ResourceReport] = {}
    for row in (row for table in tables for row in table):
        known = best.get(row.resource)
        if known is None or _rank(row) < _rank(known):
            best[row.resource] = row
    return sorted(best.values(), key=lambda row: (row.age_s is None, row.resource))


def shown_resources(tenant: Tenant) -> list[ResourceReport]:
    """Return the state of every resource that was requested here; those without a value come last."""
    now = time.time()
    return [_shown(state, now) for state in tenant.client.states()]


def _shown(state: ResourceState, now: float) -> ResourceReport:
    return ResourceReport(
        resource=label(state.resource),
        state=str(state.state),
        age_s=None if state.fetched_at is None else round(max(0.0, now - state.fetched_at), 1),
        source=None if state.source is None else str(state.source),
        last_error=None if state.last_error is None else reason(state.last_error, "This"),
        last_error_kind=None if state.last_error is None else error_kind(state.last_error),
    )


def _rank(row: ResourceReport) -> tuple[float, bool, bool, str]:
    age = inf if row.age_s is None else round(row.age_s)
    return age, row.last_error is None, row.state != State.FRESH, str(row.source)
