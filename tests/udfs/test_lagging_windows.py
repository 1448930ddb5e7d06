"""A service whose windows come a day behind its details: a signal's value is never older than one that was shown."""

import httpx
import pytest

from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, page, signal
from udfs.engine.session import Call, Session

ROWS = [{"observed_at": f"2026-07-{day:02}T00:00:00Z", "value": float(day)} for day in range(1, 31)]
HISTORY = Call("SIGNAL_HISTORY", ["us-cpi", "MAX"])
VALUE = Call("SIGNAL", ["us-cpi"])


def lagging(request: httpx.Request) -> httpx.Response:
    if request.url.path.endswith("/observations"):
        return page(ROWS[:-1])
    return answer({**signal(), "latest": ROWS[-1], "history": ROWS})


@pytest.mark.parametrize("wait_s", [0, 3_600, 86_400])
async def test_after_its_history_a_signal_is_not_older_than_before(wait_s):
    clock = Clock()
    async with Scripted(lagging).client(clock) as client:
        session = Session(client, clock=clock)
        (before,) = await session.answer([VALUE])
        clock.advance(wait_s)
        await session.answer([HISTORY])
        (after,) = await session.answer([VALUE])
        (again,) = await session.answer([VALUE])
    assert (before.result, after.result, again.result) == (30.0, 30.0, 30.0)


async def test_where_no_detail_was_seen_the_history_of_this_moment_is_what_the_service_said():
    clock = Clock()
    async with Scripted(lagging).client(clock) as client:
        session = Session(client, clock=clock)
        await session.answer([HISTORY])
        (found,) = await session.answer([VALUE])
    assert (found.result, found.requests) == (29.0, 0)
