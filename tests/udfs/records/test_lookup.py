"""Names of records: found in any case, and where there is none, the nearest is named."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.models import Index
from udfs.errors import NoDataError
from udfs.records.lookup import find_record, nearest, unknown

INDICES = [
    Index(slug="pressure-gauge", name="Price pressure gauge"),
    Index(slug="dollar-basket", extra={"shortcode": "DXB"}),
    Index(slug="risk-dial"),
]

slugs = st.lists(st.text(string.ascii_lowercase + "-.", min_size=1, max_size=12), min_size=1, max_size=8, unique=True)


def test_a_record_is_found_by_slug_in_any_case():
    assert find_record(INDICES, "Risk-Dial", "index").slug == "risk-dial"


def test_a_record_is_found_by_a_shortcode_that_the_service_adds():
    assert find_record(INDICES, "dxb", "index").slug == "dollar-basket"


def test_an_unknown_name_is_told_the_nearest_one():
    with pytest.raises(NoDataError, match=r"^no index 'pressure-guage'; did you mean pressure-gauge\?$"):
        find_record(INDICES, "pressure-guage", "index")


def test_a_name_like_no_other_is_told_what_there_is():
    with pytest.raises(NoDataError, match=r"^no index 'zzz'; there are pressure-gauge, dollar-basket, risk-dial$"):
        find_record(INDICES, "zzz", "index")


def test_a_long_list_of_names_is_cut_and_its_rest_counted():
    message = unknown("index", "zzz", [f"a-{n}" for n in range(40)])
    assert message.endswith("a-11 and 28 more")


def test_where_there_is_nothing_the_message_ends_with_the_name():
    assert unknown("current", "x", []) == "no current 'x'"


def test_a_name_of_forty_thousand_characters_is_refused_in_a_short_message():
    assert len(unknown("index", "x" * 40_000, [index.slug for index in INDICES])) < 200


@given(slugs, st.data())
def test_every_slug_is_its_own_nearest(known, data):
    name = data.draw(st.sampled_from(known))
    assert nearest(name, known) == name


@given(slugs, st.text(max_size=100))
def test_what_is_named_as_nearest_is_always_a_known_name(known, name):
    assert nearest(name, known) in {None, *known}


@pytest.mark.parametrize(
    ("name", "known", "suggested"),
    [
        ("inflatoin", ["bitcoin", "consumer"], None),
        ("inflatoin", ["bitcoin", "inflation"], "inflation"),
        ("us-cpii", ["us-cpi", "us-ppi"], "us-cpi"),
        ("vix", ["cboe.vix", "wti"], "cboe.vix"),
        ("oilprice", ["oil-price"], "oil-price"),
        ("zz", ["az", "bz"], None),
    ],
)
def test_only_a_near_name_is_suggested(name, known, suggested):
    assert nearest(name, known) == suggested
