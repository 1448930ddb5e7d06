"""A short run of the attack by interleaved users."""

from tests.attack.hosted.foreign import attack


async def test_however_users_interleave_nobody_sees_an_answer_of_another():
    report = await attack(6_000, seed=2)
    assert report.is_clean, report
    assert min(report.refused, report.refreshes, report.requests) > 0
