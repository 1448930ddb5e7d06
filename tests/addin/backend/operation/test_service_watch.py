"""An outage of the service: it begins with several failures in a row, and ends with the first answer."""

import logging

import orjson

from addin.backend.operation.service_watch import AWAY_FOR_S, FAILURES, Learned, ServiceWatch, is_away


def test_an_outage_is_told_once_when_it_begins_and_once_when_it_ends(caplog):
    now = 0.0
    watch = ServiceWatch(clock=lambda: now)
    with caplog.at_level(logging.INFO, "addin.events"):
        watch.answered(200)
        watch.failed("ConnectError")
        watch.answered(401)  # a refusal is an answer
        assert watch.problem is None
        for _ in range(FAILURES + 2):
            watch.answered(503)
            now += 10
        assert watch.problem == "status 503"
        watch.answered(200)
    told = [orjson.loads(record.getMessage()) for record in caplog.records]
    assert told == [
        {"event": "outage_begun", "reason": "status 503"},
        {"event": "outage_ended", "seconds": 10.0 * (FAILURES + 2)},
    ]


def test_what_was_learned_long_ago_says_nothing_of_now():
    now = 0.0
    watch = ServiceWatch(clock=lambda: now)
    assert not watch.was_told_within(60)
    watch.answered(200)
    assert watch.was_told_within(60)
    now = 61.0
    assert not watch.was_told_within(60)


def test_after_one_failure_the_service_is_in_doubt_until_it_answers_or_is_away():
    watch = ServiceWatch(clock=lambda: 0.0)
    assert not watch.is_in_doubt
    watch.failed("ConnectError")
    assert watch.is_in_doubt
    watch.answered(200)
    assert not watch.is_in_doubt


def test_a_refusal_without_a_key_ends_an_outage_of_requests_with_one_only_after_a_while():
    now = 0.0
    watch = ServiceWatch(clock=lambda: now)
    for _ in range(FAILURES):
        watch.answered(503)
        watch.answered(401, has_key=False)
    assert watch.is_away
    now = AWAY_FOR_S
    assert not watch.is_away
    watch.answered(401, has_key=False)
    assert watch.problem is None


def test_an_outage_that_one_worker_has_seen_is_one_for_all_until_another_is_answered():
    now = 0.0
    seeing, asking, idle = (ServiceWatch(clock=lambda: now) for _ in range(3))
    asking.answered(200)
    now = 1.0
    for _ in range(FAILURES):
        seeing.failed("ConnectError")
    asking.failed("ConnectError")
    told = [each.learned() for each in (seeing, asking, idle)]
    assert told == [Learned(is_away=True, ago_s=0.0), Learned(is_away=False, ago_s=1.0), Learned()]
    assert is_away(told)
    now = 2.0
    asking.answered(200)
    assert not is_away(each.learned() for each in (seeing, asking, idle))
