"""A short run of the attack by kills."""

from tests.attack.client.kills import attack


async def test_after_a_kill_at_any_moment_all_is_true_and_nothing_known_is_lost():
    report = await attack(4, seed=3)
    assert report.is_clean, report.first_wrong
    assert report.known > 0
