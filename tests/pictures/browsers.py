"""Chromium and Firefox, used alike: a page, its size and colours, keys, and a picture."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from playwright.sync_api import Page, sync_playwright

from tests.addin.excel.parts.chromium import FLAGS, executable
from tests.addin.sheet.parts.firefox import PREFERENCES, Firefox, firefox
from tests.addin.sheet.parts.firefox import executable as firefox_executable

CODES = {"Enter": "\ue007", "Escape": "\ue00c", "F2": "\ue032", "Control": "\ue009", "Alt": "\ue00a"}
"""Keys as WebDriver names them."""

SCHEMES = {"dark": 0, "light": 1}
"""As Firefox numbers them."""

WAITS = """async () => {{
  const began = performance.now();
  while (!({0})) {{
    if (performance.now() - began > 45_000) throw new Error({1});
    await new Promise((go) => setTimeout(go, 20));
  }}
}}"""
DRAWN = "() => new Promise((go) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(go)), 350))"


class Window(Protocol):
    """What a picture needs of a browser."""

    def goto(self, url: str) -> None: ...
    def size(self, width: int, height: int) -> None: ...
    def evaluate(self, function: str) -> Any: ...
    def type(self, text: str) -> None: ...
    def press(self, *keys: str) -> None: ...
    def picture(self, path: Path) -> None: ...


def until(window: Window, condition: str) -> None:
    """Wait until an expression is true in the page."""
    window.evaluate(WAITS.format(condition, json.dumps(f"never: {condition}")))


def drawn(window: Window) -> None:
    """Wait until all is drawn, transitions too."""
    window.evaluate(DRAWN)


class ChromiumWindow:
    """A page in Chromium."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def goto(self, url: str) -> None:
        self._page.goto(url)

    def size(self, width: int, height: int) -> None:
        self._page.set_viewport_size({"width": width, "height": height})

    def evaluate(self, function: str) -> Any:
        return self._page.evaluate(function)

    def type(self, text: str) -> None:
        self._page.keyboard.type(text)

    def press(self, *keys: str) -> None:
        self._page.keyboard.press("+".join(keys))

    def picture(self, path: Path) -> None:
        self._page.screenshot(path=path)


class FirefoxWindow:
    """A page in Firefox; its window is as much larger as its frame takes."""

    def __init__(self, browser: Firefox) -> None:
        self._browser = browser
        self._is_strict = False

    def goto(self, url: str) -> None:
        self._browser.goto(url)
        self._is_strict = url.endswith("taskpane.html")

    def size(self, width: int, height: int) -> None:
        self._browser.ask("WebDriver:SetWindowRect", width=width, height=height + 86)

    def evaluate(self, function: str) -> Any:
        return self._browser.evaluate(function, beside=self._is_strict)

    def type(self, text: str) -> None:
        self._keys([{"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")])

    def press(self, *keys: str) -> None:
        names = [CODES.get(key, key) for key in keys]
        down = [{"type": "keyDown", "value": name} for name in names]
        self._keys([*down, *({"type": "keyUp", "value": name} for name in reversed(names))])

    def _keys(self, actions: list[dict[str, str]]) -> None:
        self._browser.ask("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def picture(self, path: Path) -> None:
        taken = self._browser.ask("WebDriver:TakeScreenshot", full=False)["value"]
        path.write_bytes(base64.b64decode(taken))


@contextmanager
def chromium_window(scheme: str, _folder: Path) -> Iterator[Window]:
    """A page in a new Chromium; `SystemExit` where there is none."""
    if (program := executable()) is None:
        raise SystemExit("there is no Chromium here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_context(color_scheme="dark" if scheme == "dark" else "light", locale="en-US").new_page()
        page.route("https://appsforoffice.microsoft.com/**", lambda route: route.abort())
        page.on("dialog", lambda dialog: dialog.accept())
        yield ChromiumWindow(page)
        browser.close()


@contextmanager
def firefox_window(scheme: str, folder: Path) -> Iterator[Window]:
    """A page in a new Firefox; `SystemExit` where there is none."""
    if (program := firefox_executable()) is None:
        raise SystemExit("there is no Firefox here")
    colours = {"layout.css.prefers-color-scheme.content-override": SCHEMES[scheme]}
    with firefox(program, folder, {**PREFERENCES, **colours}) as browser:
        yield FirefoxWindow(browser)


BROWSERS = {"chromium": chromium_window, "firefox": firefox_window}
