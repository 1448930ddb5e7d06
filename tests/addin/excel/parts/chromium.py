"""A headless Chromium for tests: its pages are used from ordinary, synchronous tests."""

import asyncio
import shutil
import threading
from base64 import b64encode
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from playwright.async_api import Browser, BrowserContext, CDPSession, Error, Page, ViewportSize, async_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
LONGEST_STEP_S = 60
LIMIT_MS = 45_000
"""How long a step of playwright's may take, where a test says nothing."""

VIEWPORT = ViewportSize(width=1280, height=720)

STORED = "cookies,file_systems,indexeddb,local_storage,service_workers,cache_storage"
"""What a page leaves in its profile, without the copies of its scripts."""

MODULES = ("/functions.js", "/refresh.js")
"""Scripts that are modules; a page waits for what they load."""


class Chromium:
    """A browser in a thread of its own, because its event loop and a test's do not go together."""

    def __init__(self, executable: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._playwright = self.run(async_playwright().start())
        self._browser: Browser = self.run(
            self._playwright.chromium.launch(executable_path=executable, args=FLAGS, headless=True)
        )
        self._free: dict[str, Page] = {}

    def run(self, step: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(step, self._loop).result(LONGEST_STEP_S)

    @contextmanager
    def page(
        self, url: str = "about:blank", *, viewport: ViewportSize | None = None, **options: Any
    ) -> Iterator["Tab"]:
        """A page that knows nothing, as a new user would have it.

        Tests with equal options follow each other in one page, which is emptied in between: nothing is left but the
        scripts, loaded and compiled once. A new profile costs twice the processor time of a whole test.
        """
        name = repr(sorted(options.items()))
        page = self._free.pop(name, None) or self.run(self._new_page(options))
        tab = Tab(self, page)
        try:
            self.run(page.set_viewport_size(viewport or VIEWPORT))
            if page.url != url:
                tab.goto(url)
            yield tab
            tab.leave()
            if name not in self._free and self.run(_emptied(page)):
                self._free[name] = page
        finally:
            if self._free.get(name) is not page:
                self.run(page.context.close())

    async def _new_page(self, options: dict[str, Any]) -> Page:
        profile = await self._browser.new_context(**options)
        return await profile.new_page()

    async def profile(self) -> BrowserContext:
        """A fresh profile, for who talks to it in the browser's own thread."""
        return await self._browser.new_context()

    def close(self) -> None:
        self.run(self._browser.close())
        self.run(self._playwright.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Tab:
    """One page."""

    def __init__(self, chromium: Chromium, page: Page) -> None:
        self._chromium = chromium
        self.page = page
        self.errors: list[str] = []
        self._left = ExitStack()
        self.hear("pageerror", lambda error: self.errors.append(str(error)))

    def hear(self, event: Any, listener: Callable[[Any], None]) -> None:
        """Tell `listener` of every such event until the page is left."""

        async def step(do: Callable[..., None]) -> None:
            """In the browser's own thread, as all that talks to it."""
            do(event, listener)

        self._chromium.run(step(self.page.on))
        self._left.callback(lambda: self._chromium.run(step(self.page.remove_listener)))

    def leave(self) -> None:
        """Hear nothing any more, and answer nothing."""
        with suppress(Error):  # the page may have ended
            self._left.close()

    def goto(self, url: str) -> None:
        self._chromium.run(self.page.goto(url))

    def evaluate(self, script: str, argument: Any = None) -> Any:
        """What a function in the page gives, its promise awaited."""
        return self._chromium.run(self.page.evaluate(script, argument))

    def command(self, *names: str) -> Any:
        """What the last of some commands to the browser's debugger gives."""

        async def run() -> Any:
            session = await self.page.context.new_cdp_session(self.page)
            for name in names:
                told = await session.send(name)
            await session.detach()
            return told

        return self._chromium.run(run())

    def serve(self, pattern: str, script: str | None) -> None:
        """Answer requests of this pattern with a script, or refuse them.

        A route of playwright's would stop at each request of the page, and load everything anew each time.
        """
        how = {"responseCode": 200, "responseHeaders": [{"name": "content-type", "value": "text/javascript"}]}
        answer = ("Fetch.failRequest", {"errorReason": "Failed"})
        if script is not None:
            answer = ("Fetch.fulfillRequest", {**how, "body": b64encode(script.encode()).decode()})

        async def listen() -> CDPSession:
            session = await self.page.context.new_cdp_session(self.page)

            async def give(paused: dict[str, Any]) -> None:
                with suppress(Error):  # the page may have ended
                    await session.send(answer[0], {"requestId": paused["requestId"], **answer[1]})

            session.on("Fetch.requestPaused", give)
            await session.send("Fetch.enable", {"patterns": [{"urlPattern": pattern}]})
            return session

        self._left.callback(lambda session: self._chromium.run(session.detach()), self._chromium.run(listen()))

    def load_module(self, path: Path) -> None:
        """Make what a module without imports exports global."""
        self.evaluate(
            """async (source) => {
              const module = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
              Object.assign(globalThis, module);
            }""",
            path.read_text(encoding="utf-8"),
        )

    def add_script(self, **source: Any) -> None:
        kind = {"type": "module"} if source.get("url", "").endswith(MODULES) else {}
        self._chromium.run(self.page.add_script_tag(**source, **kind))


async def _emptied(page: Page) -> bool:
    """Make a page what a new one is: with nothing stored, without routes and rights, at no address.

    Its scripts have ended before anything is cleared, so that none writes once more; no server is asked for anything.
    False for one that has ended or will not be left.
    """
    try:
        page.set_default_timeout(LIMIT_MS)
        for other in page.context.pages:
            if other is not page:
                await other.close()
        frames = [frame for frame in page.frames if frame.url.startswith("http")]
        origins = {urljoin(frame.url, "/") for frame in frames}
        in_tab = {urljoin(frame.url, "/") for frame in frames if await frame.evaluate("sessionStorage.length")}
        session = await page.context.new_cdp_session(page)
        await page.goto("about:blank")
        for origin in in_tab:  # what a tab alone has, only a page of the same origin can clear
            await _clear_tab(page, session, origin)
        for origin in origins:
            await session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": STORED})
        # Only now: what its scripts ask for last may be for a backend that the test stood in for.
        await page.unroute_all(behavior="ignoreErrors")
        await session.detach()
        await page.context.clear_cookies()
        await page.context.clear_permissions()
    except Error:
        return False
    return True


async def _clear_tab(page: Page, session: CDPSession, origin: str) -> None:
    """Forget what a page of this origin kept for its tab; an empty one stands in for it."""
    session.on("Fetch.requestPaused", lambda paused: asyncio.ensure_future(_nothing(session, paused)))
    await session.send("Fetch.enable")
    await page.goto(origin)
    await page.evaluate("sessionStorage.clear()")
    await page.goto("about:blank")
    await session.send("Fetch.disable")


async def _nothing(session: CDPSession, paused: dict[str, Any]) -> None:
    """Answer a request with an empty page."""
    html = [{"name": "content-type", "value": "text/html"}]
    with suppress(Error):  # the page may have ended
        await session.send(
            "Fetch.fulfillRequest", {"requestId": paused["requestId"], "responseCode": 200, "responseHeaders": html}
        )


def executable() -> str | None:
    """Return the path of this machine's Chromium: the shell without windows first, a page costs it a third."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    program = executable()
    if program is None:
        pytest.skip("no Chromium here")
    browser = Chromium(program)
    yield browser
    browser.close()
