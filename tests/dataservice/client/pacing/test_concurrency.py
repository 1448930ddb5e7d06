"""How many requests may be under way: decided from how long answers take, without a clock or a network."""

from hypothesis import given
from hypothesis import strategies as st

from dataservice.client.pacing.concurrency import FIRST_ROUND, LEAST_SHARE, Concurrency

MOST = 64


def after_rounds(rounds, latency_of, most=MOST, waiting=500):
    """Return the places in each round of a service whose answers take `latency_of` what is under way."""
    concurrency = Concurrency(most)
    places = []
    for _ in range(rounds):
        places.append(concurrency.places)
        for _ in range(concurrency.places):
            concurrency.answered(latency_of(places[-1]), were_all_taken=True, waiting=waiting)
    return places


def test_a_service_far_away_is_used_fully_after_a_round_where_much_waits():
    assert after_rounds(2, lambda under_way: 0.2) == [FIRST_ROUND, MOST]


def test_a_first_load_of_a_batch_uses_it_fully_after_six():
    assert after_rounds(7, lambda under_way: 0.2, waiting=60) == [FIRST_ROUND, 15, 27, 39, 51, 63, MOST]


def test_where_little_waits_little_is_risked():
    assert after_rounds(3, lambda under_way: 0.02, waiting=6) == [FIRST_ROUND, 4, 5]


def test_a_service_that_slows_down_under_load_is_asked_less():
    places = after_rounds(30, lambda under_way: 0.1 * max(1.0, under_way / 4))
    assert max(places) == MOST
    assert max(places[10:]) < MOST * 3 / 4
    assert min(places[10:]) >= MOST * LEAST_SHARE


def test_where_answers_are_slow_for_another_reason_as_many_are_asked_for_as_before():
    places = after_rounds(80, lambda under_way: 0.1 if under_way == FIRST_ROUND else 1.0 + under_way / 1_000)
    assert min(places[1:]) > MOST / 2
    assert sum(places) > 0.9 * MOST * len(places)


def test_a_service_that_recovers_is_asked_more_again():
    concurrency = Concurrency(MOST)
    for latency_s in [0.1] * 100 + [2.0] * 300 + [0.1] * 2_000:
        concurrency.answered(latency_s, were_all_taken=True)
    assert concurrency.places == MOST


def test_what_was_refused_together_counts_once():
    concurrency = Concurrency(MOST)
    concurrency.open()
    concurrency.troubled(sent_at=1.0, now=2.0)
    concurrency.troubled(sent_at=1.5, now=2.1)
    assert concurrency.places == MOST // 2
    concurrency.troubled(sent_at=2.2, now=2.4)
    assert concurrency.places == MOST // 4


def test_places_that_nobody_takes_do_not_grow():
    concurrency = Concurrency(MOST)
    concurrency.troubled(sent_at=1.0, now=2.0)
    places = concurrency.places
    for _ in range(1_000):
        concurrency.answered(0.1, were_all_taken=False)
    assert concurrency.places == places


@given(
    st.integers(1, 200),
    st.lists(st.one_of(st.floats(0.0, 60.0), st.none(), st.just("refused")), max_size=300),
)
def test_there_is_always_a_place_and_never_more_than_allowed(most, answers):
    concurrency = Concurrency(most)
    for now, answer in enumerate(answers):
        if answer == "refused":
            concurrency.troubled(sent_at=now - 0.5, now=float(now))
        else:
            concurrency.answered(answer, were_all_taken=True)
        assert 1 <= concurrency.places <= most
