"""What tells what other calls did is made anew whenever a host asks for it, because it may differ by then."""

import httpx
import orjson
import pytest

from addin.protocol.batch import Batches
from addin.protocol.consent import Consent
from addin.protocol.limits import BatchLimits
from addin.protocol.pending_batches import PendingBatches
from addin.protocol.response_cache import ResponseCache
from dataservice.client import AsyncClient
from tests.attack.parts.cold_world import CAP, ColdWorld
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import KEY, URL
from udfs.engine.session import Session

QUOTA, STATUS = b'["QUOTA"]', b'["STATUS"]'
SIGNALS = [b'["SIGNAL","us-cpi"]', b'["SIGNAL","us-10y"]', b'["INDICES"]']


@pytest.mark.parametrize("is_pending", [False, True])
async def test_reports_asked_for_again_tell_of_calls_that_came_after_them(is_pending):
    clock = Clock()
    world = ColdWorld(clock)
    async with AsyncClient(URL, KEY, transport=httpx.MockTransport(world), clock=clock, sleep=clock.sleep) as client:
        session, cache, limits = Session(client, clock=clock), ResponseCache(2**20), BatchLimits()
        consent = Consent(100_000, lambda: None, timer=clock)
        batches = Batches(session, cache, deadline_s=20, limits=limits, consent=consent, clock=clock)
        loads = PendingBatches(session, cache, consent, deadline_s=20, late=batches.late, limits=limits, clock=clock)

        async def shown(calls):
            while True:
                found = await loads.answer(calls, "") if is_pending else await batches.answer(calls)
                cells = orjson.loads(found.answers.text if is_pending else found.text)
                if not any(isinstance(cell, dict) and cell.get("pending") for cell in cells):
                    return cells

        await shown([QUOTA, STATUS, SIGNALS[0]])
        await shown(SIGNALS[1:])  # what depends on it, in a second batch
        quota, status = await shown([QUOTA, STATUS])
        await loads.aclose()
    assert str(CAP - 3) in orjson.dumps(quota).decode()
    assert all(name in orjson.dumps(status).decode() for name in ("us-cpi", "us-10y", "indices"))
