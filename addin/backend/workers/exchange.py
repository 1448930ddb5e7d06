"""What the workers of a port ask each other, so that whichever is asked tells what all of them know.

A user's yes or no to many requests is taken by whichever worker holds the question, and known to all.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from math import inf

import msgspec

from addin.backend.operation.metrics import WorkerMeasures
from addin.backend.state import BackendState
from addin.backend.tenants import Tenant
from addin.protocol.messages import Question, ResourceReport
from dataservice.client import ResourceState, State
from udfs.errors import error_kind, reason
from udfs.functions.status import label


class WorkerQuery(msgspec.Struct, frozen=True, omit_defaults=True):
    """A worker's question to the others about the key that the store names `scope`, None without a key.

    With `question`: the user's answer to it, should the other hold it; with `granted`: so many requests were allowed,
    or declined; with `measure`: what the worker holds now. With none of them: what the other knows.
    """

    scope: str | None
    question: int | None = None
    granted: int | None = None
    load: bool = False
    measure: bool = False

    def text(self) -> str:
        """On one line."""
        return msgspec.json.encode(self).decode()


class WorkerReport(msgspec.Struct, frozen=True):
    """A worker's report on one key: its resources, its requests for formulas so far, the question that is open."""

    resources: list[ResourceReport]
    requests_total: int
    question: Question | None = None


class ConsentOutcome(msgspec.Struct, frozen=True):
    """For how many requests the answer was, where it was taken."""

    requests: int | None


async def answer_of_all(backend: BackendState, tenant: Tenant, number: int, *, yes: bool) -> bool:
    """Take the user's answer to a question that this worker holds or another one; False if no one has it open."""
    requests = tenant.consent.answer(number, yes=yes)
    if backend.place is None:
        if requests is not None:
            await backend.keep_answer(tenant, requests, yes=yes)
        return requests is not None
    answer = WorkerQuery(tenant.scope, question=number, load=yes)
    if requests is None:
        told = await backend.place.ask_others(answer.text())
        taken = (msgspec.json.decode(each, type=ConsentOutcome).requests for each in told)
        requests = next((each for each in taken if each is not None), None)
        if requests is None:
            return False
    tenant.consent.learn(requests, yes=yes)
    await backend.keep_answer(tenant, requests, yes=yes)
    await backend.place.ask_others(WorkerQuery(tenant.scope, granted=requests, load=yes).text())
    return True


def take(tenant: Tenant, asked: WorkerQuery) -> ConsentOutcome:
    """Take an answer that came to another worker."""
    if asked.question is not None:
        return ConsentOutcome(tenant.consent.answer(asked.question, yes=asked.load))
    if asked.granted is not None:
        tenant.consent.learn(asked.granted, yes=asked.load)
    return ConsentOutcome(asked.granted)


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
