"""What the pane shows when something is wrong: what happened, and what to do."""

import asyncio
import re

import pytest

from tests.addin.backends import backend_of
from tests.addin.excel.parts.panes import opened

WRONG_KEY = "ds_" + "0" * 40


def test_a_backend_that_goes_away_is_told_and_its_return_is_seen(chromium, backend):
    with opened(chromium, backend) as pane:
        pane.run(lambda page: page.route("**/status", lambda route: route.abort()))
        pane.open_tab("Refresh")
        pane.sees("The add-in’s backend does not answer")
        pane.sees("addin serve")
        pane.run(lambda page: page.unroute("**/status"))
        pane.press("Try again")
        pane.sees("No refresh since the pane was opened")
        pane.run(lambda page: page.get_by_text("does not answer").first.wait_for(state="hidden"))


def test_who_tries_again_after_a_preview_failed_is_told_the_cost_and_spends_nothing(chromium, backend, service):
    with opened(chromium, backend, routes={"**/functions/cost": lambda route: route.abort()}) as pane:
        pane.sees("does not answer")
        pane.run(lambda page: page.unroute("**/functions/cost"))
        pane.run(lambda page: page.locator("#panel-search").get_by_role("button", name="Try again").click())
        pane.sees("Load the catalogue (at least 1 request)")
    assert service.running.request_count == 0


def test_a_refused_key_is_told_once_and_leads_to_the_account(chromium, service, tmp_path):
    with backend_of(service, tmp_path, key=WRONG_KEY) as backend, opened(chromium, backend) as pane:
        pane.press("Load the catalogue")
        pane.sees("The key was refused")
        pane.press("Open Account")
        assert pane.attribute("#tab-account", "aria-selected") == "true"


def test_a_tier_that_is_too_low_locks_the_wire_only(chromium, service, tmp_path):
    with backend_of(service, tmp_path, key=service.free_key) as backend, opened(chromium, backend) as pane:
        pane.open_tab("Insert")
        pane.press("WIRE")
        pane.press("Preview (1 request)")
        pane.sees("WIRE needs the Pro tier")
        pane.open_tab("Refresh")
        pane.sees("locked")
        pane.open_tab("Search")
        pane.press("Load the catalogue")
        pane.sees("15 signals")


def test_a_spent_allowance_keeps_values_with_age_and_reason(chromium, service, tmp_path):
    with backend_of(service, tmp_path, key=service.free_key) as backend:
        backend.batch(["SIGNALS"], ["SIGNAL", "us-cpi"])
        spend_all(service, service.free_key)
        backend.refresh("force")
        backend.batch(["SIGNAL", "us-cpi"])
        with opened(chromium, backend) as pane:
            pane.sees("This month’s requests are used up")
            pane.press("US consumer price")
            pane.sees("Last known value")
            pane.open_tab("Refresh")
            assert "spent" in pane.texts(".resource .badge")


def test_a_service_that_is_down_leaves_the_last_values_with_age_and_reason(chromium, backend, service):
    backend.batch(["SIGNALS"], ["SIGNAL", "us-cpi"])
    with opened(chromium, backend) as pane:
        pane.sees("15 signals")
        service.running.stop()
        backend.refresh("force")
        pane.press("US consumer price")
        pane.sees("Last known value")
        pane.sees("The service did not answer")
        assert len(pane.texts(".value strong")) == 1
        pane.open_tab("Refresh")
        pane.sees("The service does not answer")
        assert "offline" in pane.texts(".resource .badge")


def test_what_is_fresh_is_folded_away_and_stays_as_the_user_leaves_it(chromium, backend):
    backend.batch(["SIGNALS"], ["SIGNAL", "us-cpi"])
    with opened(chromium, backend) as pane:
        pane.open_tab("Refresh")
        pane.sees("All of 2 answers held are fresh.")
        pane.sees_no("signal us-cpi")
        pane.check("2 fresh answers")
        pane.sees("signal us-cpi")
        pane.press("Refresh", exact=True)
        pane.sees("The backend asks again")
        pane.settle()
        pane.sees("signal us-cpi")


def test_what_the_banner_says_is_not_said_twice(chromium, backend):
    with opened(chromium, backend) as pane:
        pane.open_tab("Refresh")
        pane.settle()
        pane.run(lambda page: page.route(re.compile("/(status|refresh)$"), lambda route: route.abort()))
        pane.press("Refresh", exact=True)
        pane.sees("Not refreshed: The add-in’s backend does not answer.")
        assert len(pane.texts(".notice")) == 1
        pane.open_tab("Account")
        pane.run(lambda page: page.route("**/key/test", lambda route: route.abort()))
        pane.press("Test", exact=True)
        pane.sees("Not done: The add-in’s backend does not answer.")
        assert len(pane.texts(".notice")) == 1


def test_commands_in_messages_are_set_as_code(chromium, service, tmp_path):
    with backend_of(service, tmp_path, key="") as backend, opened(chromium, backend) as pane:
        pane.open_tab("Insert")
        pane.press("SIGNAL The latest value")
        pane.type("slug", "us-cpi")
        assert pane.text(".preview .notice code") == "addin key set"
        pane.sees_no("`")


def test_a_signal_the_service_does_not_know_is_explained(chromium, backend):
    with opened(chromium, backend) as pane:
        pane.open_tab("Insert")
        pane.press("SIGNAL The latest value")
        pane.type("slug", "no-such-signal")
        pane.press("Preview (at least 1 request)")
        pane.sees("no signal 'no-such-signal'")


def test_a_budget_that_does_not_suffice_stops_the_preview(chromium, service, tmp_path):
    with backend_of(service, tmp_path, monthly_budget=1) as backend:
        backend.batch(["SIGNAL", "us-cpi"])
        with opened(chromium, backend) as pane:
            pane.open_tab("Insert")
            pane.press("SIGNAL The latest value")
            pane.type("slug", "us-10y")
            pane.sees("Not enough requests left")
            pane.sees("0 left of the budget of 1 a month")
    assert service.running.request_count == 1


def test_waiting_is_shown_only_when_it_takes_a_while(chromium, backend):
    released = asyncio.Event()

    async def hold(route):
        await released.wait()
        await route.continue_()

    async def release(_):
        released.set()

    with opened(chromium, backend) as pane:
        pane.run(lambda page: page.route("**/functions/call*", hold))
        pane.press("Load the catalogue")
        pane.run(lambda page: page.locator(".loading").wait_for(state="attached"))
        assert [pane.tab.evaluate(OPACITY, after_ms) for after_ms in (0, 300, 500)] == ["0", "0", "1"]
        pane.run(release)
        pane.sees("15 signals")


OPACITY = """(afterMs) => {
  const shown = document.querySelector(".loading");
  for (const each of shown.getAnimations()) { each.pause(); each.currentTime = afterMs; }
  return getComputedStyle(shown).opacity;
}"""
"""How much is seen of what says that it loads, so long after it began."""


def spend_all(service, key: str) -> None:
    """Use up the month's requests of a free key."""
    import httpx

    with httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {key}"}) as http:
        while http.get("/v1/indices").status_code != 429:
            pass


@pytest.mark.parametrize("tab", ["Insert", "Refresh", "Account"])
def test_every_tab_stands_without_the_service_being_asked(chromium, backend, service, tab):
    with opened(chromium, backend) as pane:
        pane.open_tab(tab)
        pane.settle()
    assert service.running.request_count == 0
