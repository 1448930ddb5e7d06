"""What is not asked again, and for how long."""

from datetime import UTC, date, datetime

import pytest

from dataservice.client.contract.requests import Endpoint, first_request
from dataservice.client.contract.resources import (
    HistoryResource,
    IndicesResource,
    Resource,
    SignalResource,
    WireResource,
)
from dataservice.client.network.breaker import MAX_OUTAGE_S, NEGATIVE_TTL_S, OUTAGE_S, CircuitBreaker, next_utc_day
from dataservice.errors import (
    AuthenticationError,
    ConnectionFailedError,
    DataServiceError,
    DeadlineExceededError,
    MalformedAnswerError,
    MissingKeyError,
    NotFoundError,
    QuotaExceededError,
    RejectedError,
    ServerFailedError,
    TierError,
)

NOON = datetime(2026, 8, 31, 12, tzinfo=UTC).timestamp()
MIDNIGHT = datetime(2026, 9, 1, tzinfo=UTC).timestamp()
SIGNAL, OTHER, WIRE = SignalResource("a"), IndicesResource(), WireResource()


def blocking_error(breaker: CircuitBreaker, resource: Resource, now: float = NOON) -> DataServiceError | None:
    return breaker.blocking_error(resource, first_request(resource).endpoint, now)


def noted(
    error: DataServiceError, resource: Resource, now: float = NOON, breaker: CircuitBreaker | None = None
) -> CircuitBreaker:
    breaker = breaker or CircuitBreaker()
    breaker.note(error, resource, first_request(resource).endpoint, now)
    return breaker


@pytest.mark.parametrize(
    ("error", "resource"),
    [(AuthenticationError("refused", status=401), IndicesResource()), (QuotaExceededError("used up"), SIGNAL)],
)
def test_a_refused_key_and_a_spent_month_close_everything_until_the_next_utc_day(error, resource):
    breaker = noted(error, resource)
    assert type(blocking_error(breaker, OTHER)) is type(error)
    assert blocking_error(breaker, OTHER, MIDNIGHT - 1) is not None
    assert blocking_error(breaker, OTHER, MIDNIGHT) is None


UNAUTHORIZED = AuthenticationError("refused", status=401)


def test_a_401_for_one_signal_closes_that_signal_alone_and_a_second_one_the_key():
    breaker = noted(UNAUTHORIZED, SIGNAL)
    assert isinstance(blocking_error(breaker, SIGNAL), AuthenticationError)
    assert blocking_error(breaker, OTHER) is None
    noted(UNAUTHORIZED, SignalResource("b"), breaker=breaker)
    assert isinstance(blocking_error(breaker, OTHER), AuthenticationError)


def test_a_good_answer_between_them_shows_that_401s_are_about_the_signals():
    breaker = noted(UNAUTHORIZED, SIGNAL)
    breaker.answered(IndicesResource(), Endpoint.INDICES)
    assert type(blocking_error(breaker, SIGNAL)) is RejectedError, "of the signal, and not of the key"
    noted(UNAUTHORIZED, SignalResource("b"), breaker=breaker)
    assert blocking_error(breaker, OTHER) is None


def test_an_endpoint_that_a_key_never_opened_closes_alone_after_several_401s_in_a_row():
    breaker = CircuitBreaker()
    breaker.answered(SIGNAL, Endpoint.SIGNAL)
    for name in "abcd":
        noted(RejectedError("HTTP 401", status=401), HistoryResource(name), breaker=breaker)
    assert blocking_error(breaker, SIGNAL) is blocking_error(breaker, OTHER) is None
    assert "/observations: the key does not open it" in str(blocking_error(breaker, HistoryResource("e")))
    assert blocking_error(breaker, HistoryResource("e"), MIDNIGHT) is None


def test_401s_of_a_second_endpoint_and_of_one_that_was_open_are_about_the_key():
    for also in (OTHER, SIGNAL):
        breaker = CircuitBreaker()
        breaker.answered(SIGNAL, Endpoint.SIGNAL)
        for resource in (*map(HistoryResource, "bcd"), also):
            noted(RejectedError("HTTP 401", status=401), resource, breaker=breaker)
        assert isinstance(blocking_error(breaker, WIRE), AuthenticationError)


def test_a_key_that_opened_others_before_counts_as_refused_after_several_401s_in_a_row():
    breaker = CircuitBreaker()
    for name in "abcd":
        assert blocking_error(breaker, OTHER) is None
        noted(RejectedError("HTTP 401", status=401), SignalResource(name), breaker=breaker)
    assert isinstance(blocking_error(breaker, OTHER), AuthenticationError)


def test_a_tier_that_is_too_low_closes_the_endpoint_with_all_its_filters_and_nothing_else():
    breaker = noted(TierError("too low"), WIRE)
    assert isinstance(blocking_error(breaker, WireResource(kind="news")), TierError)
    assert blocking_error(breaker, SIGNAL) is None
    assert blocking_error(breaker, WIRE, MIDNIGHT) is None


def test_an_unknown_name_closes_itself_for_a_while():
    breaker = noted(NotFoundError("no signal"), SIGNAL)
    assert isinstance(blocking_error(breaker, SIGNAL), NotFoundError)
    assert blocking_error(breaker, SignalResource("b")) is None
    assert blocking_error(breaker, SIGNAL, NOON + NEGATIVE_TTL_S) is None


def test_a_signal_that_does_not_exist_has_no_history_either():
    assert isinstance(blocking_error(noted(NotFoundError("no signal"), SIGNAL), HistoryResource("a")), NotFoundError)


def test_one_unknown_history_answers_for_all_its_windows():
    breaker = noted(NotFoundError("no signal"), HistoryResource("a", date(2020, 1, 1)))
    assert isinstance(blocking_error(breaker, HistoryResource("a")), NotFoundError)
    assert blocking_error(breaker, HistoryResource("b")) is None


@pytest.mark.parametrize("error", [ConnectionFailedError("none"), DeadlineExceededError("late")])
def test_an_outage_closes_everything_for_a_moment(error):
    breaker = noted(error, SIGNAL)
    assert blocking_error(breaker, OTHER) is not None
    assert blocking_error(breaker, OTHER, NOON + OUTAGE_S) is None


@pytest.mark.parametrize("error", [ServerFailedError("500"), MalformedAnswerError("not JSON")])
def test_a_failure_of_one_resource_closes_only_that(error):
    breaker = noted(error, SIGNAL)
    assert blocking_error(breaker, SIGNAL) is not None
    assert blocking_error(breaker, OTHER) is None


def test_outages_in_a_row_close_for_longer_up_to_a_bound():
    breaker, now, lengths = CircuitBreaker(), NOON, []
    for _ in range(6):
        noted(ConnectionFailedError("none"), SIGNAL, now, breaker)
        length = next(s for s in range(1, 200) if blocking_error(breaker, SIGNAL, now + s) is None)
        lengths.append(length)
        now += length
    assert lengths == [5, 10, 20, 40, MAX_OUTAGE_S, MAX_OUTAGE_S]


def test_calls_that_fail_together_count_as_one_outage():
    breaker = CircuitBreaker()
    for _ in range(10):
        noted(ConnectionFailedError("none"), SIGNAL, NOON, breaker)
    assert blocking_error(breaker, SIGNAL, NOON + OUTAGE_S) is None


def test_failures_on_three_resources_in_a_row_are_an_outage_of_all():
    breaker = CircuitBreaker()
    for slug, is_open in (("a", True), ("a", True), ("b", True), ("c", False)):
        breaker.attempt_failed(ServerFailedError("HTTP 503"), SignalResource(slug), NOON)
        assert (blocking_error(breaker, OTHER) is None) is is_open


def test_failures_with_an_answer_between_them_are_no_outage():
    breaker = CircuitBreaker()
    for slug in "abcdef":
        breaker.attempt_failed(ServerFailedError("HTTP 500"), SignalResource(slug), NOON)
        breaker.answered(OTHER)
    assert blocking_error(breaker, OTHER) is None


def test_an_answer_ends_the_outage():
    breaker = noted(ConnectionFailedError("none"), SIGNAL)
    breaker.answered()
    assert blocking_error(breaker, SIGNAL) is None


def test_lifting_opens_everything():
    breaker = noted(AuthenticationError("refused"), SIGNAL)
    noted(TierError("too low"), WIRE, breaker=breaker)
    noted(ConnectionFailedError("none"), SIGNAL, breaker=breaker)
    noted(NotFoundError("no signal"), SIGNAL, breaker=breaker)
    breaker.reset()
    assert blocking_error(breaker, SIGNAL) is blocking_error(breaker, WIRE) is None


def test_without_a_key_nothing_opens():
    breaker = CircuitBreaker(has_key=False)
    breaker.reset()
    assert isinstance(blocking_error(breaker, SIGNAL, MIDNIGHT), MissingKeyError)


def test_the_next_day_begins_at_midnight_in_utc():
    assert next_utc_day(NOON) == next_utc_day(MIDNIGHT - 1) == MIDNIGHT
    assert next_utc_day(MIDNIGHT) == MIDNIGHT + 86_400
