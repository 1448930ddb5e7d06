"""`addin serve --workers` as a process, with what a caller of one port sees of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from tests.addin.commands import environment
from tests.addin.serving import address_in, started
from tests.embedded import EmbeddedService
from tests.forking import Forked

PATIENCE_S = 60.0
ATTEMPTS = 3


@dataclass(frozen=True)
class Workers:
    """The address of several workers, and the process that watches them."""

    url: str
    process: Forked

    @property
    def pids(self) -> list[int]:
        """The workers that are there now; the supervisor has another child, which counts what they share."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii")
        return [int(pid) for pid in children.split() if b"spawn_main" in _command_of(pid)]

    def ask(self, method: str, path: str, content: Any = None) -> dict[str, Any]:
        """One exchange on a connection of its own, which any worker may take; tried again as the pages do."""
        for attempt in range(ATTEMPTS):
            try:
                response = httpx.request(
                    method, self.url + path, json=content, timeout=60, trust_env=False, verify=False
                )
            except httpx.TransportError:
                if attempt == ATTEMPTS - 1:
                    raise
            else:
                assert response.status_code == 200, response.text
                return response.json()
        raise AssertionError("the last attempt answers or raises")

    def batch(self, *calls: list[Any]) -> dict[str, Any]:
        """Send calls as one batch."""
        return self.ask("POST", "/functions/call", {"calls": list(calls)})

    def at_once(self, *batches: list[list[Any]]) -> list[dict[str, Any]]:
        """Send batches at the same time, each on a connection of its own."""
        with ThreadPoolExecutor(len(batches)) as threads:
            return list(threads.map(lambda calls: self.batch(*calls), batches))

    def answering(self, count: int) -> set[int]:
        """The processes that answer, once there are `count`."""
        ends, found = time.monotonic() + PATIENCE_S, set[int]()
        while time.monotonic() < ends:
            with ThreadPoolExecutor(8) as threads:
                told = threads.map(lambda _: self.ask("GET", "/health"), range(8))
            found = {each["worker"] for each in told if each["worker"] in self.pids} | found & {*self.pids}
            if len(found) >= count:
                return found
            Event().wait(0.05)
        raise AssertionError(f"only {found} answer of {self.pids}")


@contextmanager
def workers_of(
    service: EmbeddedService,
    folder: Path,
    count: int,
    *,
    api_key: str | None = None,
    scheme: str = "http",
    **settings: str,
) -> Iterator[Workers]:
    """So many workers inside the block, all of which answer; skipped where processes cannot be listed."""
    if not Path("/proc/self/task").exists():
        pytest.skip("only Linux lists a process's children in /proc")
    environ = environment(folder, service, api_key=service.key if api_key is None else api_key, **settings)
    arguments = ["--http"] if scheme == "http" else []
    with started("serve", *arguments, "--port", "0", "--workers", str(count), environ=environ) as process:
        workers = Workers(address_in(process, scheme), process)
        workers.answering(count)
        try:
            yield workers
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def _command_of(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has just ended
        return b""
