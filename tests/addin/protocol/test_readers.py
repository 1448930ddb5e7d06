"""Reading within a deadline always ends: with the answer, the last known value, or the reason."""

import asyncio

import pytest

from addin.protocol.readers import WithinDeadline
from dataservice.client import Answer, IndicesResource, Source
from dataservice.errors import DeadlineExceededError, TierError

KNOWN = Answer("old", fetched_at=0.0, fresh_until=0.0, source=Source.MEMORY)
NEW = Answer("new", fetched_at=1.0, fresh_until=2.0, source=Source.NETWORK, requests=1)


class Reader:
    """A reader whose answer comes when the test lets it."""

    def __init__(self, known=None, error=None):
        self.may_answer = asyncio.Event()
        self.answered = asyncio.Event()
        self.known, self.error = known, error

    def peek(self, resource, *, max_age_s=None):
        return self.known

    async def last_known(self, resource):
        return self.known

    async def read(self, resource, *, known_miss=None, meter=None):
        await self.may_answer.wait()
        self.answered.set()
        if self.error is not None:
            raise self.error
        return NEW


async def test_an_answer_in_time_is_the_answer():
    reader = Reader()
    reader.may_answer.set()
    assert await WithinDeadline(reader, deadline_s=60).read(IndicesResource()) is NEW


async def test_an_error_in_time_is_the_error():
    reader = Reader(KNOWN, TierError("no"))
    reader.may_answer.set()
    with pytest.raises(TierError):
        await WithinDeadline(reader, deadline_s=60).read(IndicesResource())


async def test_after_the_deadline_the_last_known_value_says_why_it_is_old():
    answer = await WithinDeadline(Reader(KNOWN), deadline_s=0).read(IndicesResource())
    assert answer.value == "old"
    assert isinstance(answer.stale_because, DeadlineExceededError)


async def test_after_the_deadline_nothing_known_is_an_error():
    with pytest.raises(DeadlineExceededError, match="within 0 s"):
        await WithinDeadline(Reader(), deadline_s=0).read(IndicesResource())


async def test_the_deadline_is_of_all_reads_together():
    now = iter([0.0, 30.0, 61.0])
    reader = Reader()
    reader.may_answer.set()
    within = WithinDeadline(reader, deadline_s=60, timer=lambda: next(now))
    assert await within.read(IndicesResource()) is NEW
    reader.may_answer.clear()
    with pytest.raises(DeadlineExceededError):
        await within.read(IndicesResource())


@pytest.mark.parametrize("error", [None, TierError("no")])
async def test_a_late_read_goes_on_behind_and_its_failure_disturbs_no_one(error):
    reader = Reader(KNOWN, error)
    await WithinDeadline(reader, deadline_s=0).read(IndicesResource())
    reader.may_answer.set()
    await reader.answered.wait()
    await asyncio.sleep(0)


def test_what_is_at_hand_needs_no_time():
    async def asked():
        within = WithinDeadline(Reader(KNOWN), deadline_s=0)
        assert within.peek(IndicesResource()) is KNOWN
        assert await within.last_known(IndicesResource()) is KNOWN

    asyncio.run(asked())
