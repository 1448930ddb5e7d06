"""The key, the allowance, the settings."""

from tests.addin.backends import backend_of
from tests.addin.excel.parts.panes import opened

WRONG_KEY = "ds_" + "0" * 40


def test_without_a_key_the_pane_opens_where_one_is_entered(chromium, service, tmp_path):
    with backend_of(service, tmp_path, key="") as backend, opened(chromium, backend) as pane:
        pane.sees("No API key yet")
        assert pane.attribute("#tab-account", "aria-selected") == "true"
        pane.type("New key", service.key)
        pane.press("Save key")
        pane.sees("The key is in use")
        pane.sees(f"…{service.key[-4:]}")
        pane.sees_no("No API key yet")
        assert pane.tab.evaluate("document.getElementById('api-key').value") == ""
        assert backend.keys.load().value == service.key
        pane.open_tab("Search")
        pane.press("Load the catalogue")
        pane.sees("15 signals")


def test_the_key_is_typed_unseen_and_stays_nowhere_in_the_page(chromium, service, tmp_path):
    with backend_of(service, tmp_path, key="") as backend, opened(chromium, backend) as pane:
        assert pane.attribute("#api-key", "type") == "password"
        assert pane.attribute("#api-key", "autocomplete") == "off"
        pane.type("New key", service.key)
        pane.press("Save key")
        pane.sees("The key is in use")
        kept = pane.tab.evaluate(
            "document.documentElement.outerHTML + JSON.stringify({...localStorage, ...sessionStorage})"
        )
    assert service.key not in kept


def test_testing_the_key_in_use_costs_one_request(chromium, backend, service):
    with opened(chromium, backend) as pane:
        pane.open_tab("Account")
        pane.press("Test", exact=True)
        pane.sees("The key in use works")
        pane.sees("pro tier")
    assert service.running.request_count == 1


def test_a_key_can_be_tested_before_it_is_saved(chromium, backend, service):
    with opened(chromium, backend) as pane:
        pane.open_tab("Account")
        pane.type("New key", WRONG_KEY)
        pane.press("Test", exact=True)
        pane.sees("The key you typed does not work")
        pane.sees("The key was refused")
    assert backend.keys.load() is None


def test_what_is_no_key_is_not_saved(chromium, backend):
    with opened(chromium, backend) as pane:
        pane.open_tab("Account")
        pane.type("New key", "hello")
        pane.press("Save key")
        pane.sees("this is not an API key")
    assert backend.keys.load() is None


def test_forgetting_the_key_asks_first(chromium, backend, service):
    backend.keys.save(service.key)
    with opened(chromium, backend) as pane:
        pane.open_tab("Account")
        pane.press("Forget key")
        pane.press("Cancel")
        assert backend.keys.load() is not None
        pane.press("Forget key")
        pane.run(lambda page: page.get_by_role("dialog").get_by_role("button", name="Forget key").click())
        pane.sees("The key is forgotten")
        pane.sees("No API key yet")
    assert backend.keys.load() is None


def test_the_allowance_is_that_of_the_last_answer(chromium, backend):
    backend.batch(["SIGNAL", "us-cpi"])
    with opened(chromium, backend, locale="en-US") as pane:
        pane.sees("49,999 left")
        pane.open_tab("Account")
        pane.sees("by this add-in this month")
        assert pane.texts("#panel-account .quota .row") == [
            "49,999 left this month Pro",
            "of 50,000 1 by this add-in this month",
        ]


def test_the_settings_say_how_long_an_answer_is_fresh(chromium, backend, service):
    with opened(chromium, backend) as pane:
        pane.open_tab("Account")
        pane.sees("An answer is fresh for 15 min")
        pane.sees("requests since the backend started")
        pane.sees(service.url)
        pane.sees(backend.http.get("/status").json()["version"])


def test_a_shared_backend_gets_the_key_with_every_request_and_keeps_none(chromium, service, tmp_path):
    with backend_of(service, tmp_path, key="", per_user_keys=True) as backend, opened(chromium, backend) as pane:
        sent: list[str | None] = []
        pane.tab.hear("request", lambda request: sent.append(request.headers.get("x-data-service-key")))
        pane.open_tab("Account")
        pane.type("New key", service.key)
        pane.press("Save key")
        pane.sees("held by this page")
        assert sent[-1] == service.key
        assert backend.keys.load() is None
