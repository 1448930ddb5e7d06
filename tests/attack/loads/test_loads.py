"""A short run of the attack on loads."""

import pytest

from tests.attack.loads.events import attack


@pytest.mark.parametrize("first", [1, 11, 21])
async def test_every_cell_ends_what_is_told_was_counted_and_nothing_is_fetched_twice(first):
    for seed in range(first, first + 10):
        assert await attack(seed) == []
