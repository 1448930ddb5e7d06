"""When a failed request is tried again."""

from hypothesis import given
from hypothesis import strategies as st

from dataservice.client.network.call_context import ATTEMPTS, BASE_S, CAP_S, RetryPolicy

seconds = st.floats(0, 60)
chances = st.floats(0, 1, exclude_max=True)


@given(st.integers(1, 20), seconds, chances, st.none() | seconds, seconds)
def test_no_wait_reaches_beyond_the_limit(attempt, elapsed, chance, retry_after, limit):
    wait = RetryPolicy(limit).wait_s(attempt, elapsed, chance, retry_after)
    assert wait is None or elapsed + wait < limit


@given(st.integers(1, 20), chances)
def test_the_backoff_is_bounded_and_begins_small(attempt, chance):
    wait = RetryPolicy(1_000.0, attempts=100).wait_s(attempt, 0.0, chance)
    assert wait is not None
    assert 0 <= wait <= min(CAP_S, BASE_S * 2 ** (attempt - 1))


@given(st.integers(1, ATTEMPTS - 1), chances, st.floats(0, 30))
def test_a_wait_that_the_service_asked_for_is_not_cut_short(attempt, chance, retry_after):
    wait = RetryPolicy(20.0).wait_s(attempt, 0.0, chance, retry_after)
    assert wait is None if retry_after >= 20.0 else wait is not None and wait >= retry_after


@given(st.lists(chances, min_size=20, max_size=20), seconds)
def test_every_call_ends(jitter, limit):
    retry_policy, elapsed, attempt = RetryPolicy(limit), 0.0, 1
    while (wait := retry_policy.wait_s(attempt, elapsed, jitter[attempt])) is not None:
        elapsed, attempt = elapsed + wait, attempt + 1
    assert attempt <= ATTEMPTS


def test_callers_who_failed_together_come_back_apart():
    assert {RetryPolicy(20.0).wait_s(1, 0.0, chance) for chance in (0.1, 0.5, 0.9)} == {0.025, 0.125, 0.225}
