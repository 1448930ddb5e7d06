"""Searching the catalogue, and a signal's card."""

from tests.addin.excel.parts.panes import opened, searching


def test_opening_the_pane_spends_no_request(chromium, backend, service):
    with opened(chromium, backend) as pane:
        pane.sees("Load the catalogue (at least 1 request)")
        pane.settle()
    assert service.running.request_count == 0


def test_typing_loads_the_catalogue_once_and_searches_in_it_for_free(chromium, backend, service):
    with opened(chromium, backend) as pane:
        for query in ("g", "go", "gold"):
            pane.type("Search signals", query)
        pane.sees("1 signal")
        assert pane.texts(".list-item .list-title") == ["Gold price (made up)"]
        pane.type("Search signals", "usd rate")
        pane.sees("2 signals")
    assert service.running.requests == ["/v1/signals?limit=500"]


def test_a_catalogue_at_hand_is_shown_at_once(chromium, backend, service):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend) as pane:
        pane.sees("15 signals")
    assert service.running.request_count == 1


def test_a_category_narrows_the_list(chromium, backend):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend) as pane:
        pane.sees("15 signals")
        pane.choose("Category", "crypto")
        assert pane.texts(".list-item .list-title") == [
            "Bitcoin in US dollars (made up)",
            "Ether in US dollars (made up) Premium",
        ]


def test_a_search_without_a_match_says_so_and_can_be_cleared(chromium, backend):
    with searching(chromium, backend, "zzz") as pane:
        pane.sees("Nothing found")
        pane.press("Clear the search")
        pane.sees("15 signals")
        assert pane.focused() == ""


def test_the_list_is_walked_with_the_arrow_keys_and_opened_with_enter(chromium, backend):
    with searching(chromium, backend, "oil") as pane:
        pane.keys("ArrowDown", "Enter")
        assert pane.text(".card h2") == "WTI crude oil spot price (made up)"
        assert pane.focused() == "WTI crude oil spot price (made up)"


def test_a_card_with_its_chart_costs_one_request_and_none_the_second_time(chromium, backend, service):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend, locale="en-US") as pane:
        pane.press("WTI crude oil")
        pane.sees("1 request")
        [value, day, change, percent] = backend.values(*(["SIGNAL", "eia.wti.spot", field] for field in FIELDS))
        assert pane.text(".value") == f"{value:.2f} USD per barrel"
        assert pane.text(".change") == f"{change:+.2f} ({100 * percent:+.2f}%)".replace("-", "−")
        pane.sees("2026-08-31")
        assert day == 46265
        assert pane.attribute(".chart", "aria-valuetext") == f"2026-08-31: {value:.2f} USD per barrel"
        pane.press("Signals")
        pane.press("WTI crude oil")
        pane.sees("from the cache")
    assert service.running.request_count == 2


FIELDS = ("value", "observed_at", "change", "pct_change")


def test_the_arrow_keys_read_the_chart(chromium, backend):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend) as pane:
        pane.press("Gold price")
        pane.sees("2026-08-01")
        pane.tab.evaluate("document.querySelector('.chart').focus()")
        pane.keys("ArrowLeft", "ArrowLeft")
        assert pane.attribute(".chart", "aria-valuetext").startswith("2026-06-01: ")
        pane.keys("Home")
        assert pane.attribute(".chart", "aria-valuenow") == "0"
        pane.keys("End", "ArrowRight")
        assert pane.attribute(".chart", "aria-valuetext").startswith("2026-08-01: ")


def test_the_pointer_reads_the_chart(chromium, backend):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend) as pane:
        pane.press("Gold price")
        pane.run(lambda page: page.locator(".chart-picture").hover(position={"x": 1, "y": 60}))
        assert pane.attribute(".chart", "aria-valuenow") == "0"


def test_a_longer_window_says_its_price_before_it_is_loaded(chromium, backend, service):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend) as pane:
        pane.press("WTI crude oil")
        pane.sees("1 request")
        pane.check("Max")
        pane.sees("Costs")
        assert service.running.request_count == 2
        pane.press("Load", exact=True)
        pane.run(lambda page: page.locator(".chart").wait_for())
        assert int(pane.attribute(".chart", "aria-valuemax")) > 1_000
    assert service.running.request_count > 2


def test_arrow_keys_walk_through_the_windows_of_the_chart(chromium, backend):
    backend.batch(["SIGNALS"], ["SIGNAL_HISTORY", "wb.gold", "MAX"])
    with opened(chromium, backend) as pane:
        pane.press("Gold price")
        pane.run(lambda page: page.locator(".chart").wait_for())
        pane.run(lambda page: page.get_by_label("Recent").focus())
        for window in ("5Y", "10Y", "Max", "Recent"):
            pane.run(lambda page: page.keyboard.press("ArrowRight"))
            assert pane.run(lambda page: page.evaluate("document.activeElement.parentElement.textContent")) == window
            pane.run(lambda page: page.locator(".chart").wait_for())


def test_the_window_chosen_last_is_the_one_shown(chromium, backend, service):
    backend.batch(["SIGNALS"], ["SIGNAL_HISTORY", "wb.gold", "MAX"])
    with opened(chromium, backend) as pane:
        pane.press("Gold price")
        pane.run(lambda page: page.locator(".chart").wait_for())
        recent = pane.attribute(".chart", "aria-valuemax")
        late: list = []

        async def hold_all_of_it(route) -> None:
            if late or "MAX" not in (route.request.post_data or ""):
                await route.continue_()
            else:
                late.append(route)

        async def let_go(_) -> None:
            await late[0].continue_()
            await (await late[0].request.response()).finished()

        pane.run(lambda page: page.route("**/functions/call*", hold_all_of_it))
        pane.check("Max")
        pane.run(lambda page: page.locator(".history .loading").wait_for(state="attached"))
        pane.check("Recent")
        pane.run(lambda page: page.locator(".chart").wait_for())
        pane.run(let_go)
        assert pane.attribute(".chart", "aria-valuemax") == recent


def test_asking_first_is_kept_and_spends_nothing_unasked(chromium, backend, service):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend) as pane:
        pane.open_tab("Account")
        pane.check("Ask before opening a signal spends a request")
        pane.open_tab("Search")
        pane.press("WTI crude oil")
        pane.sees("Load the value (at least 1 request)")
        assert service.running.request_count == 1
        pane.press("Load the value (at least 1 request)")
        pane.sees("fetched just now")
    assert service.running.request_count == 2


def test_a_formula_is_handed_out_with_its_result(chromium, backend, service):
    backend.batch(["SIGNALS"], ["SIGNAL", "us-cpi"])
    with opened(chromium, backend, permissions=["clipboard-read", "clipboard-write"]) as pane:
        pane.press("US consumer price")
        pane.press("Insert Latest value")
        pane.sees("copy the formula")
        assert pane.text("dialog .result td") == f"{backend.values(['SIGNAL', 'us-cpi'])[0]:.3f}".rstrip("0")
        pane.press("Copy the formula")
        pane.sees("Copied")
        assert pane.tab.evaluate("navigator.clipboard.readText()") == '=DS.SIGNAL("us-cpi")'
        pane.keys("Escape")
        pane.gone("dialog")
        assert pane.tab.evaluate("document.activeElement.getAttribute('aria-label')").startswith("Insert Latest value")
    assert service.running.request_count == 2


def test_all_arguments_opens_the_form_with_the_signal_filled_in(chromium, backend):
    backend.batch(["SIGNALS"])
    with opened(chromium, backend) as pane:
        pane.press("US consumer price")
        pane.press("All arguments")
        pane.sees('=DS.SIGNAL_HISTORY("us-cpi")')
        asked = "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('registry.json')).length"
        assert pane.tab.evaluate(asked) == 1  # a second answer, for the list, would take the form away


def test_other_words_and_mistyped_ones_are_found_at_no_request(chromium, backend, service):
    with searching(chromium, backend, "inflation") as pane:
        pane.sees("US consumer price index (made up)")
        pane.type("Search signals", "unemploymnt")
        pane.sees("for “unemployment”")
        assert pane.texts(".list-item .list-title") == ["US unemployment rate (made up)"]
    assert service.running.request_count == 1


def test_a_formula_in_the_search_that_cannot_be_read_says_what_to_change(chromium, backend):
    with searching(chromium, backend, '=SIGNAL("us-cpi")') as pane:
        pane.sees("SIGNAL lacks the prefix DS: =DS.SIGNAL(…)")
