"""Requests as a hostile page would send them: only our own pages and names get an answer, and nobody sees a key.

python -m tests.attack.pages.hostile_pages --requests 50000

What is allowed is decided here by a rule of its own: a name of this machine, and for everything but reading the origin
of the backend's own pages and JSON.
"""

from __future__ import annotations

import argparse
import http.client
import random
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from dataservice.server import Store, import_directory, running, write_sample
from tests.addin.backends import RunningBackend, backend_of
from tests.attack.parts.told import Told, conclude
from tests.embedded import EmbeddedService

NAMES = ("localhost", "127.0.0.1", "[::1]")
FOREIGN = ("evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "evil-localhost", "127.1", "0.0.0.0", "[::]")
READS = ("/health", "/status", "/registry.json", "/manifest.xml", "/functions.json", "/taskpane.html", "/ready")
POSTS = (
    ("/functions/call", b'{"calls":[["SIGNAL","us-cpi"],["STATUS"],["QUOTA"]]}'),
    ("/functions/cost", b'{"calls":[["SIGNAL","us-cpi"]]}'),
    ("/refresh", b'{"mode":"force"}'),
    ("/key", b'{"key":"ds_0000000000000000000000000000000000000000"}'),
    ("/key/test", b"{}"),
)
JSON = ("application/json", "application/json; charset=utf-8", "APPLICATION/JSON")
OTHER_TYPES = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "application/jsonp")


@dataclass
class Found:
    """What was sent, and everything that must not happen."""

    requests: int = 0
    refused: int = 0
    keys: int = 0
    spent: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Attempt:
    """One request, and whether it may be answered."""

    method: str
    path: str
    body: bytes | None
    headers: dict[str, str]
    is_allowed: bool


def an_attempt(chance: random.Random, port: int) -> Attempt:
    """A request, most of which are nearly right."""
    own_name = chance.random() < 0.6
    name = chance.choice(NAMES if own_name else FOREIGN)
    host = f"{name}:{port}" if chance.random() < 0.8 else name
    if chance.random() < 0.4:
        return Attempt("GET", chance.choice(READS), None, {"Host": host, **_other_origin(chance, host)}, own_name)
    path, body = chance.choice(POSTS)
    origin: dict[str, str] = {} if chance.random() < 0.5 else {"Origin": f"http://{host}"}
    if is_foreign := chance.random() < 0.4:
        origin = _other_origin(chance, host)
        is_foreign = bool(origin)
    is_json = chance.random() < 0.7
    headers = {"Host": host, "Content-Type": chance.choice(JSON if is_json else OTHER_TYPES), **origin}
    return Attempt("POST", path, body, headers, own_name and not is_foreign and is_json)


def _other_origin(chance: random.Random, host: str) -> dict[str, str]:
    """The origin of another page, which is never that of `host`."""
    name = host.partition(":")[0]
    others = (
        "https://evil.example",
        "null",
        f"http://{host}.evil.example",
        f"http://{host}1",
        "file://",
        f"http://x@{host}",
    )
    return {} if chance.random() < 0.2 else {"Origin": chance.choice((*others, f"https://{host}", f"ftp://{name}"))}


def attack(backend: RunningBackend, embedded: EmbeddedService, requests: int, seed: int) -> Found:
    """Send so many requests, and look at what comes back and at what was spent."""
    chance, found = random.Random(seed), Found()
    port = int(backend.url.rpartition(":")[2])
    backend.values(["SIGNAL", "us-cpi"])
    for number in range(requests):
        attempt = an_attempt(chance, port)
        before = embedded.store.usage(embedded.key)
        status, content = answered(port, attempt)
        found.requests += 1
        found.refused += status >= 400
        found.keys += embedded.key.encode() in content
        if not attempt.is_allowed:
            found.spent += embedded.store.usage(embedded.key) - before
            if status < 400:
                found.wrong.append(f"{number}: {attempt} was answered with {status}")
        elif status in (403, 415, 421) and attempt.path != "/key":
            found.wrong.append(f"{number}: {attempt} was refused with {status}: {content[:200]!r}")
        if status >= 500 or b"Traceback" in content:
            found.wrong.append(f"{number}: {attempt} failed with {status}: {content[:200]!r}")
        if attempt.is_allowed and attempt.path == "/key":
            backend.http.post("/key", json={"key": embedded.key})
    return found


def answered(port: int, attempt: Attempt) -> tuple[int, bytes]:
    """Status and everything that came back, headers included."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest(attempt.method, attempt.path, skip_host=True)
    for name, value in attempt.headers.items():
        connection.putheader(name, value)
    if attempt.body is not None:
        connection.putheader("Content-Length", str(len(attempt.body)))
    connection.endheaders(attempt.body)
    answer = connection.getresponse()
    content = str(answer.getheaders()).encode() + answer.read()
    connection.close()
    return answer.status, content


def run(requests: int, seed: int, folder: Path) -> Found:
    """The attack on a backend of its own."""
    with Store(folder / "service.db") as store:
        write_sample(folder / "data", as_of=date(2026, 8, 31))
        import_directory(store, folder / "data")
        with running(store) as service:
            embedded = EmbeddedService(service, store.create_key("pro"), store.create_key("free"))
            with backend_of(embedded, folder) as backend:
                return attack(backend, embedded, requests, seed)


def main() -> None:
    """Run it from the command line; the exit code is 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="attacked-pages-") as folder:
        found = run(given.requests, given.seed, Path(folder))
    sys.stdout.write(f"{found.requests:,} requests, {found.refused:,} refused, wrong: {len(found.wrong)}\n")
    sys.stdout.write("".join(f"  {each}\n" for each in found.wrong[:20]))
    conclude(Told(found.requests, wrong=len(found.wrong), leaked=found.keys, over=found.spent))


if __name__ == "__main__":
    main()
