"""How often the same comes again that is refused for coming too soon."""

import pytest

from dataservice.client.network.call_context import AGAIN_TIMES, LIMITED_TIMES, TOGETHER_SUM, LimitedNames
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, refusal, signal


def tries(limited, about="x"):
    return next(times for times in range(1, 100) if limited.is_enough(about, times))


def test_what_was_given_up_is_tried_less_often_until_it_is_answered():
    limited = LimitedNames()
    assert [tries(limited) for _ in range(3)] == [LIMITED_TIMES, AGAIN_TIMES, AGAIN_TIMES]
    assert tries(limited, "y") == LIMITED_TIMES
    limited.answered("x")
    assert tries(limited) == LIMITED_TIMES


def test_two_requests_about_the_same_share_their_tries():
    limited = LimitedNames()
    assert [limited.is_enough("x", times // 2 + 1) for times in range(LIMITED_TIMES)].index(True) == TOGETHER_SUM - 1


def test_many_requests_that_are_refused_once_together_are_not_given_up():
    limited = LimitedNames()
    assert not any(limited.is_enough("x", 1) for _ in range(100))


@pytest.mark.parametrize("name", ["us-cpi", "a.b"])
async def test_a_signal_that_is_always_refused_so_costs_little_from_the_second_time_on(name):
    def say(request):
        return refusal(429) if name in request.url.path else answer(signal("other"))

    def tried():
        return sum(name in request.url.path for request in service.requests)

    clock, service = Clock(), Scripted(say)
    async with service.client(clock, sleep=clock.sleep, deadline_s=600.0) as client:
        spent = []
        for _ in range(3):
            before = tried()
            with pytest.raises(Exception, match="HTTP 429"):
                await client.signal(name)
            await client.signal("other")
            clock.advance(1_000)
            spent.append(tried() - before)
    assert spent[0] > AGAIN_TIMES
    assert max(spent[1:]) <= AGAIN_TIMES
