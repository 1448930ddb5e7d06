"""What several workers know of the same resources becomes one table."""

from itertools import permutations

from addin.backend.workers.exchange import merged
from addin.protocol.messages import ResourceReport


def row(state="fresh", age_s=0.2, error=None, source="network"):
    return ResourceReport("signal us-cpi", state, age_s, source, error, None)


def test_the_youngest_answer_is_told():
    for tables in permutations([[row("stale", 900.0)], [row("fresh", 3.0)], [row("missing", None, "no such signal")]]):
        assert merged(tables) == [row("fresh", 3.0)]


def test_of_two_answers_within_a_second_the_one_that_is_not_stale_is_told():
    for tables in permutations([[row("stale", 0.3, source="memory")], [row("fresh", 0.1)]]):
        assert merged(tables) == [row("fresh", 0.1)]


def test_of_equally_old_answers_the_one_with_an_error_is_told():
    for tables in permutations([[row("fresh", 0.1)], [row("offline", 0.3, "the service does not answer")]]):
        assert merged(tables) == [row("offline", 0.3, "the service does not answer")]
