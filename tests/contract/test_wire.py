"""GET /v1/wire (contract: Endpoints, Resources, Limits)."""

from datetime import datetime

import pytest

from tests.contract.shapes import ERROR, WIRE_ITEM, WIRE_KINDS, misfits


@pytest.fixture(scope="module")
def items(pro):
    return pro.data("/v1/wire", limit=200) or pytest.skip("the service has no wire items")


def test_wire_items_come_with_every_field_of_the_contract(items):
    assert [misfits(item, WIRE_ITEM) for item in items] == [[]] * len(items)


def test_the_raw_text_of_the_source_is_never_a_field(items):
    raw = {"body", "text", "raw", "raw_text", "full_text", "content"}
    assert set().union(*items) & raw == set()


def test_limit_is_50_by_default_and_200_at_most(pro, items):
    assert len(pro.data("/v1/wire")) == min(50, len(items))
    assert len(items) <= 200


def test_since_keeps_the_items_from_that_time_on(pro, items):
    times = sorted(datetime.fromisoformat(item["published_at"]) for item in items)
    kept = pro.data("/v1/wire", since=times[-3].isoformat(), limit=200)
    assert min(datetime.fromisoformat(item["published_at"]) for item in kept) == times[-3]


@pytest.mark.parametrize("least", [0, 1, 60, 100])
def test_min_importance_keeps_the_items_at_least_so_important(pro, least):
    assert all(item["importance_score"] >= least for item in pro.data("/v1/wire", min_importance=least))


@pytest.mark.parametrize("kind", sorted(WIRE_KINDS))
def test_kind_keeps_the_items_of_one_kind(pro, kind):
    assert {item["kind"] for item in pro.data("/v1/wire", kind=kind)} <= {kind}


def test_beat_and_source_keep_the_items_that_have_them(pro, items):
    for name in ("beat", "source"):
        value = next(item[name] for item in items if item[name])
        assert {item[name] for item in pro.data("/v1/wire", **{name: value})} == {value}


def test_ticker_keeps_the_items_that_name_it(pro, items):
    ticker = next(ticker for item in items for ticker in item["tickers"])
    kept = pro.data("/v1/wire", ticker=ticker)
    assert kept
    assert all(ticker in item["tickers"] for item in kept)


def test_filters_are_joined_by_and(pro, items):
    item = items[len(items) // 2]
    kept = pro.data("/v1/wire", kind=item["kind"], source=item["source"], since=item["published_at"], limit=200)
    assert item["id"] in {other["id"] for other in kept}
    assert {(other["kind"], other["source"]) for other in kept} == {(item["kind"], item["source"])}


def test_the_wire_is_locked_below_the_pro_tier(free):
    answer = free.get("/v1/wire")
    assert answer.status_code == 402
    assert misfits(answer.json(), ERROR) == []
    assert answer.headers["X-Service-Tier"].lower() == "free"
