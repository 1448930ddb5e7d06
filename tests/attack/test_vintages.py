"""What was known when: a short run of the simulator on every store."""

import pytest

from tests.attack.vintages import attack


@pytest.mark.parametrize(("kind", "seed"), [("memory", 11), ("sqlite", 12), ("redis", 13)])
async def test_every_question_about_the_past_is_answered_rightly(kind, seed, request):
    redis_url = request.getfixturevalue("redis_url") if kind == "redis" else ""
    found = await attack(400, kind, seed, redis_url)
    assert found.first_wrong == ""
    assert found.figures["not known then"] > 0
    assert found.figures["questions"] >= 400
