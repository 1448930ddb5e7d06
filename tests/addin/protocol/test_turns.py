"""Large batches are worked on in turns: other tasks of the loop go on meanwhile, counted by the turns they had."""

from __future__ import annotations

import time

import orjson
import pytest

from addin.protocol.batch import Batches, calls_in_turns
from addin.protocol.consent import Consent
from addin.protocol.limits import BatchLimits
from addin.protocol.response_cache import ResponseCache
from tests.turns import counted_turns
from tests.udfs.parts.asking import session_on

ANY_NUMBER = Consent(10**9, lambda: None, timer=time.monotonic)
"""Any number of requests is sent without a question."""

CELLS = 10_000
LEAST = {
    "different days": (CELLS // 500, [["SIGNAL", "btc-usd", "value", 40_000 + n] for n in range(CELLS)]),
    "a range of days": (CELLS // 50, [["SIGNAL", "btc-usd", "value", [[40_000 + n] for n in range(CELLS)]]]),
    "a range of one name": (CELLS // 50, [["SIGNAL", [["us-cpi"]] * CELLS]]),
    "a wide range": (CELLS // 50, [["SIGNAL", [["us-cpi"] * CELLS]]]),
    "a range of what is wrong": (CELLS // 50, [["SIGNAL", "us-cpi", "value", [["no day"]] * CELLS]]),
    "several ranges": (4 * CELLS // 50, [["SIGNAL", [["us-cpi", name]] * CELLS] for name in ("WTI", "GOLD")]),
}
"""Turns that others have at least, and the calls: the work between two of them is what so many cells take."""


@pytest.mark.parametrize("name", LEAST)
async def test_a_large_batch_lets_others_have_their_turns(service, name):
    least, calls = LEAST[name]
    async with session_on(service) as session:
        batches = Batches(session, ResponseCache(2**26), deadline_s=60, limits=BatchLimits(), consent=ANY_NUMBER)
        await batches.answer([b'["SIGNALS"]', b'["SIGNAL","us-cpi"]'])
        async with counted_turns() as turns:
            answers = await batches.answer(await calls_in_turns(orjson.dumps({"calls": calls}), BatchLimits()))
    assert len(orjson.loads(answers.text)) == len(calls)
    assert turns.count >= least
