"""The task pane in a real Chromium, before a real backend and an embedded service."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from playwright.async_api import Locator, Page, Route

from addin.excel.assets import excel_assets
from tests.addin.backends import RunningBackend
from tests.addin.excel.parts.chromium import Chromium, Tab

OFFICE_JS = "https://appsforoffice.microsoft.com/*"
STEP_MS = 45_000
"""So long no step takes on any machine: one that does hangs."""


class Pane:
    """What a user does and sees in the pane; every step waits for what it needs."""

    def __init__(self, chromium: Chromium, tab: Tab) -> None:
        self._chromium = chromium
        self.tab = tab
        self.complaints: list[str] = []
        tab.hear("console", self._heard)
        self.run(_with_limit)

    def _heard(self, message: Any) -> None:
        if message.type == "error" and "net::" not in message.text and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def run(self, step: Callable[[Page], Any]) -> Any:
        """The outcome of a step of playwright's."""
        return self._chromium.run(step(self.tab.page))

    def open_tab(self, name: str) -> None:
        self.run(lambda page: page.get_by_role("tab", name=name).click())

    def press(self, name: str, *, exact: bool = False) -> None:
        """Press the button with this name, or whose name holds it."""
        self.run(lambda page: page.get_by_role("button", name=name, exact=exact).filter(visible=True).first.click())

    def keys(self, *names: str) -> None:
        for name in names:
            self.run(lambda page, name=name: page.keyboard.press(name))

    def type(self, label: str, text: str) -> None:
        self.run(lambda page: page.get_by_label(re.compile(rf"^{label}\b")).fill(text))

    def choose(self, label: str, value: str) -> None:
        self.run(lambda page: page.get_by_label(re.compile(rf"^{label}\b")).first.select_option(value))

    def check(self, name: str) -> None:
        self.run(lambda page: page.get_by_text(name, exact=True).click())

    def sees(self, text: str) -> None:
        """Wait until the text is to be seen, in any case of its letters; fails when it never is."""
        self.run(lambda page: _shown(page.get_by_text(text)).wait_for())

    def sees_no(self, text: str) -> None:
        assert self.run(lambda page: page.get_by_text(text).filter(visible=True).count()) == 0

    def until(self, condition: str) -> None:
        """Wait until an expression is true in the page, whose policy forbids playwright's own way."""
        self.tab.evaluate(f"async () => {{ while (!({condition})) await new Promise((go) => setTimeout(go, 5)); }}")

    def gone(self, selector: str) -> None:
        """Wait until there is nothing of the kind any more."""
        self.run(lambda page: page.locator(selector).first.wait_for(state="detached"))

    def texts(self, selector: str) -> list[str]:
        """The texts of everything visible that the CSS selector finds, in one line each."""
        texts = "(found) => found.every((it) => it.isConnected) ? found.map((it) => it.innerText) : null"
        found = None
        while found is None:  # what is drawn anew between finding and reading is looked for again
            found = self.run(lambda page: page.locator(selector).filter(visible=True).evaluate_all(texts))
        return [" ".join(text.split()) for text in found]

    def text(self, selector: str) -> str:
        """The one text there is, waited for."""
        self.run(lambda page: _shown(page.locator(selector)).wait_for())
        return self.texts(selector)[0]

    def attribute(self, selector: str, name: str) -> str | None:
        return self.run(lambda page: page.locator(selector).first.get_attribute(name))

    def focused(self) -> str:
        """The text or the value of what has the focus."""
        return self.tab.evaluate("(document.activeElement.value || document.activeElement.innerText || '').trim()")

    def settle(self) -> None:
        """Wait until nothing is under way."""
        self.run(lambda page: page.wait_for_load_state("networkidle"))

    def module(self, name: str, expression: str) -> Any:
        """What an expression gives where `m` is a module of the pane, such as "formula.js"."""
        return self.tab.evaluate(f"import('./{excel_assets().prefix}taskpane/{name}').then((m) => ({expression}))")

    def picture(self, path: Path, *, full: bool = True) -> None:
        self.run(lambda page: page.screenshot(path=path, full_page=full))


async def _with_limit(page: Page) -> None:
    page.set_default_timeout(STEP_MS)


def _shown(locator: Locator) -> Locator:
    return locator.filter(visible=True).first


@contextmanager
def opened(
    chromium: Chromium,
    backend: RunningBackend | str,
    *,
    width: int = 360,
    height: int = 720,
    office: str | None = None,
    routes: Mapping[str, Callable[[Route], Any]] = MappingProxyType({}),
    **context: Any,
) -> Iterator[Pane]:
    """The pane, ready; `office` is a script in the place of Microsoft's office.js, which is out of reach without it.

    `routes` are answered in the place of the backend, from the first request on.
    """
    url = backend if isinstance(backend, str) else backend.url
    with chromium.page(viewport={"width": width, "height": height}, **context) as tab:
        pane = Pane(chromium, tab)
        tab.serve(OFFICE_JS, office)
        for pattern, answer in routes.items():
            pane.run(lambda page, pattern=pattern, answer=answer: page.route(pattern, answer))
        tab.goto(f"{url}/taskpane.html")
        pane.run(lambda page: page.locator("html[data-ready]").wait_for())
        yield pane
        assert tab.errors + pane.complaints == [], tab.errors + pane.complaints


@contextmanager
def searching(chromium: Chromium, backend: RunningBackend, words: str, *calls: list[Any]) -> Iterator[Pane]:
    """A pane with these words in its search, the catalogue at hand and the answers to further calls."""
    backend.batch(["SIGNALS"], *calls)
    with opened(chromium, backend) as pane:
        pane.sees("15 signals")
        pane.type("Search signals", words)
        yield pane


@contextmanager
def form_of(chromium: Chromium, backend: RunningBackend, function: str) -> Iterator[Pane]:
    """A pane with the form of a function."""
    with opened(chromium, backend) as pane:
        pane.open_tab("Insert")
        pane.press(function)
        yield pane


def violations(pane: Pane, axe: str) -> list[str]:
    """What axe-core finds that is serious or worse, in one line each."""
    if not pane.tab.evaluate("'axe' in globalThis"):
        pane.tab.evaluate(f"() => {{ {axe} }}")
    found = pane.tab.evaluate("axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations)")
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    return [f"{each['id']}: {json.dumps([node['target'] for node in each['nodes']])}" for each in serious]
