"""The user's yes or no to many requests, taken by whichever worker holds the question, and known to all of them."""

from __future__ import annotations

import msgspec

from addin.backend.state import BackendState
from addin.backend.tenants import Tenant
from addin.backend.workers.messages import ConsentOutcome, WorkerQuery


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
