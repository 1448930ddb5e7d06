"""Dates in formulas: serials, ISO text, Python dates and relative text become days, or times in UTC where they may."""

import calendar
from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dataservice.client.contract.dates import Back, ToDate, months_before
from dataservice.client.contract.windows import utc_day
from tests.udfs.parts.refusals import refusal_of
from udfs.arguments.dates import Day, Last, Max, SinceDay, Start, first_day, since_moment
from udfs.cells import serial
from udfs.errors import ArgumentError

TODAY = date(2026, 8, 31)

days = st.dates(date(1900, 3, 1), date(9999, 12, 31))


def day(raw, today=TODAY):
    return Day(help="").read(raw, "at", today)


def moment(raw):
    return Day(help="", timed=True).read(raw, "at", TODAY)


def start(raw, last=TODAY):
    return first_day(Start(help="").read(raw, "start", TODAY), last)


@given(days, st.integers(1, 86_399))
def test_the_fraction_of_a_serial_number_is_its_time_to_the_second(when, second):
    midnight = datetime(when.year, when.month, when.day)  # noqa: DTZ001 - naive UTC
    assert moment(serial(when) + second / 86_400) == midnight + timedelta(seconds=second)
    assert moment(serial(when)) == day(serial(when)) == when


@given(days)
def test_iso_text_is_its_day_or_its_time(when):
    assert day(when.isoformat()) == day(f" {when.isoformat()}T00:00:00 ") == when
    assert moment(f" {when.isoformat()}T23:59:59 ").isoformat() == f"{when.isoformat()}T23:59:59"


@given(st.datetimes(timezones=st.timezones()).filter(lambda when: 1 < when.year < 9999 and when.time() != time.min))
def test_a_moment_with_a_zone_is_that_moment_in_utc(when):
    assert moment(when) == when.astimezone(UTC).replace(tzinfo=None)


def test_midnight_stands_for_its_day_by_whatever_clock():
    assert moment("2024-01-01T00:00:00+02:00") == date(2024, 1, 1)
    assert moment(datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=-5)))) == date(2024, 1, 1)


@pytest.mark.parametrize("raw", ["2024-05-06T03:00Z", datetime(2024, 5, 6, 3, tzinfo=UTC), 45_418.125])
def test_a_time_is_refused_where_an_argument_takes_a_day_and_never_dropped(raw):
    with pytest.raises(ArgumentError, match=r"^at takes a day, without a time of it, not "):
        day(raw)
    assert moment(raw) == datetime(2024, 5, 6, 3)  # noqa: DTZ001 - naive UTC


def test_hours_count_back_from_now_where_a_window_starts():
    assert Start(help="").read("-6h", "start", TODAY) == SinceDay(help="").read("-6H", "since", TODAY) == Back(6, "H")
    now = datetime(2026, 8, 31, 3, 30, tzinfo=UTC).timestamp()
    assert since_moment(Back(6, "H"), now) == datetime(2026, 8, 30, 21, 30)  # noqa: DTZ001 - naive UTC
    with pytest.raises(ArgumentError, match=r"^at '-6H' is only possible as a start"):
        moment("-6H")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-30D", date(2026, 8, 1)),
        ("-8W", date(2026, 7, 6)),
        ("-6M", date(2026, 2, 28)),
        ("-4Q", date(2025, 8, 31)),
        ("-5Y", date(2021, 8, 31)),
        ("-30M", date(2024, 2, 29)),
        ("-0D", TODAY),
        ("MTD", date(2026, 8, 1)),
        ("QTD", date(2026, 7, 1)),
        ("YTD", date(2026, 1, 1)),
        ("ytd", date(2026, 1, 1)),
        ("PME", date(2026, 7, 31)),
        ("PQE", date(2026, 6, 30)),
        ("pye", date(2025, 12, 31)),
        (" -1y ", date(2025, 8, 31)),
        ("−1Y", date(2025, 8, 31)),
    ],
)
def test_relative_text_counts_back_and_a_short_month_gives_its_last_day(text, expected):
    assert day(text) == start(text) == expected


@given(st.dates(date(1000, 1, 1)), st.integers(0, 5_000))
@example(date(2024, 2, 29), 12)
def test_months_back_keep_the_day_of_the_month_or_take_the_last_one(moment, months):
    found = months_before(moment, months)
    assert (moment.year - found.year) * 12 + moment.month - found.month == months
    assert found.day == min(moment.day, calendar.monthrange(found.year, found.month)[1])


@given(st.dates(), st.sampled_from(ToDate))
def test_a_period_to_date_begins_in_the_same_period_on_its_first_day(moment, period):
    first = period.from_day(moment)
    assert first <= moment
    assert period.from_day(first) == first
    assert first.day == 1


def test_a_relative_start_counts_back_from_the_end_of_the_window():
    assert start("-1Y", last=date(2010, 12, 31)) == date(2009, 12, 31)
    assert start("QTD", last=date(2010, 5, 20)) == date(2010, 4, 1)


def test_max_and_n60_are_starts_and_leave_the_window_open():
    kind = Start(help="")
    assert kind.read("max", "start", TODAY) == Max()
    assert kind.read("n60", "start", TODAY) == Last(60)
    assert kind.read("-2q", "start", TODAY) == Back(2, "Q")
    assert start("MAX") is None
    assert start("N60") is None


@pytest.mark.parametrize("raw", ["MAX", "N60"])
def test_max_and_n60_are_no_days(raw):
    with pytest.raises(ArgumentError, match=f"^at '{raw}' is only possible as a start; at takes a date"):
        day(raw)


@pytest.mark.parametrize(
    "raw",
    [
        *(
            "2024",
            "2024-1-1",
            "2024-02-30",
            "20240131",
            "01/02/2024",
            "yesterday",
            "-5",
            "5D",
            "-5X",
            "N0",
            "N",
            "-1.5M",
        ),
        *("2024-01-01 is late", True, [[1, 2]], object(), float("nan"), float("inf"), 2_958_466, 0.5, "9" * 400),
    ],
)
def test_anything_else_is_refused_by_name_with_what_is_allowed(raw):
    with pytest.raises(ArgumentError, match=r"^at ") as refusal:
        day(raw)
    assert len(str(refusal.value)) < 250


def test_a_negative_number_is_told_the_text_that_was_probably_meant():
    with pytest.raises(ArgumentError, match="at -30 is not a date; for 30 days back give the text -30D"):
        day(-30.0)


@pytest.mark.parametrize("raw", ["-3000Y", "-999999D", "-999999M"])
def test_a_start_before_the_year_1_is_refused(raw):
    with pytest.raises(ArgumentError, match="lies before the year 1"):
        day(raw)
    with pytest.raises(ArgumentError, match="lies before the year 1"):
        start(raw)


@given(st.text() | st.floats() | st.integers() | st.datetimes(timezones=st.timezones()))
def test_whatever_is_given_becomes_a_day_or_a_refusal(raw):
    for kind in (Day(help=""), Start(help="")):
        refusal = refusal_of(lambda kind=kind: kind.read(raw, "at", TODAY))
        assert refusal is None or refusal.startswith("at ")


def test_today_is_the_day_in_utc():
    assert utc_day(0) == date(1970, 1, 1)
    assert utc_day(86_399.9) == date(1970, 1, 1)
