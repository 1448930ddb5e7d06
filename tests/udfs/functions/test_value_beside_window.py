"""A value and a window of the same signal, asked together: the window's request is enough for both."""

from itertools import permutations

import pandas as pd
import pytest

from tests.attack.client.cold_sheets import load
from tests.embedded import SAMPLE_AS_OF
from tests.udfs.parts.asking import session_on
from udfs.cells import CellError
from udfs.engine.session import Call

NOON = pd.Timestamp(SAMPLE_AS_OF, tz="UTC").timestamp() + 12 * 3600

VALUE = Call("SIGNAL", ("sp-500",))
TWO_YEARS = Call("SIGNAL_HISTORY", ("sp-500", "-2Y"))

TOGETHER = {
    "value, window": ((VALUE, TWO_YEARS), 1),
    "change on a day, window": ((Call("SIGNAL", ("sp-500", "change", "2025-12-31")), TWO_YEARS), 1),
    "value, a year, window": ((VALUE, Call("SIGNAL_HISTORY", ("sp-500", "-1Y")), TWO_YEARS), 1),
    "value, counted rows": ((VALUE, Call("SIGNAL_HISTORY", ("sp-500", "N400"))), 1),
    "value, whole history": ((Call("SIGNAL", ("btc-usd",)), Call("SIGNAL_HISTORY", ("btc-usd", "MAX"))), 3),
    "name, value, window": ((Call("SIGNAL", ("sp-500", "name")), VALUE, TWO_YEARS), 2),
    "value, window of the past": ((VALUE, Call("SIGNAL_HISTORY", ("sp-500", "2022-01-01", "2023-12-31"))), 2),
    "value, window, by shortcode": ((Call("SIGNAL", ("SPX",)), Call("SIGNAL_HISTORY", ("SPX", "-2Y"))), 2),
    "values of two, windows of both": (
        (VALUE, TWO_YEARS, Call("SIGNAL", ("us-10y",)), Call("SIGNAL_HISTORY", ("us-10y", "-2Y"))),
        2,
    ),
}
"""Calls, and the requests that they take together on an empty cache; a shortcode takes the catalogue."""


@pytest.mark.parametrize("name", TOGETHER)
async def test_a_value_beside_a_window_costs_the_window_in_any_order(service, name):
    together, requests = TOGETHER[name]
    for calls in [*permutations(together)][:6]:
        async with session_on(service, clock=lambda: NOON) as session:
            cost = (await session.cost(calls)).cost
            outcomes = await session.answer(calls)
        assert not any(isinstance(outcome.result, CellError) for outcome in outcomes)
        assert sum(outcome.requests for outcome in outcomes) == requests
        assert cost.at_least <= requests


async def test_the_value_is_that_of_the_signal_alone(service):
    shown = []
    for calls in ([VALUE], [VALUE, TWO_YEARS]):
        async with session_on(service, clock=lambda: NOON) as session:
            shown.append((await session.answer(calls))[0].result)
    assert shown[0] == shown[1]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    "value", [["SIGNAL", "us-10y"], ["SIGNAL", "us-10y", "change"], ["SIGNAL", "us-10y", None, "2026-01-05"]]
)
async def test_cells_that_load_one_by_one_share_the_windows_request_too(value, order):
    calls = [value, ["SIGNAL_HISTORY", "us-10y", "-2Y"]][::order]
    cells, told, world = await load(calls, listed=40, shuffled=None)
    assert not any("error" in cell for cell in cells)
    assert told == world.counted == 1, world.targets
