"""A short run of the attack on previews."""

from tests.attack.client.previews import attack


async def test_what_is_spent_lies_between_what_the_preview_said():
    check = await attack(20, seed=1)
    assert (check.previews, check.found) == (20, [])
