"""The cache answers recalculations for as long as each answer allows, by a clock that counts the hours of sleep."""

import pytest

from addin.calc.component.clock import PassedTime
from addin.calc.component.response_cache import CALL_BYTES, HOLD_S, MAX_BYTES, ResponseCache
from addin.calc.component.values import Answer

CPI = ("SIGNAL", "us-cpi")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_an_answer_is_fresh_for_as_long_as_it_says():
    clock = Clock()
    cache = ResponseCache(clock)
    cache.put(CPI, Answer(1.0, 900.0))
    clock.now += 899
    assert cache.is_fresh(cache.get(CPI))
    clock.now += 1
    assert not cache.is_fresh(cache.get(CPI))
    assert cache.get(CPI).value == 1.0


def test_an_answer_that_may_not_be_kept_still_serves_the_recalculation_it_was_asked_for():
    clock = Clock()
    cache = ResponseCache(clock)
    cache.put(CPI, Answer(1.0, 0.0))
    assert cache.is_fresh(cache.get(CPI))
    clock.now += HOLD_S
    assert not cache.is_fresh(cache.get(CPI))


def test_what_was_never_asked_is_not_fresh():
    cache = ResponseCache(Clock())
    assert cache.get(CPI) is None
    assert not cache.is_fresh(None)


def test_after_a_refresh_nothing_is_fresh_and_the_last_values_are_known():
    cache = ResponseCache(Clock())
    cache.put(CPI, Answer(1.0, 900.0, "an old value"))
    cache.expire()
    assert not cache.is_fresh(cache.get(CPI))
    assert cache.get(CPI).value == 1.0
    assert list(cache.messages()) == []


def test_the_latest_message_comes_first():
    cache = ResponseCache(Clock())
    cache.put(CPI, Answer(1.0, 1, "first"))
    cache.put(("SIGNAL", "x"), Answer(1.0, 1, "second"))
    assert list(cache.messages()) == ["second", "first"]


def test_large_tables_push_the_oldest_answers_out():
    cache = ResponseCache(Clock())
    rows = tuple((float(row), "text") for row in range(1_000))
    table_bytes = CALL_BYTES + 1_000 * (2 * 40 + len("text"))
    calls = [("SIGNAL_HISTORY", f"signal-{number}") for number in range(MAX_BYTES // table_bytes + 10)]
    for call in calls:
        cache.put(call, Answer(rows, 900.0))
    kept = [call for call in calls if cache.get(call) is not None]
    assert kept == calls[-len(kept) :]
    assert 0.99 * MAX_BYTES < len(kept) * table_bytes <= MAX_BYTES


def test_an_answer_that_is_replaced_is_counted_once():
    cache = ResponseCache(Clock())
    text = "x" * 10_000
    for _ in range(MAX_BYTES // len(text) * 2):
        cache.put(CPI, Answer(text, 900.0))
    cache.put(("SIGNAL", "us-10y"), Answer(1.0, 900.0))
    assert cache.get(CPI) is not None


@pytest.mark.parametrize(
    ("steps", "passed"),
    [
        ([(5, 5)], 5),
        ([(1, 8 * 3600)], 8 * 3600),
        ([(10, -3600), (10, 10)], 20),
        ([(0, -5)], 0),
        ([(1, 3600), (1, -3600)], 3601),
    ],
)
def test_each_step_is_the_longer_of_both_clocks(steps, passed):
    awake, on_the_wall = [100.0], [1e9]
    clock = PassedTime(lambda: awake[0], lambda: on_the_wall[0])
    for step, wall_step in steps:
        awake[0] += step
        on_the_wall[0] += wall_step
        now = clock()
    assert now == passed
