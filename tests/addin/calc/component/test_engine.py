"""What the engine does without Calc: it obeys refreshes elsewhere, and asks again for what an absence left behind."""

from dataclasses import dataclass, field

import pytest

from addin.calc.component.backend import BackendError
from addin.calc.component.calls import Function
from addin.calc.component.engine import CHECK_S, Engine
from addin.calc.component.response_cache import ResponseCache
from addin.calc.component.values import NA

CPI, GOLD, CHANGES = ("SIGNAL", "us-cpi"), ("SIGNAL", "wb.gold"), ("REVISIONS", "us-cpi")
FUNCTIONS = {
    "SIGNAL": Function("SIGNAL", (), None, is_report=False),
    "REVISIONS": Function("REVISIONS", (), None, is_report=True),
}


@dataclass
class Backend:
    """What stands for the backend: it answers with the number of its answers so far."""

    generation: int = 1
    is_up: bool = True
    told: int = 0
    batches: list = field(default_factory=list)

    def answers(self, calls):
        if not self.is_up:
            raise BackendError("away", is_away=True)
        self.batches.append(list(calls))
        self.generation = max(self.generation, self.told)
        return [{"value": float(len(self.batches)), "fresh_s": 900.0} for _ in calls]

    def answers_so_far(self, calls, *, asks=False):
        return self.answers(calls)

    def is_there(self):
        return self.is_up


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def engine(now):
    def clock():
        return now[0]

    return Engine(Backend(), ResponseCache(clock), FUNCTIONS, clock)


def test_after_a_refresh_elsewhere_no_value_is_fresh(engine, now):
    assert engine.value(CPI) == 1
    engine.backend.told = 2
    now[0] += CHECK_S
    assert engine.is_check_due
    engine.check_generation()
    assert engine.take_refreshed()
    assert engine.fresh(CPI) is None
    assert engine.value(CPI) == 3
    assert not engine.take_refreshed()


def test_an_answer_that_tells_of_a_refresh_stays_itself_and_ends_the_older_ones(engine):
    engine.value(CPI)
    engine.backend.told = 2
    engine.value(GOLD)
    assert engine.fresh(CPI) is None
    assert engine.fresh(GOLD).value == 2


def test_a_second_worker_that_counts_lower_changes_nothing(engine):
    engine.backend.generation = 7
    engine.value(CPI)
    engine.backend.told = 3
    engine.value(GOLD)
    assert engine.fresh(CPI) is not None
    assert not engine.take_refreshed()


def test_nobody_asks_while_answers_come(engine, now):
    engine.value(CPI)
    now[0] += CHECK_S - 1
    assert not engine.is_check_due


def test_calls_that_failed_while_the_backend_was_away_are_asked_again_when_it_is_back(engine):
    engine.backend.is_up = False
    assert str(engine.value(CPI)) == str(NA)
    waits = [engine.retry_s, *(engine.retry_s for _ in range(5) if not engine.try_reconnect())]
    assert waits == [2.0, 5.0, 10.0, 30.0, 30.0, 30.0]
    engine.backend.is_up = True
    assert engine.try_reconnect()
    assert engine.retry_s is None
    assert engine.value(CPI) == 1


def test_a_report_is_asked_again_behind_what_it_tells_of(engine):
    engine.fetch([CHANGES])
    assert engine.expire_reports() == []
    engine.fetch([CPI])
    assert engine.expire_reports() == [CHANGES]
    assert engine.fresh(CHANGES) is None
    engine.fetch([CHANGES])
    assert engine.expire_reports() == []
    engine.fetch([CPI, CHANGES])
    assert engine.expire_reports() == [], "the backend answers reports of one batch last"
