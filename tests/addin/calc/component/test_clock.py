"""The component's clock counts the hours that the machine slept, and is not stopped by a clock that is set back."""

import pytest

from addin.calc.component.clock import PassedTime


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
