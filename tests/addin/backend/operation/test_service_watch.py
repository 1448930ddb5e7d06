"""An outage of the service: it begins with several failures in a row, and ends with the first answer."""

import logging

import orjson

from addin.backend.operation.service_watch import FAILURES, ServiceWatch


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
