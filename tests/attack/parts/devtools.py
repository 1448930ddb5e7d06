"""Chromium by its own protocol over a pipe: pages that are really hidden or frozen, which test libraries prevent."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)


class Devtools:
    """One browser; commands wait for their answer, and events are passed over."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._read = b""
        self._number = 0

    def send(self, method: str, session: str | None = None, /, **parameters: Any) -> dict[str, Any]:
        """What a command answers; raises `RuntimeError` where it failed."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        text = json.dumps(message | ({} if session is None else {"sessionId": session}))
        os.write(self._commands, text.encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._read:
            more = os.read(self._answers, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self._read += more
        one, _, self._read = self._read.partition(b"\0")
        answer: dict[str, Any] = json.loads(one)
        return answer

    def page(self, url: str, *, first: str = "") -> HiddenPage:
        """A page in front; the script `first` runs in it before its own."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = HiddenPage(self, target, session)
        page.send("Page.enable")
        page.send("Page.addScriptToEvaluateOnNewDocument", source=first)
        page.send("Page.navigate", url=url)
        return page


class HiddenPage:
    """A page that can be hidden behind another one, and frozen."""

    def __init__(self, browser: Devtools, target: str, session: str) -> None:
        self._browser, self._target, self._session = browser, target, session

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What a command to this page answers."""
        return self._browser.send(method, self._session, **parameters)

    def evaluate(self, script: str) -> Any:
        """What an expression gives, its promise awaited."""
        told = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in told:
            raise RuntimeError(json.dumps(told["exceptionDetails"])[:2_000])
        return told["result"].get("value")

    def show(self) -> None:
        """Bring it to the front: whatever was there before is hidden."""
        self._browser.send("Target.activateTarget", targetId=self._target)

    def freeze(self, *, frozen: bool) -> None:
        """Let nothing in it run, as a browser does with tabs that sleep; or let it run again."""
        self.send("Page.setWebLifecycleState", state="frozen" if frozen else "active")


@contextmanager
def browsing(program: str, folder: Path) -> Iterator[Devtools]:
    """A browser with a profile in `folder`."""
    taken, commands = os.pipe()
    answers, told = os.pipe()
    # The browser reads from 3 and writes to 4.
    shell = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
    options = [*FLAGS, f"--user-data-dir={folder}"]
    process = subprocess.Popen(
        ["bash", "-c", shell, "bash", str(taken), str(told), program, *options, "about:blank"],
        pass_fds=(taken, told),
        stderr=subprocess.DEVNULL,
    )
    os.close(taken)
    os.close(told)
    browser = Devtools(commands, answers)
    try:
        yield browser
    finally:
        process.terminate()
        process.wait(10)
        os.close(commands)
        os.close(answers)
