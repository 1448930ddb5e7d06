"""GET /v1/signals and /v1/signals/{slug} (contract: Endpoints, Limits)."""

import pytest

from tests.contract.shapes import ERROR, PAGINATION, SIGNAL, SIGNAL_DETAIL, misfits


def test_the_catalogue_lists_signals_with_every_field_of_the_contract(signals):
    assert [misfits(signal, SIGNAL) for signal in signals] == [[]] * len(signals)


def test_the_catalogue_says_which_part_it_shows(pro):
    answer = pro.get("/v1/signals").json()
    assert misfits(answer["pagination"], PAGINATION) == []
    assert (answer["pagination"]["limit"], answer["pagination"]["offset"]) == (100, 0)
    assert len(answer["data"]) == min(100, answer["pagination"]["total"])


def test_limit_and_offset_cut_the_catalogue_into_pages(pro, signals):
    pages = [pro.get("/v1/signals", limit=2, offset=offset).json() for offset in (0, 2)]
    assert [page["pagination"]["offset"] for page in pages] == [0, 2]
    assert [page["pagination"]["limit"] for page in pages] == [2, 2]
    assert [signal["slug"] for page in pages for signal in page["data"]] == [s["slug"] for s in signals[:4]]


def test_the_widest_page_has_500_signals(pro):
    answer = pro.get("/v1/signals", limit=500)
    assert answer.status_code == 200
    assert answer.json()["pagination"]["limit"] == 500


def test_a_page_behind_the_end_is_empty_and_knows_the_total(pro):
    total = pro.get("/v1/signals").json()["pagination"]["total"]
    behind = pro.get("/v1/signals", offset=total).json()
    assert behind["data"] == []
    assert behind["pagination"]["total"] == total


def test_category_keeps_the_signals_of_one_category(pro, signals):
    category = signals[0]["category"]
    answer = pro.get("/v1/signals", category=category, limit=500).json()
    assert {signal["category"] for signal in answer["data"]} == {category}
    assert answer["pagination"]["total"] >= len([s for s in signals if s["category"] == category])


def test_an_unknown_category_has_no_signals(pro):
    answer = pro.get("/v1/signals", category="no-such-category").json()
    assert (answer["data"], answer["pagination"]["total"]) == ([], 0)


def test_a_signal_has_its_definition_its_latest_observation_and_history(pro, signals):
    detail = pro.data(f"/v1/signals/{signals[0]['slug']}")
    assert misfits(detail, SIGNAL_DETAIL) == []
    assert {name: detail[name] for name in SIGNAL} == {name: signals[0][name] for name in SIGNAL}


def test_latest_is_the_newest_observation_of_the_history(pro, slug):
    detail = pro.data(f"/v1/signals/{slug}")
    assert detail["latest"] == max(detail["history"], key=lambda observation: observation["observed_at"])


@pytest.mark.parametrize("history", [1, 30, 365])
def test_history_is_bounded_by_the_parameter(pro, long_slug, history):
    assert 1 <= len(pro.data(f"/v1/signals/{long_slug}", history=history)["history"]) <= history


def test_an_unknown_signal_is_not_found(pro):
    answer = pro.get("/v1/signals/no-such-signal")
    assert answer.status_code == 404
    assert misfits(answer.json(), ERROR) == []
