"""A narrower question answered from a wider answer, against the service's own filters."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.client.contract.resources import (
    HistoryResource,
    IndicesResource,
    PostsResource,
    WireResource,
    narrowed,
    wider,
)
from dataservice.client.contract.results import Page
from dataservice.models import WireItem
from dataservice.observations import Observations

WHEN = ("2026-08-01T23:59:59Z", "2026-08-02T00:00:00Z", "2026-08-02T01:00:00+02:00")


def item(number: int, **fields: object) -> WireItem:
    given_fields = {"id": str(number), "kind": "news", "source": "A", "published_at": WHEN[1], **fields}
    return WireItem.from_json(given_fields)


def page(*items: WireItem, complete: bool = True) -> Page[WireItem]:
    return Page(items, complete, WireItem)


def ids(found: Page[WireItem] | None) -> list[str] | None:
    return None if found is None else [one.id for one in found]


def test_an_incomplete_answer_holds_no_other():
    assert narrowed(WireResource(kind="news"), WireResource(), page(item(1), complete=False)) is None


def test_an_answer_with_another_filter_holds_no_other():
    assert narrowed(WireResource(kind="news"), WireResource(source="A"), page(item(1))) is None


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (WireResource(ticker="OIL"), ["1"]),
        (WireResource(kind="filing"), ["2"]),
        (WireResource(source="B"), ["3"]),
        (WireResource(beat="energy"), ["1"]),
        (WireResource(min_importance=40), ["2"]),
        (WireResource(since=date(2026, 8, 2)), ["1", "3"]),
    ],
)
def test_each_filter_means_what_it_means_at_the_service(asked, expected):
    items = page(
        item(1, tickers=["OIL", "GAS"], beat="energy", importance_score=39.9),
        item(2, kind="filing", importance_score=40, published_at=WHEN[0]),
        item(3, source="B", published_at=WHEN[1]),
        item(4, kind="social_post", source="C", published_at=WHEN[2]),
    )
    assert ids(narrowed(asked, WireResource(), items)) == expected


def test_a_narrowed_page_is_complete():
    found = narrowed(WireResource(kind="filing"), WireResource(), page(item(1)))
    assert found is not None
    assert found.complete
    assert len(found) == 0


def test_a_shorter_window_is_cut_from_a_longer_one():
    series = Observations.from_columns(["2024-01-01", "2024-01-02", "2024-01-03"], [1.0, 2.0, 3.0])
    asked = HistoryResource("x", date(2024, 1, 2), date(2024, 1, 2))
    assert narrowed(asked, HistoryResource("x"), series) == series[1:2]
    assert narrowed(asked, HistoryResource("y"), series) is None


filters = st.builds(
    WireResource,
    ticker=st.none() | st.just("OIL"),
    kind=st.none() | st.just("news"),
    min_importance=st.sampled_from([0, 50]),
    since=st.none() | st.just(date(2026, 8, 2)),
    beat=st.none() | st.just("energy"),
    source=st.none() | st.just("A"),
)


@given(filters)
def test_every_wider_question_covers_the_narrower_one_and_is_another(asked):
    candidates = list(wider(asked))
    assert all(wide.covers(asked) and wide != asked for wide in candidates)
    assert len(set(candidates)) == len(candidates)
    assert (WireResource() in candidates) == (asked != WireResource())


def test_what_has_no_filters_has_no_wider_question():
    assert list(wider(IndicesResource())) == list(wider(PostsResource())) == []
