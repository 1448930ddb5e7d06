"""Signing in from the pane: one button, a window that closes by itself, and the key that is kept from then on."""

from tests.addin.backend.sign_in_provider import CLIENT_SECRET, backend_with_sign_in, provider
from tests.addin.excel.panes import opened


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
