"""Values as bytes and back."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.client.cache.codec import pack, unpack
from dataservice.client.contract.resources import (
    CatalogueResource,
    CurrentsResource,
    IndicesResource,
    PostsResource,
    SignalResource,
    WireResource,
)
from dataservice.client.contract.results import Catalogue, Currents, Indices, Page, SignalDetail
from dataservice.models import Current, Index, Observation, Post, Signal, WireItem
from dataservice.observations import Observations

texts = st.text(max_size=5)
numbers = st.none() | st.floats(allow_nan=False)
extras = st.dictionaries(texts, texts | st.integers(-9, 9) | st.lists(texts, max_size=2), max_size=2)
signals = st.builds(Signal, slug=texts, name=texts, unit=st.none() | texts, is_premium=st.booleans(), extra=extras)
days = st.dates().map(str)
series = st.dictionaries(days, numbers, max_size=6).map(
    lambda rows: Observations.from_columns(list(rows), [*rows.values()])
)
latest = st.none() | st.builds(Observation, observed_at=days, value=numbers, extra=extras)
posts = st.builds(Post, slug=texts, view_count=st.integers(0, 9), byline=extras, extra=extras)
items = st.builds(WireItem, id=texts, tickers=st.lists(texts, max_size=2), payload=st.none() | extras, extra=extras)


def tuples(records: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(records, max_size=3).map(tuple)


kept = st.one_of(
    st.tuples(st.just(CatalogueResource()), st.builds(Catalogue, tuples(signals))),
    st.tuples(st.just(SignalResource("x")), st.builds(SignalDetail, signals, latest, series)),
    st.tuples(st.just(IndicesResource()), tuples(st.builds(Index, slug=texts, extra=extras)).map(Indices)),
    st.tuples(st.just(CurrentsResource()), tuples(st.builds(Current, slug=texts, extra=extras)).map(Currents)),
    st.tuples(st.just(PostsResource()), st.builds(Page, tuples(posts), st.booleans(), st.just(Post))),
    st.tuples(st.just(WireResource()), st.builds(Page, tuples(items), st.booleans(), st.just(WireItem))),
)


@given(kept)
def test_what_was_kept_comes_back_as_it_was(pair):
    resource, value = pair
    found = unpack(resource, pack(value))
    assert found == value
    assert type(found) is type(value)


@given(kept, st.integers(0, 200))
def test_bytes_that_were_cut_off_are_an_error_and_no_value(pair, length):
    resource, value = pair
    payload = pack(value)
    if length < len(payload):
        with pytest.raises((msgspec.MsgspecError, ValueError)):
            unpack(resource, payload[:length])


def test_an_observation_takes_sixteen_bytes():
    def detail(count: int) -> SignalDetail:
        dates = [f"{1900 + n}-01-01" for n in range(count)]
        return SignalDetail(Signal(slug="x"), None, Observations.from_columns(dates, [1.0] * count))

    assert len(pack(detail(110))) - len(pack(detail(100))) == 160


def test_what_no_resource_answers_with_is_refused():
    with pytest.raises(TypeError, match="str"):
        pack("text")
