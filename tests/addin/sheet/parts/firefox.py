"""A headless Firefox for tests, driven by the protocol that it has built in (Marionette): JSON over a local port."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LONGEST_STEP_S = 60
PREFERENCES = {
    "marionette.port": 0,  # any that is free; the profile then tells which
    "app.normandy.enabled": False,
    "app.update.auto": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.getAddons.cache.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.server": "data:,",
}
LISTENING = re.compile(r"Listening on port (\d+)")
AWAITED = "const go = arguments[1]; window.eval(arguments[0])().then(go, (error) => go({ error: String(error) }));"
"""The script runs in the page itself: the component accepts no objects of Marionette's own."""


def executable() -> str | None:
    """The path of Debian's Firefox; Ubuntu's is a snap, which cannot read a profile of ours."""
    return shutil.which("firefox-esr")


class Firefox:
    """One page in Firefox."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=LONGEST_STEP_S)
        self._replies = self._socket.makefile("rb")
        self._read()  # it greets first
        limits = {"script": 1000 * LONGEST_STEP_S, "pageLoad": 1000 * LONGEST_STEP_S}
        self.ask("WebDriver:NewSession", capabilities={"alwaysMatch": {"timeouts": limits}})

    def goto(self, url: str) -> None:
        """Open a page."""
        self.ask("WebDriver:Navigate", url=url)

    def evaluate(self, script: str, *, beside: bool = False) -> Any:
        """What a function in the page gives, its promise awaited; `beside` the page, where its policy forbids it."""
        script = f"(async () => ({{ value: JSON.stringify(await ({script})()) ?? 'null' }}))"
        awaited = AWAITED.replace("window.eval(arguments[0])", script) if beside else AWAITED
        told = self.ask("WebDriver:ExecuteAsyncScript", script=awaited, args=[script], sandbox=None)["value"]
        assert "error" not in told, told["error"]
        return json.loads(told["value"])

    def until(self, condition: str) -> None:
        """Wait until an expression is true in the page."""
        self.evaluate(f"async () => {{ while (!({condition})) await new Promise((go) => setTimeout(go, 5)); }}")

    def close(self) -> None:
        """End the browser."""
        self.ask("Marionette:Quit", flags=["eForceQuit"])
        self._replies.close()
        self._socket.close()

    def ask(self, command: str, **arguments: Any) -> Any:
        """What a command of the protocol gives."""
        body = json.dumps([0, 1, command, arguments]).encode()
        self._socket.sendall(b"%d:%b" % (len(body), body))
        _, _, error, result = self._read()
        assert error is None, f"{command}: {error['error']}: {error['message']}"
        return result

    def _read(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            byte = self._replies.read(1)
            assert byte, "Firefox closed the connection"
            length += byte
        return json.loads(self._replies.read(int(length[:-1])))


@contextmanager
def firefox(program: str, folder: Path, preferences: Mapping[str, Any] = PREFERENCES) -> Iterator[Firefox]:
    """A Firefox with a new profile in `folder`."""
    profile = folder / "profile"
    profile.mkdir()
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in preferences.items()]
    (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
    command = [program, "--headless", "--no-remote", "--profile", str(profile), "--marionette"]
    pipe = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, text=True, **pipe) as started:
        try:
            browser = Firefox(_port(started))
            threading.Thread(target=started.stdout.read, daemon=True).start()  # it never waits for a reader
            yield browser
            browser.close()
        finally:
            started.kill()


def _port(started: subprocess.Popen[str]) -> int:
    """The port that Firefox names once it listens."""
    assert started.stdout is not None
    for line in started.stdout:
        if found := LISTENING.search(line):
            return int(found[1])
    raise AssertionError("Firefox did not start")
