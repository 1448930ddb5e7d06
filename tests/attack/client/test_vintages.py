"""What was known when: short runs of the simulator on every store, and of the comparison of all hosts."""

import pytest

from tests.attack.client import one_value
from tests.attack.client.vintages import attack
from tests.dataservice.stores.stores import redis_url  # noqa: F401 - found by being imported here


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("memory", 1),
        ("memory", 11),
        ("memory", 17),
        ("sqlite", 12),
        ("redis", 15),
        ("redis", 16),
    ],
)
async def test_every_question_about_the_past_is_answered_rightly(kind, seed, request):
    url = request.getfixturevalue("redis_url") if kind == "redis" else ""
    found = await attack(400, kind, seed, url)
    assert found.first_wrong == ""
    assert found.figures["not known then"] > 0
    assert found.figures["questions"] >= 400
    assert bool(found.figures["clock set"]) == (seed % 2 == 0)
    assert found.figures["evicted"] > 0


async def test_an_observation_has_one_value_at_a_time_in_all_functions_and_hosts():
    check = await one_value.attack(600, seed=3, samples=10)
    assert check.first_wrong == ""
    assert {"SIGNAL", "SIGNAL_HISTORY", "SPARK", "workbook", "agent-as-of"} <= set(check.figures)
