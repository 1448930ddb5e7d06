"""How far loading is, and how long the rest takes."""

from addin.protocol.load_progress import LOOK_BACK_S, LoadProgress


def paced(seconds, a_second, of=1_000):
    pace = LoadProgress()
    pace.begin(of, 0.0)
    for now in range(1, seconds + 1):
        for _ in range(a_second):
            pace.end()
        left_s = pace.left_s(float(now))
    return pace, left_s


def test_the_rest_takes_as_long_as_the_last_seconds_suggest():
    _, left_s = paced(4, 50)
    assert left_s == (1_000 - 200) / 50


def test_what_came_at_once_from_a_cache_is_soon_no_measure():
    pace = LoadProgress()
    pace.begin(1_000, 0.0)
    for _ in range(500):
        pace.end()
    for now in range(1, int(LOOK_BACK_S) + 3):
        for _ in range(10):
            pace.end()
        left_s = pace.left_s(float(now))
    assert left_s == (1_000 - 500 - 120) / 10


def test_nothing_is_told_before_anything_can_be_known():
    pace = LoadProgress()
    pace.begin(1_000, 0.0)
    assert pace.left_s(5.0) is None


def test_what_is_given_up_is_not_waited_for():
    pace, _ = paced(2, 100, of=1_000)
    pace.give_up()
    assert (pace.done, pace.of) == (200, 999)


def test_a_new_load_is_counted_from_its_beginning():
    pace, _ = paced(1, 1_000)
    pace.begin(5, 100.0)
    assert (pace.done, pace.of) == (0, 5)
