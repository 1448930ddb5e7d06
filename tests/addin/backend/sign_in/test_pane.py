"""Signing in from the pane: one button, a window that closes by itself, and the key that is kept from then on."""

import re

import httpx

from tests.addin.backend.sign_in.identity_provider import CLIENT_SECRET, backend_with_sign_in, provider
from tests.addin.excel.panes import opened
from tests.addin.excel.stand_in import OFFICE

# Excel opens the address in a window, and hands on what its last page tells.
DIALOG = """
Office.AsyncResultStatus = { Succeeded: "succeeded" };
Office.EventType = { ...Office.EventType, DialogMessageReceived: "message", DialogEventReceived: "event" };
Office.context = { ...Office.context, ui: {
  displayDialogAsync: (address, _, opened) => {
    globalThis.asked = address;
    const heard = (type, handler) => void (type === "message" && setTimeout(() => handler({ message: "SESSION" })));
    opened({ status: "succeeded", value: { close() {}, addEventHandler: heard } });
  },
} };
"""


def test_the_button_opens_the_sign_in_and_the_pane_goes_on_where_it_was(chromium, service, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("DATA_SERVICE_OIDC_CLIENT_SECRET", CLIENT_SECRET)
    with (
        provider(sub="1", name="Ada Lovelace") as identity,
        backend_with_sign_in(service, tmp_path, identity) as url,
        opened(chromium, url, ignore_https_errors=True) as pane,
    ):
        pane.sees("Sign in to use this")
        pane.press("Sign in")
        pane.sees("No API key yet")
        pane.sees_no("Sign in to use this")
        pane.open_tab("Account")
        pane.sees("Ada Lovelace")
        pane.type("New key", service.key)
        pane.press("Save key")
        pane.sees("kept for you")
        pane.sees(f"…{service.key[-4:]}")
        pane.sees_no("No API key yet")
        pane.press("Test", exact=True)
        pane.sees("The key in use works")
        pane.picture(tmp_path / "signed-in.png")
        pane.press("Sign out")
        pane.sees("Sign in to use this")


def test_in_excel_the_session_is_handed_over_from_the_window_that_excel_opens(chromium, service, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("DATA_SERVICE_OIDC_CLIENT_SECRET", CLIENT_SECRET)
    with (
        provider(sub="1", name="Ada Lovelace") as identity,
        backend_with_sign_in(service, tmp_path, identity) as url,
        httpx.Client(base_url=url, verify=False) as window,
    ):
        session = re.search(r'data-session="([^"]+)"', window.get("/sign-in", follow_redirects=True).text)[1]
        office = OFFICE + DIALOG.replace("SESSION", session)
        with opened(chromium, url, office=office, ignore_https_errors=True) as pane:
            pane.press("Sign in")
            pane.sees("No API key yet")
            assert pane.tab.evaluate("globalThis.asked") == f"{url}/sign-in"
            pane.open_tab("Account")
            pane.sees("Ada Lovelace")


def test_a_provider_that_isolates_its_window_signs_the_pane_in_all_the_same(chromium, service, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("DATA_SERVICE_OIDC_CLIENT_SECRET", CLIENT_SECRET)
    with (
        provider(sub="1", name="Ada Lovelace") as identity,
        backend_with_sign_in(service, tmp_path, identity) as url,
        opened(chromium, url, ignore_https_errors=True) as pane,
    ):
        identity.isolates = True
        pane.press("Sign in")
        pane.sees("No API key yet")
        pane.sees_no("Sign in to use this")
