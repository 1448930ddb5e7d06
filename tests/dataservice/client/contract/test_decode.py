"""Answers as the service may send them, and whatever else may come instead."""

from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.client.contract import decode
from dataservice.client.contract.results import newest_first
from dataservice.errors import MalformedAnswerError, NotFoundError

JSON = msgspec.json.encode
SIGNAL = {"slug": "us-cpi", "name": "Consumer prices", "category": "prices", "is_premium": False}
ROWS = [{"observed_at": "2024-01-02T00:00:00Z", "value": 2}, {"observed_at": "2024-01-01T00:00:00Z", "value": 1.5}]
DECODERS = [
    decode.catalogue_page,
    decode.signal_detail,
    decode.observations_page,
    decode.indices_page,
    decode.currents_page,
    decode.posts_page,
    decode.wire_page,
]


def test_a_page_of_the_catalogue_holds_signals_and_how_many_there_are():
    page = decode.catalogue_page(JSON({"data": [SIGNAL], "pagination": {"limit": 500, "offset": 0, "total": 7}}))
    assert ([signal.slug for signal in page.signals], page.limit, page.total) == (["us-cpi"], 500, 7)


def test_a_signal_comes_with_its_history_in_order():
    detail = decode.signal_detail(JSON({"data": {**SIGNAL, "latest": ROWS[0], "history": ROWS}}))
    assert (detail.signal.name, detail.latest.value) == ("Consumer prices", 2.0)
    assert detail.history.values.tolist() == [1.5, 2.0]


def test_where_latest_is_absent_the_newest_of_the_history_stands_in():
    detail = decode.signal_detail(JSON({"data": {**SIGNAL, "history": ROWS}}))
    assert (detail.latest.observed_at, detail.latest.value) == ("2024-01-02T00:00:00Z", 2.0)


def test_a_signal_without_observations_has_no_latest():
    detail = decode.signal_detail(JSON({"data": {**SIGNAL, "latest": None, "history": []}}))
    assert (detail.latest, len(detail.history)) == (None, 0)


def test_unknown_fields_are_kept():
    detail = decode.signal_detail(JSON({"data": {**SIGNAL, "licence": "CC0", "latest": {**ROWS[0], "note": "p"}}}))
    assert (detail.signal.field("licence"), detail.latest.field("note")) == ("CC0", "p")


@pytest.mark.parametrize("envelope", [ROWS, {"data": ROWS}, {"data": ROWS, "pagination": None}, {"data": ROWS, "x": 1}])
def test_observations_come_with_an_envelope_or_without(envelope):
    page = decode.observations_page(JSON(envelope))
    assert (page.observations.values.tolist(), page.rows, page.left) == ([1.5, 2.0], 2, None)


def test_a_total_tells_how_many_observations_are_left():
    pagination = {"limit": 1_000, "offset": 0, "total": 5}
    assert decode.observations_page(JSON({"data": ROWS, "pagination": pagination})).left == 3


def test_a_null_value_is_no_number_and_keeps_its_date():
    page = decode.observations_page(JSON([{"observed_at": "2024-01-01T00:00:00Z", "value": None}]))
    assert page.observations.values.tolist() != page.observations.values.tolist()  # NaN
    assert len(page.observations) == 1


def test_lists_of_news_are_sorted_newest_first_whatever_their_zone():
    times = ["2024-01-01T12:00:00Z", "2024-01-01T13:30:00+02:00", "2024-01-01T12:30:00Z"]
    items = [{"id": str(number), "published_at": time} for number, time in enumerate(times)]
    found = newest_first(decode.wire_page(JSON({"data": items})).records)
    assert [item.id for item in found] == ["2", "0", "1"]


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>maintenance</html>",
        b'{"data": [{"slug": "us',
        b"null",
        b"3",
        b'{"error": "x"}',
        b'{"data": 3}',
        b"\xff",
    ],
)
def test_what_is_not_an_answer_is_malformed(decoder, body):
    with pytest.raises(MalformedAnswerError):
        decoder(body)


@pytest.mark.parametrize(
    "row",
    [
        {"observed_at": "soon", "value": 1},
        {"observed_at": None, "value": 1},
        {"value": 1},
        {"observed_at": "2024-01-01"},
    ],
)
def test_an_observation_of_another_shape_is_malformed(row):
    with pytest.raises(MalformedAnswerError):
        decode.observations_page(JSON([row]))
    with pytest.raises(MalformedAnswerError):
        decode.signal_detail(JSON({"data": {**SIGNAL, "history": [row]}}))


@pytest.mark.parametrize("latest", [{"observed_at": "soon", "value": 1}, {"value": 1}, {"observed_at": 3}, [], 5])
def test_a_latest_observation_of_another_shape_is_malformed(latest):
    with pytest.raises(MalformedAnswerError):
        decode.signal_detail(JSON({"data": {**SIGNAL, "latest": latest}}))


def test_a_null_where_the_contract_knows_none_spoils_no_list():
    (index,) = decode.indices_page(JSON({"data": [{"slug": "i", "name": None, "components": None}]})).records
    assert (index.name, index.components, index.reading()) == ("", [], (None, None))
    (item,) = decode.wire_page(
        JSON({"data": [{"id": "1", "headline": None, "tickers": None, "importance_score": None}]})
    ).records
    assert (item.headline, item.tickers, item.importance_score) == ("", [], None)
    (post,) = decode.posts_page(
        JSON({"data": [{"slug": "p", "byline": None, "citations": None, "view_count": None}]})
    ).records
    assert (post.byline, post.citations, post.view_count) == ({}, [], None)


@pytest.mark.parametrize(
    "told",
    [
        {"value": 3, "current_value": 104.2},
        {"latest": {"value": 3, "observed_at": "2026-01-02"}, "value": 104.2},
        {"latest": {"value": 104.2, "observed_at": "2026-01-02"}, "level": 3},
        {"latest": {"value": 104.2, "observed_at": "2026-01-02"}, "value": "224,059.8"},
    ],
)
def test_an_index_of_which_two_numbers_may_be_the_reading_has_none_and_that_is_said(told):
    page = decode.indices_page(JSON({"data": [{"slug": "i", **told}]}))
    assert page.records[0].reading() == (None, None)
    assert page.odd.startswith("the reading of 1 of 1 indices is not clear")


def test_an_index_whose_candidates_are_alike_has_that_reading():
    (index,) = decode.indices_page(JSON({"data": [{"slug": "i", "value": 104.2, "level": "104.2"}]})).records
    assert index.reading() == (104.2, None)


@pytest.mark.parametrize("record", [3, None, {"slug": 3}, {"name": "no slug"}, {"slug": None}])
def test_a_record_of_another_shape_is_malformed(record):
    with pytest.raises(MalformedAnswerError):
        decode.indices_page(JSON({"data": [record]}))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["data", "slug", "history"]), inner),
    max_leaves=8,
)


@given(st.binary() | json_values.map(JSON), st.sampled_from(DECODERS))
def test_whatever_comes_is_decoded_or_malformed(body, decoder):
    with suppress(MalformedAnswerError, NotFoundError):
        assert decoder(body) is not None
