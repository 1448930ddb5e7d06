"""A clock that is set back, told apart from one that stands still or goes at its own speed."""

import time

from dataservice.client.steady_clock import SteadyClock


def test_a_clock_that_is_set_back_is_noticed():
    shown, noticed = [1_000.0, 1_060.0, 460.0], list[float]()
    clock = SteadyClock(iter(shown).__next__, noticed.append)
    assert [clock(), clock()] == shown[1:]
    assert noticed == [600.0]


def test_the_systems_clock_is_compared_with_the_time_that_has_passed():
    passed, noticed = iter([100.0, 400.0]), list[float]()
    clock = SteadyClock(time.time, noticed.append, monotonic=passed.__next__)
    clock()
    assert [round(seconds) for seconds in noticed] == [300]


def test_a_clock_that_stands_still_is_not_set_back():
    noticed: list[float] = []
    clock = SteadyClock(lambda: 1_000.0, noticed.append)
    assert {clock() for _ in range(3)} == {1_000.0}
    assert noticed == []
