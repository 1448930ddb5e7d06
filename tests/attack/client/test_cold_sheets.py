"""A short run of the attack on cold sheets, and sheets that it found."""

import random

import pytest

from tests.attack.client.cold_sheets import attack, load

WTI = "eia.wti.spot"


@pytest.mark.parametrize(
    "calls",
    [
        [["SIGNAL", "WTI"], [*history], ["SIGNAL", [["us-cpi"], ["cboe.vix"], ["us-gdp"], [WTI]]]]
        for history in (("SIGNAL_HISTORY", "us-10y", "-1Y"), ("SIGNAL_HISTORY", "us-10y", "MAX"))
    ],
)
async def test_a_name_that_another_cell_has_just_fetched_is_not_tried_again(calls):
    for seed in range(3):
        cells, told, world = await load(calls, 40, random.Random(seed) if seed else None)
        assert not [cell for cell in cells if "error" in str(cell)]
        assert told == world.counted == len(set(world.targets))


@pytest.mark.parametrize(
    ("call", "beside"),
    [
        (["SIGNAL_HISTORY", "CPI", "-2Y", None, "freq=M"], [["SIGNAL_HISTORY", "us-cpi", "MAX"]]),
        (["SIGNAL_HISTORY", "CPI", "-2Y", None, "freq=M"], [["SIGNAL", "us-cpi"]]),
        (
            ["SIGNAL_HISTORY", "us-cpi, icsa", "N12", None, "transform=yoy"],
            [
                ["SIGNAL", "us-cpi"],
                ["SIGNAL_HISTORY", "btc, eia.wti.spot", "-1Y"],
                ["SIGNAL_HISTORY", "none.yet, libor.3m", "-2Y", "-1M", "transform=yoy"],
            ],
        ),
        (["SIGNAL_HISTORY", "us-cpi", "-1Y", None, "freq=Q"], [["SIGNAL_HISTORY", "us-cpi", "-3Y"]]),
        (["SIGNAL_HISTORY", "us-cpi", "N1", None, "transform=yoy"], [["SIGNAL", "us-10y"]]),
    ],
)
async def test_a_cell_shows_the_same_whatever_is_beside_it(call, beside):
    (alone,), _, _ = await load([call], 40, None)
    for seed in range(3):
        cells, _, _ = await load([*beside, call], 40, random.Random(seed))
        assert {**cells[-1], "fresh_s": 0} == {**alone, "fresh_s": 0}


async def test_cells_of_cold_sheets_fail_for_reasons_of_their_own_only_and_what_is_told_was_counted():
    check = await attack(25, seed=7)
    assert (check.batches, dict(check.figures)) == (25, {}), check.first
