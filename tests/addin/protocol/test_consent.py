"""Many requests are sent only after a yes; a question stands for the whole recalculation."""

from addin.protocol.consent import ALLOWED_S, RECALCULATION_S, Consent
from dataservice.client import SignalResource
from dataservice.errors import UnconfirmedError


def signals(first, last):
    return {SignalResource(f"s{number}") for number in range(first, last)}


class World:
    """A consent with a clock, and so many requests left."""

    def __init__(self, left=None):
        self.now, self.left, self.is_old = 0.0, left, False
        self.consent = Consent(10, lambda: self.left, timer=lambda: self.now, is_old=lambda: self.is_old)

    def refusal(self, resources):
        return self.consent.refusal(resources, "say yes")


def test_few_requests_are_sent_without_a_question():
    world = World()
    assert world.refusal(signals(0, 10)) is None
    assert world.consent.question is None


def test_more_are_asked_for_and_the_refusal_says_where_to_answer():
    world = World()
    refused = world.refusal(signals(0, 11))
    assert isinstance(refused, UnconfirmedError)
    assert str(refused) == "this needs 11 requests; say yes"
    assert world.consent.question.text == "This needs 11 requests; more than 10 are sent only after a yes."


def test_more_than_is_left_is_asked_for_too():
    world = World(left=5)
    assert str(world.refusal(signals(0, 6))) == "this needs 6 requests, and only 5 are left this month; say yes"
    assert world.consent.question.text == "This needs 6 requests, and only 5 are left this month."


def test_one_finds_out_where_only_what_was_heard_long_ago_speaks_against_them():
    world = World(left=5)
    assert not world.consent.has_to_find_out(signals(0, 6))
    world.is_old = True
    assert world.consent.has_to_find_out(signals(0, 6))
    assert not world.consent.has_to_find_out(signals(0, 5))
    assert world.refusal(signals(0, 3)) is None
    assert world.consent.has_to_find_out(signals(3, 6)), "they add up"
    world.now += RECALCULATION_S + 1
    assert not world.consent.has_to_find_out(signals(3, 6))
    world.refusal(signals(0, 20))
    world.consent.answer(world.consent.question.number, yes=True)
    assert not world.consent.has_to_find_out(signals(0, 20)), "a yes allows them"
    world.left = 0
    assert not world.consent.has_to_find_out(signals(0, 50)), "the first of them finds out"


def test_where_nothing_is_left_nothing_is_asked_because_nothing_can_be_spent():
    assert World(left=0).refusal(signals(0, 100)) is None


def test_batches_of_one_recalculation_are_one_question():
    world = World()
    assert world.refusal(signals(0, 100)) is not None
    assert world.refusal(signals(50, 150)) is not None
    assert world.refusal(signals(150, 151)) is not None, "a part of the same"
    assert world.consent.question.requests == 151


def test_small_batches_that_follow_each_other_closely_add_up_and_the_refusal_names_both_parts():
    world = World()
    assert world.refusal(signals(0, 6)) is None
    assert str(world.refusal(signals(6, 12))) == "this needs 6 requests beside the 6 sent already; say yes"


def test_a_single_cell_loads_while_an_older_question_waits():
    world = World()
    world.refusal(signals(0, 100))
    world.now += RECALCULATION_S + 1
    assert world.refusal(signals(200, 201)) is None


def test_a_yes_allows_what_was_asked_for_and_a_few_more():
    world = World()
    world.refusal(signals(0, 100))
    assert world.consent.answer(world.consent.question.number, yes=True)
    assert world.refusal(signals(0, 100)) is None
    assert world.refusal(signals(100, 111)) is not None


def test_a_yes_does_not_hold_for_ever():
    world = World()
    world.refusal(signals(0, 100))
    world.consent.answer(world.consent.question.number, yes=True)
    world.now += ALLOWED_S + 1
    assert world.refusal(signals(0, 100)) is not None


def test_a_no_holds_until_a_refresh_which_asks_again():
    world = World()
    world.refusal(signals(0, 100))
    world.consent.answer(world.consent.question.number, yes=False)
    assert str(world.refusal(signals(0, 100))) == "100 requests were not wanted; Refresh asks again"
    assert world.consent.question is None
    world.consent.reset()
    world.refusal(signals(0, 100))
    assert world.consent.question is not None


def test_after_a_no_every_cell_names_all_that_was_not_wanted():
    world = World()
    world.refusal(signals(0, 30))
    world.refusal(signals(30, 100))
    world.consent.answer(world.consent.question.number, yes=False)
    assert str(world.refusal(signals(0, 11))) == "100 requests were not wanted; Refresh asks again"


def test_an_answer_to_an_older_question_is_not_taken():
    world = World()
    world.refusal(signals(0, 100))
    number = world.consent.question.number
    world.consent.answer(number, yes=True)
    assert not world.consent.answer(number, yes=True)


def test_pages_of_histories_count_and_the_rest_is_asked_for_when_they_are_too_many():
    world = World()
    assert world.refusal(signals(0, 6)) is None
    assert not world.consent.takes_too_many(4)
    assert world.consent.takes_too_many(1)
    refused = world.consent.refusal_of_rest(signals(3, 6), 5.5, "say yes")
    assert str(refused) == "this needs about 17 requests beside the 8 sent already; say yes"
    assert (
        world.consent.question.text
        == "This needs about 17 requests beside the 8 sent already; more than 10 are sent only after a yes."
    )


def test_a_yes_covers_pages_as_far_as_was_asked_for_and_a_few_more():
    world = World()
    world.refusal(signals(0, 6))
    world.consent.refusal_of_rest(signals(0, 6), 5.0, "say yes")
    world.consent.answer(world.consent.question.number, yes=True)
    assert world.refusal(signals(0, 6)) is None
    assert not world.consent.takes_too_many(34), "30 and 10 more are allowed, 6 of them are the first pages"
    assert not world.consent.takes_too_many(4), "6 were sent without a question before it"
    assert world.consent.takes_too_many(1)


def test_pages_of_an_earlier_recalculation_do_not_count():
    world = World()
    world.refusal(signals(0, 1))
    assert not world.consent.takes_too_many(9)
    world.now += RECALCULATION_S + 1
    assert world.refusal(signals(1, 11)) is None
