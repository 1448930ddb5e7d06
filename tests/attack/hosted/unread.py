"""Callers that send large requests and never read the answers: the process stays small, others are answered.

python -m tests.attack.hosted.unread --callers 400

Callers without a key, with made-up keys, with a Free key post batches of 99,000 calls, whole and pending, and large
books to be opened and saved. `/health` is asked all the time, and a user with a key of their own makes nine cells again
and again, first alone. Memory is looked at all along, and a minute after everybody has left.
"""

from __future__ import annotations

import argparse
import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from threading import Event, Thread
from urllib.parse import urlsplit

import httpx

from dataservice.server import RunningService, Store, import_directory, running, write_sample
from tests.addin.commands import command, environment
from tests.attack.parts.told import Told, conclude

PEAK_MIB = 600
GROWS_AT_MOST = 0.20
HEALTH_S = 1.0
SLOWER_AT_MOST = 2.0
NOTICED_S = 0.05
"""A wait that nobody notices: below that it does not matter how many times as long it is."""
STAYING_S = 5.0
AFTERWARDS_S = 60.0
MIB = 2**20

CALLS = b'{"calls":[' + b",".join([b'["A"]'] * 99_000) + b"]}"
DISTINCT = b'{"calls":[' + b",".join(b'["A%d"]' % number for number in range(60_000)) + b"]}"
BOOK = json.dumps({"name": "book.xlsx", "content": "A" * (20 * MIB)}).encode()
EXPORTED = json.dumps({"name": "book.xlsx", "content": "A" * (20 * MIB)}).encode()
POSTS = {
    "call": ("/functions/call", CALLS),
    "distinct": ("/functions/call", DISTINCT),
    "pending": ("/functions/call?pending=yes", DISTINCT),
    "open": ("/sheet/open", BOOK),
    "save": ("/sheet/save", EXPORTED),
}
CELLS = [["SIGNAL", slug] for slug in ("us-cpi", "us-10y", "btc-usd")] * 3


@dataclass
class Found:
    """What was seen."""

    callers: int = 0
    before_mib: float = 0.0
    peak_mib: float = 0.0
    after_mib: float = 0.0
    health_s: float = 0.0
    alone_s: list[float] = field(default_factory=list)
    beside_s: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def p99_alone_s(self) -> float:
        """What the user waits alone."""
        return _p99(self.alone_s)

    @property
    def p99_beside_s(self) -> float:
        """What the user waits beside the callers."""
        return _p99(self.beside_s)


@contextmanager
def served(folder: Path, **settings: str) -> Iterator[tuple[str, RunningService, dict[str, str], int]]:
    """A backend in a process of its own, for users with keys; its address, its service, keys and process."""
    (folder / "data").mkdir(parents=True)
    write_sample(folder / "data", as_of=date(2026, 8, 31))
    store = Store(folder / "service.db")
    import_directory(store, folder / "data")
    keys = {tier: store.create_key(tier) for tier in ("free", "pro")}
    given = {"per_user_keys": "true", "serve_sheet": "true", "allowed_hosts": "addin.example", **settings}
    with running(store) as service:
        environ = environment(folder, None, url=service.url, **given)
        arguments = command(["serve", "--http", "--port", "0"])
        with subprocess.Popen(arguments, env=environ, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                url = next(w for line in process.stdout for w in line.split() if w.startswith("http://localhost"))
                yield url, service, keys, process.pid
            finally:
                process.terminate()
                process.wait(30)


def memory_mib(pid: int) -> float:
    """The memory that a process holds now."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


class Watch:
    """Asks `/health`, looks at the memory, and lets a user make cells, until it is stopped."""

    def __init__(self, url: str, pid: int, key: str, found: Found, took_s: list[float]) -> None:
        self._url, self._pid, self._key, self._found, self._took_s = url, pid, key, found, took_s
        self._ended = Event()
        self._threads = [Thread(target=each) for each in (self._health, self._memory, self._user)]

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _health(self) -> None:
        with httpx.Client(base_url=self._url, timeout=60) as http:
            while not self._ended.wait(0.05):
                began = time.perf_counter()
                if http.get("/health").status_code != 200:
                    self._found.wrong.append("/health was refused")
                self._found.health_s = max(self._found.health_s, time.perf_counter() - began)

    def _memory(self) -> None:
        while not self._ended.wait(0.02):
            self._found.peak_mib = max(self._found.peak_mib, memory_mib(self._pid))

    def _user(self) -> None:
        headers = {"x-data-service-key": self._key, "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.9"}
        with httpx.Client(base_url=self._url, timeout=60, headers=headers) as http:
            while not self._ended.wait(0.02):
                began = time.perf_counter()
                answer = http.post("/functions/call", json={"calls": CELLS})
                self._took_s.append(time.perf_counter() - began)
                if answer.status_code != 200 or "value" not in answer.json()["answers"][0]:
                    self._found.wrong.append(f"the user got {answer.status_code} {answer.text[:100]}")


class Caller:
    """A connection that sends a request and reads nothing."""

    def __init__(self, url: str, path: str, body: bytes, key: str, number: int) -> None:
        parts = urlsplit(url)
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.settimeout(30)
        self._socket.connect((parts.hostname, parts.port))
        head = f"POST {path} HTTP/1.1\r\nhost: {parts.netloc}\r\ncontent-type: application/json\r\n"
        head += f"x-forwarded-proto: https\r\nx-forwarded-for: 198.51.100.{number % 250}\r\n"
        head += f"x-data-service-key: {key}\r\n" if key else ""
        self._rest = memoryview(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)

    def send(self) -> None:
        """Send it all, as far as it is taken."""
        with suppress(OSError):
            self._socket.sendall(self._rest)

    def close(self) -> None:
        """Leave, also in the middle of sending."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def keys_of(kind: str, keys: dict[str, str], callers: int) -> list[str]:
    """The key of each caller."""
    if kind == "made up":
        return [f"ds_{token_hex(20)}" for _ in range(callers)]
    return [keys["free"] if kind == "free" else ""] * callers


def attack(callers: int, kinds: Sequence[str], ways: Sequence[str], folder: Path, *, afterwards_s: float) -> Found:
    """So many callers of each kind in each way, while others are watched."""
    found = Found()
    with served(folder, max_new_keys="100000", max_connections="1000") as (url, _, keys, pid):
        with Watch(url, pid, keys["pro"], found, found.alone_s):
            time.sleep(min(5.0, afterwards_s))
        _warm(url, keys)
        found.before_mib, found.peak_mib, found.health_s = memory_mib(pid), 0.0, 0.0
        with Watch(url, pid, keys["pro"], found, found.beside_s):
            for kind in kinds:
                for way in ways:
                    _round(url, kind, way, keys_of(kind, keys, callers), found)
        ends = time.monotonic() + afterwards_s
        while time.monotonic() < ends and memory_mib(pid) > found.before_mib * (1 + GROWS_AT_MOST):
            time.sleep(0.5)
        found.after_mib = memory_mib(pid)
    return found


def _warm(url: str, keys: dict[str, str]) -> None:
    """One large batch, and one book, of a user: what they leave is no growth."""
    headers = {"x-data-service-key": keys["free"], "x-forwarded-proto": "https", "content-type": "application/json"}
    with httpx.Client(base_url=url, timeout=60, headers=headers) as http:
        for path, body in POSTS.values():
            http.post(path, content=body)


def _round(url: str, kind: str, way: str, keys: list[str], found: Found) -> None:
    peak = found.peak_mib
    found.peak_mib = 0.0
    calling = get_context("spawn").Process(target=call, args=(url, way, keys))  # whoever watches is not held up by them
    calling.start()
    calling.join()
    found.callers += len(keys)
    sys.stdout.write(f"{kind or 'no key'}, {way}: {found.peak_mib:.0f} MiB, /health {found.health_s:.2f} s so far\n")
    sys.stdout.flush()
    found.peak_mib = max(peak, found.peak_mib)


def call(url: str, way: str, keys: list[str]) -> None:
    """Let so many callers send, wait, and leave."""
    path, body = POSTS[way]
    made = [Caller(url, path, body, key, number) for number, key in enumerate(keys)]
    threads = [Thread(target=each.send) for each in made]
    for thread in threads:
        thread.start()
    time.sleep(STAYING_S)
    for each in made:
        each.close()
    for thread in threads:
        thread.join()


def _p99(took_s: Sequence[float]) -> float:
    return statistics.quantiles(took_s, n=100)[-1] if len(took_s) > 1 else 0.0


def told(found: Found) -> Told:
    """What of that breaks a promise."""
    slow = found.p99_beside_s > max(SLOWER_AT_MOST * found.p99_alone_s, NOTICED_S)
    leaked = [found.peak_mib > PEAK_MIB, found.after_mib > found.before_mib * (1 + GROWS_AT_MOST)]
    return Told(found.callers, hung=(found.health_s > HEALTH_S) + slow, wrong=len(found.wrong), leaked=sum(leaked))


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--callers", type=int, default=400)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        kinds, ways = ("", "made up", "free"), tuple(POSTS)
        found = attack(given.callers, kinds, ways, Path(folder), afterwards_s=AFTERWARDS_S)
    for line in sorted(set(found.wrong)):
        sys.stdout.write(f"{line}\n")
    memory = f"memory {found.before_mib:.0f} MiB, at most {found.peak_mib:.0f}, afterwards {found.after_mib:.0f}"
    user = f"a user's p99 {found.p99_alone_s:.3f} s alone, {found.p99_beside_s:.3f} s beside them"
    sys.stdout.write(f"{memory}; /health {found.health_s:.2f} s; {user}\n")
    conclude(told(found))


if __name__ == "__main__":
    main()
