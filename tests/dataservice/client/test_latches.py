"""What is not asked again, and for how long."""

from datetime import UTC, date, datetime

import pytest

from dataservice.client.latches import MAX_OUTAGE_S, NEGATIVE_TTL_S, OUTAGE_S, Latches, next_utc_day
from dataservice.client.requests import first_request
from dataservice.client.resources import HistoryResource, IndicesResource, Resource, SignalResource, WireResource
from dataservice.errors import (
    AuthenticationError,
    ConnectionFailedError,
    DataServiceError,
    DeadlineExceededError,
    MalformedAnswerError,
    MissingKeyError,
    NotFoundError,
    QuotaExceededError,
    ServerFailedError,
    TierError,
)

NOON = datetime(2026, 8, 31, 12, tzinfo=UTC).timestamp()
MIDNIGHT = datetime(2026, 9, 1, tzinfo=UTC).timestamp()
SIGNAL, OTHER, WIRE = SignalResource("a"), IndicesResource(), WireResource()


def closed(latches: Latches, resource: Resource, now: float = NOON) -> DataServiceError | None:
    return latches.closed(resource, first_request(resource).endpoint, now)


def noted(error: DataServiceError, resource: Resource, now: float = NOON, latches: Latches | None = None) -> Latches:
    latches = latches or Latches()
    latches.note(error, resource, first_request(resource).endpoint, now)
    return latches


@pytest.mark.parametrize("error", [AuthenticationError("refused"), QuotaExceededError("used up")])
def test_a_refused_key_and_a_spent_month_close_everything_until_the_next_utc_day(error):
    latches = noted(error, SIGNAL)
    assert type(closed(latches, OTHER)) is type(error)
    assert closed(latches, OTHER, MIDNIGHT - 1) is not None
    assert closed(latches, OTHER, MIDNIGHT) is None


def test_a_tier_that_is_too_low_closes_the_endpoint_with_all_its_filters_and_nothing_else():
    latches = noted(TierError("too low"), WIRE)
    assert isinstance(closed(latches, WireResource(kind="news")), TierError)
    assert closed(latches, SIGNAL) is None
    assert closed(latches, WIRE, MIDNIGHT) is None


def test_an_unknown_name_closes_itself_for_a_while():
    latches = noted(NotFoundError("no signal"), SIGNAL)
    assert isinstance(closed(latches, SIGNAL), NotFoundError)
    assert closed(latches, SignalResource("b")) is None
    assert closed(latches, SIGNAL, NOON + NEGATIVE_TTL_S) is None


def test_a_signal_that_does_not_exist_has_no_history_either():
    assert isinstance(closed(noted(NotFoundError("no signal"), SIGNAL), HistoryResource("a")), NotFoundError)


def test_one_unknown_history_answers_for_all_its_windows():
    latches = noted(NotFoundError("no signal"), HistoryResource("a", date(2020, 1, 1)))
    assert isinstance(closed(latches, HistoryResource("a")), NotFoundError)
    assert closed(latches, HistoryResource("b")) is None


@pytest.mark.parametrize("error", [ConnectionFailedError("none"), DeadlineExceededError("late")])
def test_an_outage_closes_everything_for_a_moment(error):
    latches = noted(error, SIGNAL)
    assert closed(latches, OTHER) is not None
    assert closed(latches, OTHER, NOON + OUTAGE_S) is None


@pytest.mark.parametrize("error", [ServerFailedError("500"), MalformedAnswerError("not JSON")])
def test_a_failure_of_one_resource_closes_only_that(error):
    latches = noted(error, SIGNAL)
    assert closed(latches, SIGNAL) is not None
    assert closed(latches, OTHER) is None


def test_outages_in_a_row_close_for_longer_up_to_a_bound():
    latches, now, lengths = Latches(), NOON, []
    for _ in range(6):
        noted(ConnectionFailedError("none"), SIGNAL, now, latches)
        length = next(s for s in range(1, 200) if closed(latches, SIGNAL, now + s) is None)
        lengths.append(length)
        now += length
    assert lengths == [5, 10, 20, 40, MAX_OUTAGE_S, MAX_OUTAGE_S]


def test_calls_that_fail_together_count_as_one_outage():
    latches = Latches()
    for _ in range(10):
        noted(ConnectionFailedError("none"), SIGNAL, NOON, latches)
    assert closed(latches, SIGNAL, NOON + OUTAGE_S) is None


def test_failures_on_three_resources_in_a_row_are_an_outage_of_all():
    latches = Latches()
    for slug, is_open in (("a", True), ("a", True), ("b", True), ("c", False)):
        latches.attempt_failed(ServerFailedError("HTTP 503"), SignalResource(slug), NOON)
        assert (closed(latches, OTHER) is None) is is_open


def test_failures_with_an_answer_between_them_are_no_outage():
    latches = Latches()
    for slug in "abcdef":
        latches.attempt_failed(ServerFailedError("HTTP 500"), SignalResource(slug), NOON)
        latches.answered(OTHER)
    assert closed(latches, OTHER) is None


def test_an_answer_ends_the_outage():
    latches = noted(ConnectionFailedError("none"), SIGNAL)
    latches.answered()
    assert closed(latches, SIGNAL) is None


def test_lifting_opens_everything():
    latches = noted(AuthenticationError("refused"), SIGNAL)
    noted(TierError("too low"), WIRE, latches=latches)
    noted(ConnectionFailedError("none"), SIGNAL, latches=latches)
    noted(NotFoundError("no signal"), SIGNAL, latches=latches)
    latches.lift()
    assert closed(latches, SIGNAL) is closed(latches, WIRE) is None


def test_without_a_key_nothing_opens():
    latches = Latches(has_key=False)
    latches.lift()
    assert isinstance(closed(latches, SIGNAL, MIDNIGHT), MissingKeyError)


def test_the_next_day_begins_at_midnight_in_utc():
    assert next_utc_day(NOON) == next_utc_day(MIDNIGHT - 1) == MIDNIGHT
    assert next_utc_day(MIDNIGHT) == MIDNIGHT + 86_400
