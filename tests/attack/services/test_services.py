"""A short run over services that answer otherwise where the contract leaves it open."""

from datetime import date

import pytest

from dataservice.client import AsyncClient
from dataservice.stores import MemoryStore
from tests.attack.services import visits
from tests.attack.services.__main__ import attack, variants
from tests.attack.services.cells import Verdict
from tests.attack.services.foreign import FOREIGN, ForeignWorld
from tests.attack.services.least import least
from tests.attack.services.world import URL, Databases

SHORT = [
    {},
    {"end": "midnight", "stamps": "evening"},
    {"page": "997", "more": "unsaid"},
    {"no-start": "year", "start": "excluded"},
    {"detail-values": "float32", "detail-stamps": "evening"},
    {"nulls": "null", "detail-nulls": "left-out"},
    {"newest": "detail-only", "history": "cap-360"},
    {"odd-record": "number-words", "slash": "html-404"},
]

UNSAID = {"collections": "paged-unsaid"}
"""Two of four indices, and not a word of it."""


UNDESCRIBED = [
    *("JSON:API", "newest page first", "lists of 20 unsaid", "the last year, unsaid"),
    *("posts and wire of 5, unsaid", "the first 5 signals, whatever is asked", "a latest without a value"),
    *("no answer has its last row, but totals", "totals of lists, a record too few"),
    *("details of weeks", "details of months on average", "long windows of month ends", "windows in at most 400 parts"),
    *("a catalogue of 5, shuffled each time, and the total", "items without a time, null", "401 for one signal"),
    *("an index: a value and a current value", "an alias, and not a word of it", "windows are prepared first"),
]
"""Services that no switch describes."""


@pytest.fixture(scope="module")
def visited():
    """What each of them shows, in one go: the data is imported once."""
    return attack([*SHORT, UNSAID, *UNDESCRIBED], seed=3)


@pytest.fixture(scope="module")
def founds(visited):
    return visited[: len(SHORT)]


def test_no_cell_is_silently_wrong_and_no_revision_is_made_up(visited):
    wrong = [(found.variant, each) for found in visited for each in found.verdicts if each[2] is Verdict.WRONG]
    assert wrong == []
    assert [(found.variant, line) for found in visited for line in found.invented] == []


def test_all_of_these_are_all_right(founds):
    assert [found.variant for found in founds if not found.is_right] == []


def test_other_services_cost_no_more_than_twice_what_the_documented_one_does(founds):
    assert [found.variant for found in founds if found.spent > 2 * found.fewest] == []
    assert founds[0].spent <= founds[0].fewest + 1, "the documented one: as few as can be"


def test_services_that_no_switch_describes_were_visited_too(visited):
    assert {found.variant for found in visited} >= {*UNDESCRIBED}


def test_what_leaves_out_each_last_row_without_a_word_is_found_out_and_named_by_a_probe():
    (found,) = attack(["no answer has its last row, unsaid"], seed=3, probes=True)
    assert "the last row of an answer: left out" in found.deviations
    wrong = {cell.name for _, cell, verdict, _ in found.verdicts if verdict is Verdict.WRONG}
    assert wrong == set(), "lists count as parts"


@pytest.mark.parametrize("name", ["details of weeks", "long windows of month ends"])
def test_a_service_that_thins_series_out_is_right_after_a_probe(name):
    (found,) = attack([name], seed=3, probes=True)
    assert found.is_right
    assert found.invented == []
    assert any(told.startswith("detail and window") for told in found.deviations)


def test_windows_that_are_thinned_out_above_100_rows_cost_at_most_twice_the_pages_of_100():
    (found,) = attack(["windows of more than 100 rows by weeks"], seed=3)
    assert found.is_right
    assert sum(found.requests.values()) <= 2 * sum(least({"page": "100"}).values())


def test_two_processes_with_one_cache_are_right_in_any_order_and_make_no_revision_up():
    founds = attack([{"window-unit": "offset"}, {}, {"window-longest": "1000-newest"}], seed=46, shares=True)
    assert [found.variant for found in founds if not found.is_right or found.invented] == []
    assert [found.variant for found in founds if found.spent > 2 * found.fewest] == []


def test_a_copy_may_show_what_was_true_before_and_no_rows_of_another_window(monkeypatch):
    name = "copies by path alone"
    (found,) = attack([name], seed=9, shares=True)
    assert [each for each in found.verdicts if each[2] is Verdict.WRONG] == []
    assert any("were sent, asked from" in why for *_, why in found.verdicts)
    monkeypatch.setattr(visits, "OLD_COPIES", frozenset())
    (found,) = attack([name], seed=9, shares=True)
    wrong = {cell.name for _, cell, verdict, _ in found.verdicts if verdict is Verdict.WRONG}
    assert wrong == {"whole history, monthly", "latest value, monthly"}, "the row of a month that began since"


async def test_what_answers_have_shown_of_thinned_windows_is_kept_for_other_clients(tmp_path):
    databases, store = Databases.made(tmp_path), MemoryStore()
    (folder := tmp_path / "served").mkdir()
    world = ForeignWorld(databases, FOREIGN["long windows of weeks"], folder)
    try:
        async with AsyncClient(URL, world.key, store=store, transport=world) as first:
            assert len(await first.observations("btc-usd")) == len(world.truth.rows("btc-usd"))
            assert await first.profile() is None, "no probe has found anything"
        before = len(world.asked)
        async with AsyncClient(URL, world.key, store=store, transport=world) as second:
            await second.observations("fx.eur-usd", date(2023, 1, 2), date(2024, 9, 30))
        assert len(world.asked) == before + 2, "in two parts at once, and none as a whole"
    finally:
        world.close()


def test_a_list_that_may_be_a_page_says_so_and_costs_no_request(visited, founds):
    fits, unsaid = founds[0], visited[len(SHORT)]
    shown = {(cell.name, verdict) for _, cell, verdict, _ in unsaid.verdicts if verdict is not Verdict.RIGHT}
    assert shown == {("indices", Verdict.STALE)}
    assert sum(unsaid.requests.values()) <= sum(fits.requests.values())


def test_a_probe_names_what_differs_and_finds_lists_that_go_on_without_a_word():
    fits, unsaid = attack([{}, UNSAID], seed=3, probes=True)
    assert fits.is_right
    assert fits.deviations == ()
    assert unsaid.is_right
    assert unsaid.is_named


def test_the_whole_attack_visits_every_switch_alone_and_pairs():
    wanted = variants(220, seed=1)
    assert len(wanted) == 220
    assert sum(len(variant) == 2 for variant in wanted) >= 60
    assert len(FOREIGN) >= 120


def test_a_401_for_one_signal_stops_no_other(visited):
    (found,) = [each for each in visited if each.variant == "401 for one signal"]
    assert {cell.name for _, cell, verdict, _ in found.verdicts if verdict is not Verdict.RIGHT} == {
        "latest value, monthly",
        "whole history, monthly",
    }
