"""Callers that send large requests and never read the answers: the process stays small, others are answered.

python -m tests.attack.hosted.unread --callers 400

Callers without a key, with made-up keys, with a Free key, with one of four each, post batches of 99,000 calls, whole
and pending, large books to be opened and saved, formulas to be worked out, open books to be weighed, calls of agents,
and beginnings of sessions that nobody ends. `/health` is asked all the time, and a user with a key of their own makes
nine cells again and again, first alone. Another one does the same before a second backend, which nobody attacks: what
waits there waits for the machine, which the callers load, too. The memory of the backend with all its processes is
looked at all along, and a minute after everybody has left.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from threading import Event, Thread
from urllib.parse import urlsplit

import httpx
import openpyxl

from addin.backend.limits.aside import processes_of
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
SEVERAL = 4
"""Free keys that are used at once."""
LOADS_S, GROWS_MIB = 2.0, 1.0
MIB = 2**20


@cache
def _content() -> str:
    """A book of 150,000 cells, in Base64."""
    book, stream = openpyxl.Workbook(write_only=True), io.BytesIO()
    sheet = book.create_sheet("S")
    for row in range(10_000):
        sheet.append([row, *(f"text {row} {column}" for column in range(14))])
    book.save(stream)
    return base64.b64encode(stream.getvalue()).decode()


def _upload(content: str, **also: object) -> bytes:
    return json.dumps({"name": "book.xlsx", "content": content, **also}).encode()


def _edited() -> bytes:
    changed = {f"B{row}": {"rows": [["changed"]]} for row in range(1, 5_000)}
    return _upload(_content(), sheets=[{"name": "S", "cells": changed}])


def _edits() -> bytes:
    edits = b",".join(b'"A%d":{"rows":[[1]]}' % number for number in range(1, 400_000))
    return b'{"name":"book.xlsx","content":"","sheets":[{"name":"S","cells":{%s}}]}' % edits


def _slow() -> bytes:
    values = {f"{letter}{row}": row / 7 for letter in "ABCDEFGH" for row in range(1, 2_001)}
    formulas = {f"K{row}": f"SUMPRODUCT(A1:H2000*(B1:B2000>{row}))" for row in range(1, 400)}
    return json.dumps({"sheets": {"Sheet": {"formulas": formulas, "values": values}}, "now": 0}).encode()


def _calls(calls: Iterable[bytes]) -> bytes:
    return b'{"calls":[%s]}' % b",".join(calls)


def _tool(name: str, **arguments: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def _agent() -> bytes:
    return json.dumps(_tool("list_signals", search=" ".join(f"word{n}" for n in range(5_000)))).encode()


def _agent_call() -> bytes:
    return json.dumps(_tool("get_observations", slug="us-10y", start="-40Y", limit=10_000)).encode()


def _agent_session() -> bytes:
    """What begins a session, which nobody ends."""
    who = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": who}).encode()


def _distinct() -> bytes:
    return _calls(b'["A%d"]' % number for number in range(60_000))


def _sheet(**formulas: str) -> dict[str, object]:
    return {"name": "S", "rows": 9, "formulas": formulas, "others": {}, "cells": []}


def _book(sheets: list[dict[str, object]]) -> bytes:
    return json.dumps({"sheets": sheets, "names": {}}).encode()


def _formulas() -> bytes:
    """The largest book of formulas that is not refused."""
    return _book([_sheet(**{str(n): f'=DS.SIGNAL("us-cpi",A{n})' for n in range(95_000)})])


def _parts() -> bytes:
    filled = {"sheet": "S", "formula": "=DS.STATUS()", "top": 0, "bottom": 9, "left": 0, "right": 9}
    part = {"name": "", "sheet": "S", "address": "S!A1:J10", "numbers": {str(n): "" for n in range(9)}}
    return json.dumps({"parts": [part] * 3_500, "filled": [filled] * 8_000}).encode()


POSTS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "call": ("/functions/call", lambda: _calls([b'["A"]'] * 99_000)),
    "distinct": ("/functions/call", _distinct),
    "pending": ("/functions/call?pending=yes", _distinct),
    "open": ("/sheet/open", lambda: _upload(_content())),
    "junk": ("/sheet/open", lambda: _upload("A" * (20 * MIB))),
    "more junk": ("/sheet/open", lambda: _upload("A" * (60 * MIB))),
    "save": ("/sheet/save", _edited),
    "edits": ("/sheet/save", _edits),
    "calculate": ("/sheet/calculate", _slow),
    "formulas": ("/functions/book/cost", _formulas),
    "sheets": ("/functions/book", lambda: _book([_sheet()] * 200_000)),
    "parts": ("/functions/book/parts", _parts),
    "agent": ("/mcp", _agent),
    "agent call": ("/mcp", _agent_call),
    "agent session": ("/mcp", _agent_session),
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
    elsewhere_s: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def p99_alone_s(self) -> float:
        """What the user waits alone."""
        return _p99(self.alone_s)

    @property
    def p99_beside_s(self) -> float:
        """What the user waits beside the callers."""
        return _p99(self.beside_s)

    @property
    def p99_elsewhere_s(self) -> float:
        """What the other user waits meanwhile, whose backend nobody attacks."""
        return _p99(self.elsewhere_s)


@dataclass(frozen=True)
class Served:
    """A running program: its address, its service, keys by tier, its process."""

    url: str
    service: RunningService
    keys: dict[str, str]
    pid: int


@contextmanager
def served(folder: Path, program: str = "serve --http", **settings: str) -> Iterator[Served]:
    """A backend, or the server for agents, in a process of its own, for users with keys."""
    (folder / "data").mkdir(parents=True)
    write_sample(folder / "data", as_of=date(2026, 8, 31))
    store = Store(folder / "service.db")
    import_directory(store, folder / "data")
    keys = {"free": store.create_key("free"), "pro": store.create_key("pro")}
    keys |= {f"free {number}": store.create_key("free") for number in range(1, SEVERAL)}
    given = {"per_user_keys": "true", "serve_sheet": "true", "allowed_hosts": "addin.example", **settings}
    with running(store) as service:
        environ = environment(folder, None, url=service.url, **given)
        arguments = command([*program.split(), "--port", "0"])
        with subprocess.Popen(arguments, env=environ, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                url = next(w for line in process.stdout for w in line.split() if w.startswith("http://"))
                yield Served(url.removesuffix("/mcp"), service, keys, process.pid)
            finally:
                process.terminate()
                process.wait(30)


def memory_mib(pid: int) -> float:
    """The memory that a process and those that it started hold now, what they share counted once."""
    return sum(map(_own_mib, processes_of(pid)))


def _own_mib(pid: int) -> float:
    with suppress(OSError):
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        return sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) / 1024
    return 0.0


class Watch:
    """Asks whether the program answers, looks at its memory, and lets users work, until it is stopped.

    `working` has the times of a user by the place where they work.
    """

    def __init__(self, program: Program, place: Served, found: Found, *working: tuple[Served, list[float]]) -> None:
        self._program, self._place, self._found = program, place, found
        self._ended = Event()
        self._threads = [Thread(target=each) for each in (self._health, self._memory)]
        self._threads += [Thread(target=self._user, args=each) for each in working]

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _health(self) -> None:
        path, status = self._program.health
        with httpx.Client(base_url=self._place.url, timeout=60) as http:
            while not self._ended.wait(0.05):
                began = time.perf_counter()
                try:
                    if http.get(path).status_code != status:
                        self._found.wrong.append(f"{path} was refused")
                except httpx.TransportError as error:  # the next one may be answered again
                    self._found.wrong.append(f"{path} broke off: {type(error).__name__}")
                self._found.health_s = max(self._found.health_s, time.perf_counter() - began)

    def _memory(self) -> None:
        while not self._ended.wait(0.05):
            held_mib = memory_mib(self._place.pid)  # takes long: the peak of before must not come back after it
            self._found.peak_mib = max(self._found.peak_mib, held_mib)

    def _user(self, place: Served, took_s: list[float]) -> None:
        path, content, expected = self._program.user
        headers = {**key_headers(place.keys["pro"]), "x-forwarded-for": "203.0.113.9"}
        with httpx.Client(base_url=place.url, timeout=60, headers=headers) as http:
            while not self._ended.wait(0.02):
                began = time.perf_counter()
                try:
                    answer = http.post(path, json=content)
                except httpx.TransportError as error:
                    self._found.wrong.append(f"the user's post broke off: {type(error).__name__}")
                    continue
                took_s.append(time.perf_counter() - began)
                if answer.status_code != 200 or expected not in answer.text:
                    self._found.wrong.append(f"the user got {answer.status_code} {answer.text[:100]}")


@dataclass(frozen=True)
class Program:
    """What is attacked: how it is started, how it tells that it answers, what a user does, and what callers post."""

    command: str
    health: tuple[str, int]
    user: tuple[str, object, str]
    ways: tuple[str, ...]


SPREADSHEETS = Program(
    "serve --http",
    ("/health", 200),
    ("/functions/call", {"calls": CELLS}, '"value"'),
    tuple(way for way, (path, _) in POSTS.items() if path != "/mcp"),
)
AGENTS = Program(
    "mcp --http",
    ("/mcp", 405),
    ("/mcp", _tool("get_signal", slugs=[slug for _, slug in CELLS[:3]]), "us-cpi"),
    ("agent", "agent call", "agent session"),
)


def key_headers(key: str) -> dict[str, str]:
    """How a key is sent, to a backend behind a proxy and to the server for agents."""
    headers = {"x-forwarded-proto": "https", "accept": "application/json, text/event-stream"}
    return headers | ({"x-data-service-key": key, "authorization": f"Bearer {key}"} if key else {})


class Caller:
    """A connection that sends a request and reads nothing."""

    def __init__(self, url: str, path: str, body: bytes, key: str, number: int) -> None:
        parts = urlsplit(url)
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.settimeout(30)
        self._socket.connect((parts.hostname, parts.port))
        headers = {"host": parts.netloc, "content-type": "application/json", **key_headers(key)}
        headers |= {"x-forwarded-for": f"198.51.100.{number % 250}", "content-length": str(len(body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._parts = f"POST {path} HTTP/1.1\r\n{head}\r\n".encode(), body  # which all callers share

    def send(self) -> None:
        """Send it all, as far as it is taken."""
        with suppress(OSError):
            for part in self._parts:
                self._socket.sendall(part)

    def close(self) -> None:
        """Leave, also in the middle of sending."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def free_keys(keys: dict[str, str]) -> list[str]:
    """All Free keys."""
    return [key for name, key in keys.items() if name.startswith("free")]


def keys_of(kind: str, keys: dict[str, str], callers: int) -> list[str]:
    """The key of each caller."""
    if kind == "made up":
        return [f"ds_{token_hex(20)}" for _ in range(callers)]
    if kind == "several free":
        return [free_keys(keys)[number % SEVERAL] for number in range(callers)]
    return [keys["free"] if kind == "free" else ""] * callers


def attack(
    callers: int, kinds: Sequence[str], ways: Sequence[str], folder: Path, *, program: Program, afterwards_s: float
) -> Found:
    """So many callers of each kind in each way, while others are watched."""
    found = Found()
    with (
        served(folder / "attacked", program.command, max_new_keys="100000", max_connections="1000") as place,
        served(folder / "elsewhere", program.command) as elsewhere,
    ):
        _warm(place, ways)
        with Watch(program, place, found, (place, found.alone_s)):
            time.sleep(min(STAYING_S, afterwards_s))
            _wait_until_loaded(place.pid, afterwards_s)
        found.before_mib, found.peak_mib, found.health_s = memory_mib(place.pid), 0.0, 0.0
        with Watch(program, place, found, (place, found.beside_s), (elsewhere, found.elsewhere_s)):
            for kind in kinds:
                for way in ways:
                    _round(place, kind, way, keys_of(kind, place.keys, callers), found)
        ends = time.monotonic() + afterwards_s
        while time.monotonic() < ends and memory_mib(place.pid) > found.before_mib * (1 + GROWS_AT_MOST):
            time.sleep(0.5)
        found.after_mib = memory_mib(place.pid)
    return found


def _wait_until_loaded(pid: int, within_s: float) -> None:
    """Wait until the memory does not grow any more: what was just started loads libraries in the background."""
    ends, before = time.monotonic() + within_s, 0.0
    while time.monotonic() < ends and (held_mib := memory_mib(pid)) - before > GROWS_MIB:
        before = held_mib
        time.sleep(min(LOADS_S, within_s))


def _warm(place: Served, ways: Sequence[str]) -> None:
    """One request of each user in each way: what they leave, as the answers that a key may keep, is no growth."""
    with httpx.Client(base_url=place.url, timeout=60, headers={"content-type": "application/json"}) as http:
        for way in ways:
            path, body = POSTS[way][0], POSTS[way][1]()
            for key in free_keys(place.keys):
                http.post(path, content=body, headers=key_headers(key))


def _round(place: Served, kind: str, way: str, keys: list[str], found: Found) -> None:
    peak, health_s, before = found.peak_mib, found.health_s, len(found.beside_s)
    found.peak_mib = found.health_s = 0.0
    path, body = POSTS[way]
    arguments = (place.url, path, body(), keys)
    calling = get_context("spawn").Process(target=call, args=arguments)  # nobody who watches is held up
    calling.start()
    calling.join()
    found.callers += len(keys)
    user = f"user's p99 {_p99(found.beside_s[before:]):.3f} s"
    sys.stdout.write(f"{kind or 'no key'}, {way}: {found.peak_mib:.0f} MiB, /health {found.health_s:.2f} s, {user}\n")
    sys.stdout.flush()
    found.peak_mib, found.health_s = max(peak, found.peak_mib), max(health_s, found.health_s)


def call(url: str, path: str, body: bytes, keys: list[str]) -> None:
    """Let so many callers send, wait, and leave. They are elsewhere: the backend does not lack what they take."""
    os.nice(10)
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
    without_them_s = max(found.p99_alone_s, found.p99_elsewhere_s)
    slow = found.p99_beside_s > max(SLOWER_AT_MOST * without_them_s, NOTICED_S)
    leaked = [found.peak_mib > PEAK_MIB, found.after_mib > found.before_mib * (1 + GROWS_AT_MOST)]
    return Told(found.callers, hung=(found.health_s > HEALTH_S) + slow, wrong=len(found.wrong), leaked=sum(leaked))


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--callers", type=int, default=400)
    parser.add_argument("--ways", nargs="*", default=[*POSTS])
    parser.add_argument("--kinds", nargs="*", default=["", "made up", "free", "several free"])
    given = parser.parse_args()
    totals = []
    for program in (SPREADSHEETS, AGENTS):
        ways = [way for way in program.ways if way in given.ways]
        if not ways:
            continue
        with TemporaryDirectory() as folder:
            found = attack(given.callers, given.kinds, ways, Path(folder), program=program, afterwards_s=AFTERWARDS_S)
        for line in sorted(set(found.wrong)):
            sys.stdout.write(f"{line}\n")
        memory = f"memory {found.before_mib:.0f} MiB, at most {found.peak_mib:.0f}, afterwards {found.after_mib:.0f}"
        user = f"a user's p99 {found.p99_alone_s:.3f} s alone, {found.p99_beside_s:.3f} s beside them"
        user += f", {found.p99_elsewhere_s:.3f} s before a backend that nobody attacks meanwhile"
        sys.stdout.write(f"{program.command}: {memory}; answers within {found.health_s:.2f} s; {user}\n")
        totals.append(told(found))
    conclude(Told(**{each.name: sum(getattr(told, each.name) for told in totals) for each in fields(Told)}))


if __name__ == "__main__":
    main()
