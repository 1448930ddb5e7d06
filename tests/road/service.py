"""The least service that can answer, in a process of its own: it counts, and refuses, slows and hangs up as told."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

KEY = "ds_" + 40 * "0"
CAP = 1_000_000
SELF = (sys.executable, "-m", "tests.road.service")


@dataclass(frozen=True)
class Manner:
    """How it answers."""

    latency_s: float = 0.0
    a_second: int = 0
    """More than so many in any second are refused with 429; 0 refuses none."""
    retry_after: str = ""
    """seconds, date or nothing, with each refusal."""
    slow: float = 0.0
    """This share of the answers comes ten times as late, 0.1 s later at least."""
    at_a_time: int = 0
    """With more under way every answer takes that many times longer; 0: with however many."""
    requests_a_connection: int = 0
    """After so many it closes the connection without a word; 0: never."""
    hangs_up: float = 0.0
    """This share is counted and then not answered: the connection is closed."""
    observations: int = 336


@dataclass(frozen=True)
class Counts:
    """What it has seen."""

    received: int
    counted: int
    refused: int
    most_at_a_time: int
    connections: int
    by_slug: dict[str, int]


@dataclass(frozen=True)
class Service:
    """A running one."""

    port: int

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def counts(self) -> Counts:
        """What it has seen so far."""
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{self.url}/counts") as answer:
            return Counts(**json.load(answer))


@contextmanager
def service(manner: Manner | None = None) -> Iterator[Service]:
    """One that runs inside the block."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        command = [*SELF, str(listener.fileno()), json.dumps(asdict(manner or Manner()))]
        process = subprocess.Popen(command, pass_fds=[listener.fileno()])
        try:
            yield Service(listener.getsockname()[1])
        finally:
            process.terminate()
            process.wait()


@dataclass
class _State:
    manner: Manner
    chance: random.Random = field(default_factory=lambda: random.Random(5))
    recent: deque[float] = field(default_factory=deque)
    received: int = 0
    counted: int = 0
    refused: int = 0
    connections: int = 0
    under_way: int = 0
    most_at_a_time: int = 0
    by_slug: Counter[str] = field(default_factory=Counter)

    def is_refused(self) -> bool:
        """Whether a limit a second refuses what has just arrived."""
        if not self.manner.a_second:
            return False
        now = time.monotonic()
        while self.recent and self.recent[0] <= now - 1.0:
            self.recent.popleft()
        if len(self.recent) >= self.manner.a_second:
            return True
        self.recent.append(now)
        return False

    def latency_s(self) -> float:
        manner, latency_s = self.manner, self.manner.latency_s
        if manner.slow and self.chance.random() < manner.slow:
            latency_s = max(10 * latency_s, latency_s + 0.1)
        if manner.at_a_time and self.under_way > manner.at_a_time:
            latency_s = max(latency_s, 0.02) * self.under_way / manner.at_a_time
        return latency_s

    def counts(self) -> bytes:
        return json.dumps(
            {
                "received": self.received,
                "counted": self.counted,
                "refused": self.refused,
                "most_at_a_time": self.most_at_a_time,
                "connections": self.connections,
                "by_slug": self.by_slug,
            }
        ).encode()


class _Connection(asyncio.Protocol):
    def __init__(self, state: _State) -> None:
        self._state = state
        self._unread = b""
        self._requests = 0
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._state.connections += 1

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while b"\r\n\r\n" in self._unread:
            head, _, self._unread = self._unread.partition(b"\r\n\r\n")
            self._take(head.split(b" ", 2)[1].decode())

    def _take(self, target: str) -> None:
        if target == "/counts":
            self._say(200, self._state.counts())
            return
        state = self._state
        state.received += 1
        if state.is_refused():
            state.refused += 1
            self._say(429, b'{"error":"too many requests"}', _retry_after(state.manner.retry_after))
            return
        state.counted += 1
        slug = target.partition("?")[0].rpartition("/")[2]
        state.by_slug[slug] += 1
        if state.manner.hangs_up and state.chance.random() < state.manner.hangs_up:
            self._transport.close()
            return
        state.under_way += 1
        state.most_at_a_time = max(state.most_at_a_time, state.under_way)
        latency_s = state.latency_s()
        remaining = CAP - state.counted
        if latency_s:
            asyncio.get_running_loop().call_later(latency_s, self._answer, slug, remaining)
        else:
            self._answer(slug, remaining)

    def _answer(self, slug: str, remaining: int) -> None:
        self._state.under_way -= 1
        self._requests += 1
        body = b'{"data":{"slug":"%s","name":"s",%s}}' % (slug.encode(), _rest(self._state.manner.observations))
        self._say(200, body, _quota(remaining))
        if self._requests == self._state.manner.requests_a_connection:
            self._transport.close()

    def _say(self, status: int, body: bytes, headers: str = "") -> None:
        if not self._transport.is_closing():
            head = (
                f"HTTP/1.1 {status} x\r\nContent-Type: application/json\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
            )
            self._transport.write(head.encode() + body)


def _quota(remaining: int) -> str:
    return f"X-Service-Tier: pro\r\nX-Service-RateLimit-Cap: {CAP}\r\nX-Service-RateLimit-Remaining: {remaining}\r\n"


def _retry_after(kind: str) -> str:
    match kind:
        case "seconds":
            return "Retry-After: 1\r\n"
        case "date":
            return time.strftime("Retry-After: %a, %d %b %Y %H:%M:%S GMT\r\n", time.gmtime(time.time() + 1))
        case _:
            return ""


@cache
def _rest(observations: int) -> bytes:
    history = [
        {"observed_at": f"2025-{n // 28 % 12 + 1:02}-{n % 28 + 1:02}T00:00:00Z", "value": n}
        for n in range(observations)
    ]
    return json.dumps({"latest": history[-1], "history": history}, separators=(",", ":"))[1:-1].encode()


async def _serve(listener: socket.socket, manner: Manner) -> None:
    state = _State(manner)
    server = await asyncio.get_running_loop().create_server(lambda: _Connection(state), sock=listener)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(socket.socket(fileno=int(sys.argv[1])), Manner(**json.loads(sys.argv[2]))))
