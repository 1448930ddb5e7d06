"""A machine that stands still for a while: what has arrived meanwhile is an answer, and no time-out."""

import asyncio
import time

import pytest

from addin.protocol.batch import Batches
from addin.protocol.consent import Consent
from addin.protocol.limits import BatchLimits
from addin.protocol.response_cache import ResponseCache
from dataservice.fair_timeout import FairTimeout
from tests.dataservice.client.parts.scripted import Scripted, answer, signal
from udfs.engine.session import Session

ANY_NUMBER = Consent(10**9, lambda: None, timer=time.monotonic)
"""Any number of requests is sent without a question."""

STOOD_STILL_S = 60.0


class StandingStill(asyncio.SelectorEventLoop):
    """An event loop whose clock can jump, as it does while the process does not run."""

    ahead_s = 0.0

    def time(self):
        return super().time() + self.ahead_s


def run(main):
    with asyncio.Runner(loop_factory=StandingStill) as runner:
        return runner.run(main())


def test_a_cell_whose_process_stood_still_while_its_answer_arrived_gets_it():
    async def slow(_):
        for _ in range(3):
            await asyncio.sleep(0)
        asyncio.get_running_loop().ahead_s += STOOD_STILL_S
        for _ in range(10):
            await asyncio.sleep(0)
        return answer(signal("us-cpi", 7.0))

    async def main():
        async with Scripted(slow).client() as client:
            batches = Batches(
                Session(client), ResponseCache(2**20), deadline_s=22.0, limits=BatchLimits(), consent=ANY_NUMBER
            )
            return (await batches.answer([b'["SIGNAL","us-cpi"]'])).text

    assert b'"value":7.0' in run(main)


def test_time_in_which_the_process_ran_is_counted():
    async def main():
        loop = asyncio.get_running_loop()
        for _ in range(2):
            with pytest.raises(TimeoutError), FairTimeout(0.01):
                await asyncio.Event().wait()
            loop.ahead_s += 0.5 * STOOD_STILL_S
        loop.call_soon(setattr, loop, "ahead_s", loop.ahead_s + STOOD_STILL_S)
        with pytest.raises(TimeoutError), FairTimeout(0.02):
            await asyncio.Event().wait()

    run(main)
