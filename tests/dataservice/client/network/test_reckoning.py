"""Which requests without an answer were counted, by the number that is left."""

from dataservice.client.network.usage import Reckoning


def reckoned(*remaining, lost):
    reckoning = Reckoning()
    for number in remaining:
        reckoning.answered(number)
    for request in lost:
        reckoning.lost(request)
    return reckoning.settle()


def test_lost_ones_that_leave_no_gap_in_the_numbers_were_not_counted():
    assert reckoned(99, 97, 98, lost=["a", "b"]) == ["a", "b"]


def test_as_many_as_are_missing_in_the_numbers_count():
    assert reckoned(99, 97, lost=["a", "b"]) == ["b"]
    assert reckoned(99, 90, lost=["a", "b"]) == []


def test_without_a_number_in_every_answer_all_count():
    assert reckoned(99, None, 98, lost=["a"]) == []


def test_the_next_moment_begins_where_the_one_before_ended():
    reckoning = Reckoning()
    reckoning.answered(99)
    assert reckoning.settle() == []
    reckoning.lost("counted")
    reckoning.answered(97)
    assert reckoning.settle() == []
    reckoning.lost("not counted")
    reckoning.answered(96)
    assert reckoning.settle() == ["not counted"]
