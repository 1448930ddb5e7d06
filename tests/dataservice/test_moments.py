"""Texts become moments: as Python reads them, or not at all, however many stand in one page."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dataservice.moments import read_moments

RIGHT = [f"{datetime(2001, 1, 1, tzinfo=UTC) + timedelta(days=n):%Y-%m-%dT%H:%M:%SZ}" for n in range(800)]
IMPOSSIBLE = [
    "2021-02-30T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2021-04-31",
    "2021-01-01T24:00:00Z",
    "2021-01-01T00:60:00Z",
    "2016-12-31T23:58:60Z",
    "0000-01-01T00:00:00Z",
    "2021-01-01T00:00:00+24:00",
    "2021-01-01T00:00:00Z\n",
]

offsets = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(
    lambda minutes: f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
)
moments = st.datetimes().filter(lambda moment: 1 < moment.year < 9_999)
texts = st.one_of(
    moments.map(lambda moment: moment.isoformat(timespec="seconds") + "Z"),
    moments.map(lambda moment: moment.isoformat(timespec="seconds")),
    moments.map(lambda moment: moment.isoformat(timespec="minutes") + "z"),
    moments.map(lambda moment: str(moment.date())),
    st.builds(lambda moment, offset: moment.isoformat(timespec="microseconds") + offset, moments, offsets),
    st.builds(lambda moment, offset: moment.isoformat(sep=" ", timespec="milliseconds") + offset, moments, offsets),
)


def read(texts):
    return [moment.replace(tzinfo=UTC) for moment in read_moments(texts).tolist()]


def as_python_reads(text):
    """The time on the clock of its source: the offset says whose clock it is, and changes no day."""
    return datetime.fromisoformat(text.upper()).replace(tzinfo=UTC)


@given(st.lists(texts, max_size=20))
def test_times_are_read_as_python_reads_them(texts):
    expected = [as_python_reads(text) for text in texts]
    assume(len(set(expected)) == len(set(texts)))
    assert read(texts) == expected


def test_an_hour_that_a_clock_shows_twice_is_kept_twice_in_its_order():
    found = read(["2025-11-02T01:30:00-05:00", "2025-11-02T01:30:00-04:00", "2025-11-02T02:30:00-05:00"])
    assert found == [
        datetime(2025, 11, 2, 1, 30, 0, 1, tzinfo=UTC),
        datetime(2025, 11, 2, 1, 30, tzinfo=UTC),
        datetime(2025, 11, 2, 2, 30, tzinfo=UTC),
    ]


@pytest.mark.parametrize("impossible", IMPOSSIBLE)
def test_an_impossible_time_is_refused_by_name_also_in_a_long_page(impossible):
    for texts in ([impossible], [*RIGHT, impossible], [impossible, *RIGHT]):
        with pytest.raises(ValueError, match=r"no date or time|outside the years|no offset"):
            read_moments(texts)


def test_an_impossible_time_in_a_long_page_does_not_end_the_process():
    code = (
        "from dataservice.observations import Observations\n"
        "try:\n    Observations.from_columns(['2021-02-01T00:00:00Z'] * 900 + ['2021-02-30T00:00:00Z'], [1.0] * 901)\n"
        "except ValueError as error:\n    print(error)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.strip()) == (0, "'2021-02-30T00:00:00Z' is no date or time")


@pytest.mark.parametrize("text", ["2016-12-31T23:59:60Z", "2016-12-31T23:59:60.5+02:00"])
def test_a_leap_second_stays_on_its_day(text):
    expected = [datetime(2016, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), datetime(2001, 1, 1, tzinfo=UTC)]
    assert read([text, RIGHT[0]]) == expected


def test_times_that_would_become_one_are_refused_rather_than_lost():
    finer = [f"2021-01-01T00:00:00.000000{n:03}Z" for n in range(900)]
    with pytest.raises(ValueError, match="less than a microsecond"):
        read_moments(finer)
    assert read([finer[1], finer[1]]) == [datetime(2021, 1, 1, tzinfo=UTC)] * 2
    assert read(["2021-01-01T00:00:00.1234567Z"]) == [datetime(2021, 1, 1, 0, 0, 0, 123_456, tzinfo=UTC)]
