"""Observations are read column by column where that is possible, and always as they are row by row."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dataservice.server import ImportRefusedError
from dataservice.server.imports.series_file import UnusualError, read_by_columns, read_by_rows, read_series

TIMES = ["2026-07-01", "2026-06-01T00:00:00Z", "2026-06-01T02:00:00+02:00", "0001-01-01", "1969-12-31t23:59:59.5z"]
ODD_TIMES = [
    "",
    "2026-7-1",
    "2026-02-30",
    "20260701",
    "100",
    "9999-12-31T23:59:59-01:00",
    " 2026-07-01",
    '"2026-07-02"',
]
VALUES = ["100", "-99.5", "+1e3", "0.1", ".5", "1E-9", "007"]
ODD_VALUES = ["", "nan", "inf", "1e999", "1_000", " 7 ", "x", '"8"', "1,2", "--1", "٣"]
HEADERS = ["observed_at,value", "value,observed_at", "observed_at", "observed_at,value,note", ""]

USUAL = st.tuples(
    st.dates().map(str) | st.datetimes().map(lambda at: f"{at.isoformat()}Z"), st.floats(-1e9, 1e9).map(repr)
)
ODD = st.tuples(st.sampled_from(TIMES + ODD_TIMES), st.sampled_from(VALUES + ODD_VALUES))
ROWS = st.lists(USUAL, max_size=8) | st.lists(st.one_of(USUAL, USUAL, ODD), max_size=6)


def read(reader, path):
    """The columns, or the refusal."""
    try:
        series = reader(path, lambda _: None)
    except ImportRefusedError as refused:
        return str(refused)
    return sorted(zip(series.observed_at_us, series.values, strict=True))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=ROWS,
    header=st.just(HEADERS[0]) | st.sampled_from(HEADERS),
    end=st.sampled_from(["\n", "\n", "\r\n", "\r", "\n\n"]),
    begin=st.sampled_from(["", "", "\ufeff", "\n", "\0"]),
    last=st.sampled_from(["", "\n", ",", ",\n", "x"]),
)
def test_a_file_gives_what_it_gives_row_by_row(tmp_path, rows, header, end, begin, last):
    path = tmp_path / "x.csv"
    path.write_bytes((begin + end.join([header, *(",".join(row) for row in rows)]) + last).encode())
    assert read(read_series, path) == read(read_by_rows, path)


def test_usual_files_are_read_column_by_column(tmp_path):
    path = tmp_path / "x.csv"
    for text in ("observed_at,value\n2026-07-01,100\n", "\ufeffobserved_at,value\r\n2026-07-01T00:00:00Z,1e2"):
        path.write_bytes(text.encode())
        series, size = read_by_columns(path)
        assert (len(series), series.values[0], size) == (1, 100.0, path.stat().st_size)


def test_rows_come_in_the_order_of_their_times(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("observed_at,value\n2026-07-02,2\n2026-07-01,1\n2026-07-03,3\n")
    assert list(read_series(path, lambda _: None).values) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "rows", ['"2026-07-01",1', "2026-07-01,nan", "2026-07-01,1_0", "2026-07-01,1,2", "2026-07-01,1\n2026-07-01,2", ""]
)
def test_a_file_that_is_not_plain_is_not_read_column_by_column(tmp_path, rows):
    path = tmp_path / "x.csv"
    path.write_text(f"observed_at,value\n{rows}\n")
    with pytest.raises(UnusualError):
        read_by_columns(path)
