"""The memo answers recalculations for as long as each answer allows."""

from addin.calc.component.memo import HOLD_S, Memo
from addin.calc.component.values import Verdict

CPI = ("SIGNAL", "us-cpi")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_an_answer_is_fresh_for_as_long_as_it_says():
    clock = Clock()
    memo = Memo(clock)
    memo.put(CPI, Verdict(1.0, 900.0))
    clock.now += 899
    assert memo.is_fresh(memo.get(CPI))
    clock.now += 1
    assert not memo.is_fresh(memo.get(CPI))
    assert memo.get(CPI).value == 1.0


def test_an_answer_that_may_not_be_kept_still_serves_the_recalculation_it_was_asked_for():
    clock = Clock()
    memo = Memo(clock)
    memo.put(CPI, Verdict(1.0, 0.0))
    assert memo.is_fresh(memo.get(CPI))
    clock.now += HOLD_S
    assert not memo.is_fresh(memo.get(CPI))


def test_what_was_never_asked_is_not_fresh():
    memo = Memo(Clock())
    assert memo.get(CPI) is None
    assert not memo.is_fresh(None)


def test_after_a_refresh_nothing_is_fresh_and_the_last_values_are_known():
    memo = Memo(Clock())
    memo.put(CPI, Verdict(1.0, 900.0, "an old value"))
    memo.expire()
    assert not memo.is_fresh(memo.get(CPI))
    assert memo.get(CPI).value == 1.0
    assert list(memo.messages()) == []


def test_the_latest_message_comes_first():
    memo = Memo(Clock())
    memo.put(CPI, Verdict(1.0, 1, "first"))
    memo.put(("SIGNAL", "x"), Verdict(1.0, 1, "second"))
    assert list(memo.messages()) == ["second", "first"]
