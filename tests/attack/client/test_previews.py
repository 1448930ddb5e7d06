"""A short run of the attack on previews, and worlds that it found."""

import random

import pytest

from tests.attack.client.previews import Check, attack, world


async def test_what_is_spent_lies_between_what_the_preview_said():
    check = await attack(20, seed=1)
    assert (check.previews, check.found) == (20, [])


@pytest.mark.parametrize(
    ("number", "sheets"),
    [
        pytest.param(5_000_056, 7, id="a detail that reaches back a day less than the one before"),
        pytest.param(5_000_089, 3, id="hourly values, of which those asked for were taken back"),
        pytest.param(5_000_106, 2, id="a detail beside a window of the same signal, after a forced refresh"),
        pytest.param(5_000_259, 10, id="a detail that no longer proves that it is the whole"),
        pytest.param(301_002_763, 10, id="days asked again, which are not what they were, beside days that are fresh"),
        pytest.param(71_002_403, 6, id="hours of which all that was known was taken back"),
        pytest.param(1_004_653, 10, id="days that only the detail before showed"),
        pytest.param(71_002_513, 10, id="the same beside a name that does not exist"),
        pytest.param(1_002_913, 10, id="as many rows as a page may hold, which a total may count alone"),
    ],
)
async def test_what_was_known_may_have_changed_and_the_preview_tells_what_that_costs(number, sheets):
    check = Check()
    await world(random.Random(number), sheets, check, "")
    assert check.found == []


@pytest.mark.parametrize(
    ("number", "sheets"),
    [
        pytest.param(9_120, 8, id="a series that was backfilled"),
        pytest.param(9_061, 1, id="what reports on a signal under another name"),
        pytest.param(1_004_523, 7, id="a service that keeps just so many rows of a series"),
        pytest.param(1_002_433, 4, id="a name that the catalogue lost, beside one that is none"),
    ],
)
async def test_series_that_shrink_are_backfilled_or_come_late_cost_what_is_told(number, sheets):
    check = Check()
    await world(random.Random(number), sheets, check, "", random.Random(number))
    assert check.found == []
