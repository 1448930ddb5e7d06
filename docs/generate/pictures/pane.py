"""The pictures of the task pane in light and in dark: `python -m docs.generate.pictures.pane`.

Needs Chromium. Run it when the pane looks different; nothing compares the pictures.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from addin.cli.demo_server import running_demo
from docs.generate.pages import DOCS

__all__ = ["draw_pane"]

SIGNAL = "eia.wti.spot"
WIDTH, HEIGHT = 380, 860
"""Of the pane, in CSS pixels; the pictures have twice as many."""


def draw_pane(folder: Path) -> None:
    """Write the card of one signal as `taskpane-light.png` and `taskpane-dark.png`, with today's made-up data."""
    with running_demo() as demo, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            _draw(browser, demo.url, scheme, folder / f"taskpane-{scheme}.png")
        browser.close()


def _draw(browser: Browser, url: str, scheme: Literal["light", "dark"], target: Path) -> None:
    viewport = {"width": WIDTH, "height": HEIGHT}
    context = browser.new_context(viewport=viewport, device_scale_factor=2, color_scheme=scheme, locale="en-US")
    page = context.new_page()
    page.route("https://appsforoffice.microsoft.com/**", lambda route: route.abort())
    page.goto(f"{url}/taskpane.html")
    page.locator("html[data-ready]").wait_for()
    _open_card(page)
    page.screenshot(path=target)
    context.close()


def _open_card(page: Page) -> None:
    """Open the signal's card, and point into its chart so that it shows one day's value."""
    page.get_by_role("searchbox").fill(SIGNAL)
    page.get_by_role("button", name=SIGNAL).first.click()
    chart = page.locator("svg.chart-picture").first
    chart.wait_for()
    page.wait_for_load_state("networkidle")
    chart.hover()


if __name__ == "__main__":
    draw_pane(DOCS / "images")
