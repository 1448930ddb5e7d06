"""Answers of the protocol become cells, text for people and CSV that no spreadsheet takes for formulas."""

import csv
import io
import unicodedata
from datetime import UTC, date, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addin.cli.output import Cells, as_csv, as_text, cells_in, counted
from addin.protocol.encoding import encode, ending
from udfs.cells import table
from udfs.engine.session import Outcome, Stale
from udfs.errors import CellError, ErrorCode

SCALARS = st.none() | st.booleans() | st.integers(-(2**50), 2**50) | st.text(max_size=30) | st.dates(date(1901, 1, 1))

AT_SIX = datetime(2026, 8, 18, 6, tzinfo=UTC).replace(tzinfo=None)


def read_back(result, stale=None):
    return cells_in(orjson.loads(encode(Outcome(result, 1.0, stale), "SIGNAL") + ending(10)))


@given(SCALARS)
def test_a_scalar_comes_back_as_it_was(value):
    assert read_back(value).rows == [[value]]


@given(st.lists(st.tuples(SCALARS, SCALARS), min_size=1, max_size=5))
def test_a_table_comes_back_as_it_was(rows):
    assert [list(row) for row in read_back([list(row) for row in rows]).rows] == [list(row) for row in rows]


def test_dates_and_errors_come_back_inside_a_table():
    cells = read_back(table(["when", "what"], [[AT_SIX, CellError(ErrorCode.NA, "gone")]]))
    assert cells.header == ["when", "what"]
    assert list(cells.rows[0]) == [AT_SIX, CellError(ErrorCode.NA, "gone")]
    assert cells.errors == [CellError(ErrorCode.NA, "gone")]


@pytest.mark.parametrize(
    ("age_s", "told"), [(30.2, "30 s"), (300, "5 min"), (5000.1, "83 min"), (8000, "2 h"), (300_000, "3 days")]
)
def test_a_stale_answer_says_its_age_and_reason(age_s, told):
    assert read_back(1.5, Stale(age_s, "offline")).stale == f"last known value, {told} old: offline"


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""),
        (True, "TRUE"),
        (86.48, "86.48"),
        (1234567.5, "1,234,567.5"),
        (date(2026, 8, 18), "2026-08-18"),
        (AT_SIX, "2026-08-18 06:00:00"),
        (CellError(ErrorCode.NA, "no signal 'x'"), "#N/A"),
        ("=1+1", "=1+1"),
    ],
)
def test_a_cell_is_shown_as_people_read_it(cell, text):
    assert as_text(cell) == text


@given(st.lists(st.text(max_size=20), min_size=1, max_size=4))
def test_no_text_in_csv_begins_like_a_formula_and_none_is_lost(texts):
    (row,) = csv.reader(io.StringIO(as_csv(Cells([texts])), newline=""))
    for given_text, cell in zip(texts, row, strict=True):
        text = given_text.replace("\r\n", "\n").replace("\r", "\n")
        assert cell in (text, f"'{text}")
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
        assert unicodedata.normalize("NFKC", cell).strip()[:1] not in {"=", "+", "-", "@"}


@pytest.mark.parametrize(
    "text", ["＝1+1", "＋1", "－1", "＠x", "\n=1", " =1", "\u200b=1", "\ufeff=1", "﹦1", "−1", "\x1b=1"]
)
def test_what_some_program_might_take_for_a_formula_gets_an_apostrophe(text):
    (row,) = csv.reader(io.StringIO(as_csv(Cells([[text, "a =1"]])), newline=""))
    assert row == [f"'{text}", "a =1"]


def test_control_characters_are_shown_and_do_not_act():
    assert as_text("a\x1b[2J\x9b0m\u202eb\rc\n\td") == "a␛[2J\ufffd0m\ufffdb␍c\n\td"


def test_numbers_in_csv_stay_numbers_and_dates_are_iso():
    cells = Cells([[-1.5, date(2026, 8, 18), True, None]], header=["a", "=b", "c", "d"], is_table=True)
    assert as_csv(cells) == "a,'=b,c,d\n-1.5,2026-08-18,TRUE,\n"


def test_one_is_counted_in_the_singular():
    assert (counted(1, "formula"), counted(0, "formula"), counted(1_200, "request")) == (
        "1 formula",
        "0 formulas",
        "1,200 requests",
    )
