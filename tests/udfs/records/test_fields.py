"""Fields of records: by name, unknown ones too, and as a cell can show them."""

import json
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.models import Current, Post, WireItem
from udfs.cells import Grid, cells_of
from udfs.errors import ArgumentError
from udfs.functions.codex import POST_FIELDS
from udfs.functions.currents import CURRENT_FIELDS
from udfs.functions.wire import WIRE_FIELDS
from udfs.records.fields import moment, naming_texts, shown_value

ITEM = WireItem.from_json(
    {
        "id": "1",
        "headline": "2026-01-01",
        "published_at": "2026-08-18T15:30:00+02:00",
        "tickers": ["CPI", "UST10Y"],
        "payload": {"value": 3.5, "release_date": "2026-08-01", "parts": {"core": 2}, "names": ["a", "b"]},
        "region": "US",
        "revised_at": "soon",
    }
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def value(name, record=ITEM, fields=WIRE_FIELDS):
    return fields.value(record, fields.find(name, [record]))


def test_a_time_becomes_a_date_time_in_utc():
    assert value("published_at") == datetime(2026, 8, 18, 13, 30, tzinfo=UTC)


def test_a_headline_that_looks_like_a_date_stays_text():
    assert value("headline") == "2026-01-01"


def test_a_time_that_cannot_be_read_is_shown_as_it_is():
    assert value("revised_at") == "soon"


def test_a_list_is_joined_by_commas():
    assert value("tickers") == "CPI, UST10Y"


def test_a_key_inside_the_payload_is_reached_by_a_dot():
    assert (value("payload.value"), value("payload.parts.core"), value("payload.names")) == (3.5, 2, "a, b")


def test_a_time_at_midnight_is_a_date():
    assert value("payload.release_date") == date(2026, 8, 1)


@pytest.mark.parametrize("name", ["payload.none", "payload.value.deeper", "headline.upper", "payload.__class__"])
def test_a_key_that_is_not_there_is_blank(name):
    assert value(name) is None


def test_a_payload_that_is_null_gives_blanks():
    assert value("payload.value", WireItem(id="2")) is None


def test_a_field_that_this_version_does_not_know_is_reached_by_name_in_any_case():
    assert value("Region") == "US"


def test_a_field_that_only_other_records_have_is_blank():
    other = WireItem(id="2")
    assert WIRE_FIELDS.value(other, WIRE_FIELDS.find("region", [other, ITEM])) is None


def test_a_field_that_no_record_has_is_refused_with_the_nearest_name():
    with pytest.raises(ArgumentError, match=r"no field 'headlin' \(did you mean headline\?\); there are published_at"):
        value("headlin")


def test_without_records_a_field_cannot_be_refused():
    assert WIRE_FIELDS.find("region", []) == "region"


def test_a_star_means_every_field_that_there_is():
    assert WIRE_FIELDS.select(["*"], [ITEM])[-2:] == ["region", "revised_at"]


def test_a_field_asked_for_twice_is_shown_twice():
    grid = cells_of(CURRENT_FIELDS.table(["slug", "slug"], [Current(slug="x")]))
    assert isinstance(grid, Grid)
    assert list(grid.rows()) == [("slug", "slug"), ("x", "x")]


def test_fields_of_the_byline_have_short_names():
    post = Post(slug="x", byline={"handle": "meridian", "avatar_url": None})
    assert value("handle", post, POST_FIELDS) == value("byline.handle", post, POST_FIELDS) == "meridian"


def test_an_object_in_a_list_is_shown_by_what_names_it():
    assert (
        shown_value("components", [{"weight": 0.5, "signal_slug": "us-cpi"}, {"weight": 0.5}]) == "us-cpi, weight: 0.5"
    )


def test_what_names_an_object_is_found_inside_it_too():
    assert naming_texts({"signal": {"slug": "us-cpi", "unit": "x"}, "transform": "yoy"}) == ["us-cpi"]


@pytest.mark.parametrize("text", ["", "x", "2026-13-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_what_is_no_moment_is_none(text):
    assert moment(text) is None


@given(st.text(max_size=8), json_values)
def test_any_json_value_becomes_something_that_a_cell_can_hold(name, raw):
    raw = json.loads(json.dumps(raw))
    assert isinstance(shown_value(name, raw), type(None) | bool | int | float | str | date)


@given(st.dictionaries(st.text(max_size=6), json_values, max_size=4), st.text(max_size=12))
def test_any_path_into_a_payload_is_a_value_or_blank(payload, path):
    WIRE_FIELDS.value(WireItem(id="1", payload=payload), f"payload.{path}")


@given(st.lists(json_values, max_size=6))
def test_a_column_of_anything_makes_a_grid_of_as_many_rows(values):
    records = [Current.from_json({"slug": "x", "odd": each}) for each in values]
    grid = cells_of(CURRENT_FIELDS.table(["slug", "odd"], records))
    assert isinstance(grid, Grid)
    assert grid.height == len(values) + 1
    assert len(list(grid.rows())) == len(values) + 1
