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


def asked_of(request):
    """The first and the last day of a window that is asked for."""
    return [date.fromisoformat(request.url.params[name]) for name in ("start", "end")]


def rows_from(first, last=date.max):
    return [row for row in ROWS if first <= date.fromisoformat(row["observed_at"][:10]) <= last]


@pytest.mark.parametrize("days", [60, 365, 730])
@pytest.mark.parametrize("window", [(None, None), (date(2021, 1, 1), None), (date(2020, 9, 15), date(2022, 12, 31))])
async def test_the_copy_of_a_later_window_is_not_all_of_the_one_that_was_asked_for(days, window):
    copies = []

    def answer(request):
        copies.append(page(rows_from(*asked_of(request))))
        return copies[0]

    clock = Clock()
    async with Scripted(answer).client(clock) as client:
        since = date(2026, 8, 17) - timedelta(days=days)
        assert len((await client.read(HistoryResource("x", since))).value) == days + 1
        with pytest.raises(MalformedAnswerError, match="were sent, asked from"):
            await client.read(HistoryResource("x", *window))


async def test_a_service_that_minds_no_end_is_asked_once_more_where_its_rows_begin_late():
    begin = date(2024, 3, 1)
    service = Scripted(lambda request: page(rows_from(max(begin, asked_of(request)[0]))))
    async with service.client(Clock()) as client:
        await client.read(HistoryResource("x", date(2025, 8, 17)))
        assert len((await client.read(HistoryResource("x"))).value) == (date(2026, 8, 17) - begin).days + 1
        assert len(service.requests) == 3
        await client.read(HistoryResource("y", date(2024, 3, 1), date(2024, 6, 30)))
        assert len(service.requests) == 4, "rows of its beginning show that it is this window"
