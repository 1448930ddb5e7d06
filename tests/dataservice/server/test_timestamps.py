"""Points in time: what is read, what is refused, and that nothing is lost between text and microseconds."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.server.timestamps import instant, microseconds, midnight, month_of, parse_date, parse_instant

aware = st.datetimes(
    timezones=st.timezones(),
    min_value=datetime(2, 1, 1),  # noqa: DTZ001  hypothesis takes bounds without a zone
    max_value=datetime(9998, 1, 1),  # noqa: DTZ001
)


@given(aware)
def test_microseconds_keep_every_instant_exactly(at):
    assert instant(microseconds(at)) == at.astimezone(UTC)


@given(aware, aware)
def test_microseconds_sort_like_the_instants(one, other):
    assert (microseconds(one) < microseconds(other)) == (one.astimezone(UTC) < other.astimezone(UTC))


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_written_instant_is_read_back(at):
    assert parse_instant(at.isoformat()) == at


@given(st.dates())
def test_a_written_date_is_read_back(day):
    assert parse_date(day.isoformat()) == day


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-02-29", datetime(2024, 2, 29, tzinfo=UTC)),
        ("2024-02-29T12:30:00Z", datetime(2024, 2, 29, 12, 30, tzinfo=UTC)),
        ("2024-02-29t12:30:00z", datetime(2024, 2, 29, 12, 30, tzinfo=UTC)),
        ("2024-02-29T12:30", datetime(2024, 2, 29, 12, 30, tzinfo=UTC)),
        ("2024-02-29T12:30:00.25+02:00", datetime(2024, 2, 29, 10, 30, 0, 250_000, tzinfo=UTC)),
        ("1833-01-01T00:00:00Z", datetime(1833, 1, 1, tzinfo=UTC)),
    ],
)
def test_the_spellings_of_a_date_time(text, expected):
    assert parse_instant(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "now", "2024", "2024-13-01", "2023-02-29", "20240229", "2024-W09-4", "2024-02-29T24:30:00Z", "1709164800",
     "2024-02-29T12:30:00 02:00", "0001-01-01T00:00:00+14:00", "٢٠٢٤-٠٢-٢٩"],
)  # fmt: skip
def test_what_is_no_date_time_is_refused(text):
    with pytest.raises(ValueError, match="must be a"):
        parse_instant(text)


def test_a_day_begins_at_midnight_in_utc():
    assert midnight(date(2024, 2, 29)) == datetime(2024, 2, 29, tzinfo=UTC)


def test_the_month_is_that_of_utc():
    west = timezone(timedelta(hours=-8))
    assert month_of(datetime(2026, 8, 31, 20, tzinfo=west)) == "2026-09"
