"""Searching beside signals, favourites, and values in the list: nothing is spent that nobody asked for."""

import re

import pytest

from tests.addin.backends import backend_of
from tests.addin.excel.parts.panes import Pane, opened, searching

INDICES = ["INDICES", "slug, name, value, observed_at, category, scale"]


def test_what_is_cached_beside_signals_is_searched_at_no_request(chromium, backend, service):
    with searching(chromium, backend, "risk", ["INDICES"]) as pane:
        pane.sees("Risk dial")
        pane.press("Risk dial")
        pane.sees('=DS.INDEX("risk-dial")')
        [value] = backend.values(["INDEX", "risk-dial"])
        assert float(pane.text(".card .value").replace(",", "")) == pytest.approx(value, abs=1e-3)
        pane.press("Back")
        assert pane.focused().startswith("Risk dial")
    assert service.running.request_count == 2


def test_a_list_that_arrives_late_leaves_the_place_of_who_walks_through_the_lines(chromium, backend):
    backend.batch(["INDICES"])
    late: list = []

    async def hold(route) -> None:
        late.append(route)

    async def let_go(_page) -> None:
        for route in late:
            await route.continue_()

    with opened(chromium, backend) as pane:
        pane.sees("Load the catalogue")
        pane.run(lambda page: page.route("**/functions/cost", hold))
        pane.type("Search signals", "made up")
        pane.sees("15 signals")
        pane.keys("ArrowDown", "ArrowDown")
        walked = pane.focused()
        assert walked.startswith("Ether in US dollars")
        pane.run(let_go)
        pane.sees("Risk dial")
        assert pane.focused() == walked


def test_what_is_not_cached_is_offered_with_its_price_and_costs_that(chromium, backend, service):
    with searching(chromium, backend, "CPI") as pane:
        pane.sees("Not searched yet")
        pane.settle()
        assert service.running.request_count == 1
        pane.press("Load and search Wire (1 request)")
        pane.sees("All ")
        assert service.running.request_count == 2
        pane.press("All ")
        dates = [text.split()[-1] for text in pane.texts(".search-results .list-value")]
        assert len(dates) > 5
        assert dates == sorted(dates, reverse=True)
    assert service.running.request_count == 2


@pytest.mark.parametrize(
    ("kind", "formula"),
    [
        ("index", '=DS.INDEX("'),
        ("current", '=DS.CURRENT("'),
        ("wire", "=DS.WIRE()"),
        ("post", '=DS.CODEX_POST("'),
    ],
)
def test_each_kind_can_be_listed_alone_and_opens_a_card_with_formulas(chromium, backend, service, kind, formula):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend, width=320) as pane:
        pane.sees("15 signals")
        pane.choose("Category", f"\0{kind}")
        pane.sees("Not loaded yet.")
        pane.press("Load and search")
        pane.run(lambda page: page.locator(".search-results .list-item").first.click())
        assert formula in pane.text(".card .formula-item")
        assert pane.tab.evaluate("document.documentElement.scrollWidth <= 320")
    assert service.running.request_count == 2


def test_a_free_key_is_not_offered_what_needs_pro(chromium, service, tmp_path):
    with backend_of(service, tmp_path, key=service.free_key) as backend, opened(chromium, backend) as pane:
        pane.press("Load the catalogue")
        pane.sees("15 signals")
        pane.type("Search signals", "oil")
        pane.sees("Not searched yet")
        pane.sees_no("Wire (1 request)")
        assert "Wire" not in pane.texts("select[aria-label=Category]")[0]
        pane.open_tab("Insert")
        pane.sees("Needs Pro")
        assert any("WIRE Needs Pro" in text for text in pane.texts(".list-title"))
        pane.press("WIRE")
        assert "This needs the Pro tier" in pane.text(".why")
        assert pane.tab.evaluate("document.querySelector('.wizard-bar .button.primary').disabled")
    assert service.running.request_count == 1


def marked(pane: Pane) -> list[str]:
    return pane.texts(".starred:has([aria-pressed=true]) .list-title")


def test_favourites_stand_first_and_are_there_when_the_pane_opens_again(chromium, backend):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend) as pane:
        pane.sees("15 signals")
        pane.press("Favourite: WTI crude oil")
        pane.press("Favourite: Gold price")
        pane.press("Favourite: Bitcoin")
        pane.press("Favourite: Bitcoin")
        pane.tab.goto(f"{backend.url}/taskpane.html")
        pane.sees("Favourites")
        assert marked(pane) == ["Gold price (made up)", "WTI crude oil spot price (made up)"]
        assert pane.texts(".list-title")[:2] == marked(pane)
        assert len(pane.texts(".list-title")) == 15


@pytest.mark.parametrize(
    "stored", ["{", "null", "7", '{"a": 1}', '[1, null, {"b": 2}, "signal wb.gold", "signal gone"]']
)
def test_favourites_that_cannot_be_read_harm_nothing(chromium, backend, stored):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend) as pane:
        pane.tab.evaluate("(text) => localStorage.setItem('dataservice.favourites', text)", stored)
        pane.tab.goto(f"{backend.url}/taskpane.html")
        pane.sees("15 signals")
        assert marked(pane) == (["Gold price (made up)"] if "gold" in stored else [])


def test_the_list_shows_values_that_are_fresh_and_asks_for_no_other(chromium, backend, service):
    backend.batch(["SIGNALS"], ["SIGNAL", "us-cpi"], ["SIGNAL", "wb.gold"])
    with opened(chromium, backend, locale="en-US") as pane:
        pane.sees("2026-08-01")
        shown = [re.match(r"[\d.,]+?(?= ?2026-08)", text)[0] for text in pane.texts(".list-value") if text]
        values = backend.values(["SIGNAL", "wb.gold"], ["SIGNAL", "us-cpi"])
        assert [float(text.replace(",", "")) for text in shown] == [pytest.approx(v, rel=1e-5) for v in values]
        pane.settle()
    assert service.running.request_count == 3


def test_favourites_without_a_fresh_value_offer_to_load_it(chromium, backend, service):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend) as pane:
        pane.sees("15 signals")
        pane.press("Favourite: Gold price")
        pane.tab.goto(f"{backend.url}/taskpane.html")
        pane.press("Update (at least 1 request)")  # a name with a dot may have no detail
        pane.sees("2026-08-01")
        pane.settle()
        pane.sees_no("Update (")
    assert service.running.request_count == 2


def test_recent_is_a_year_whatever_the_frequency(chromium, backend):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend) as pane:
        for name, least, most in (("Gold price", 11, 12), ("S&P 500", 250, 262), ("Bitcoin", 360, 365)):
            pane.press(name)
            pane.run(lambda page: page.locator(".chart").wait_for())
            assert least <= int(pane.attribute(".chart", "aria-valuemax")) <= most, name
            pane.press("Signals")
