"""The pane for everyone: screen readers, keyboards, narrow panes, both themes."""

import pytest

from tests.addin.excel.parts.panes import opened, violations

LOOKS = {"light": {"width": 1100}, "dark": {"color_scheme": "dark", "width": 320}}
"""Both themes, in a wide and a narrow pane."""


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_serious_on_any_tab(chromium, backend, axe, look):
    backend.batch(["SIGNALS"], ["SIGNAL", "us-cpi"])
    with opened(chromium, backend, reduced_motion="reduce", **LOOKS[look]) as pane:
        pane.sees("15 signals")
        found = violations(pane, axe)
        pane.press("US consumer price")
        pane.sees("from the cache")
        found += violations(pane, axe)
        pane.open_tab("Insert")
        pane.sees("SIGNAL_HISTORY")
        found += violations(pane, axe)
        pane.press("SIGNAL_HISTORY")
        pane.type("slug", "us-cpi")
        pane.type("start", "N60")
        pane.check("Options")
        pane.sees("First 12 of")
        found += violations(pane, axe)
        for tab in ("Refresh", "Account"):
            pane.open_tab(tab)
            pane.settle()
            found += violations(pane, axe)
        pane.press("Forget key")
        found += violations(pane, axe)
    assert found == []


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_serious_when_things_are_wrong(chromium, backend, service, axe, look):
    backend.batch(["SIGNALS"], ["SIGNAL", "us-cpi"])
    with opened(chromium, backend, reduced_motion="reduce", **LOOKS[look]) as pane:
        pane.sees("15 signals")
        service.running.stop()
        backend.refresh("force")
        pane.press("US consumer price")
        pane.sees("Last known value")
        pane.sees("The service does not answer")
        found = violations(pane, axe)
        pane.open_tab("Refresh")
        pane.sees("offline")
        found += violations(pane, axe)
    assert found == []


@pytest.mark.parametrize("width", [320, 220])
def test_nothing_is_cut_off_in_a_narrow_pane(chromium, backend, width):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend, width=width) as pane:
        pane.sees("15 signals")
        pane.press("US consumer price")
        pane.sees("fetched just now")
        assert pane.tab.evaluate("document.documentElement.scrollWidth") == width
        for tab in ("Insert", "Refresh", "Account"):
            pane.open_tab(tab)
            pane.settle()
            if tab == "Insert":
                pane.press("WIRE")
                pane.sees("min_importance")
            assert pane.tab.evaluate("document.documentElement.scrollWidth") == width, tab


def test_the_offer_to_load_the_catalogue_is_not_cut_off_at_320_pixels(chromium, backend):
    with opened(chromium, backend, width=320) as pane:
        pane.sees("Load the catalogue (")
        ends = pane.tab.evaluate(
            "[...document.querySelectorAll('main button')].map((b) => b.getBoundingClientRect().right)"
        )
        assert max(ends) <= 320


def test_the_systems_own_colours_show_what_is_chosen_and_how_full_the_meter_is(chromium, backend):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend, forced_colors="active") as pane:
        pane.open_tab("Refresh")
        pane.sees("left this month")
        colour = "(selector) => getComputedStyle(document.querySelector(selector)).backgroundColor"
        page = pane.tab.evaluate(colour, "body")
        for chosen in (".segments label:has(:checked)", ".meter-level"):
            assert pane.tab.evaluate(colour, chosen) not in (page, "rgba(0, 0, 0, 0)"), chosen


def test_tabs_follow_the_arrow_keys(chromium, backend):
    with opened(chromium, backend) as pane:
        pane.run(lambda page: page.get_by_role("tab", name="Search").focus())
        seen = []
        for key in ("ArrowRight", "ArrowRight", "End", "ArrowRight", "ArrowLeft", "Home"):
            pane.keys(key)
            seen.append(pane.focused())
        assert seen == ["Insert", "Refresh", "Account", "Search", "Account", "Search"]
        assert pane.texts("[role=tabpanel]") != []
        assert pane.tab.evaluate("document.querySelectorAll('[role=tab][tabindex=\"0\"]').length") == 1


def test_a_dialog_keeps_the_focus_and_gives_it_back(chromium, backend):
    with opened(chromium, backend) as pane:
        pane.open_tab("Account")
        pane.press("Forget key")
        assert pane.focused() == "Cancel"
        pane.keys("Escape")
        pane.gone("dialog")
        assert pane.focused() == "Forget key"


def test_numbers_follow_the_readers_locale_and_dates_stay_iso(chromium, backend):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend, locale="de-DE") as pane:
        pane.sees("49.999 left")
        pane.press("WTI crude oil")
        pane.sees("2026-08-31")
        assert "," in pane.text(".value strong")
        assert "." not in pane.text(".value strong")
