"""A short run of the attack by faults."""

import os

from tests.attack.client.faults import attack

FAULTS = int(os.environ.get("ATTACK_FAULTS", "150"))


async def test_what_is_told_is_what_was_spent_and_nothing_known_is_lost_whatever_fails():
    report = await attack(FAULTS, seed=7)
    assert report.is_clean, report
    assert report.faults >= FAULTS
