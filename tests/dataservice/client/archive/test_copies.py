"""A gateway that gives the copy of another window: what it tells is no change of what was known."""

from datetime import date, timedelta

import pytest

from dataservice.client import HistoryResource
from dataservice.errors import MalformedAnswerError
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, page

FIRST = date(2020, 9, 1)
ROWS = [{"observed_at": f"{FIRST + timedelta(days=n)}T00:00:00Z", "value": float(n)} for n in range(2_191)]


@pytest.mark.parametrize("window", [(None, date(2020, 8, 31)), (None, date(2021, 6, 30)), (date(2021, 1, 1), None)])
async def test_the_copy_of_another_window_shows_no_revision_and_no_empty_days(window):
    service, clock, store = Scripted(lambda _: page(ROWS)), Clock(), MemoryStore()
    async with service.client(clock, store=store) as first:
        with pytest.raises(MalformedAnswerError, match="were sent, asked from"):
            await first.read(HistoryResource("x"))
    for _ in range(2):
        clock.advance(1_000.0)
        async with service.client(clock, store=store) as other:
            with pytest.raises(MalformedAnswerError, match="were sent, asked from"):
                await other.read(HistoryResource("x", *window))
            assert (await other.revisions("x")).empty
