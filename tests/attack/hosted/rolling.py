"""Two backends behind a real proxy are restarted, one after the other, and their workers too, while users work.

python -m tests.attack.hosted.rolling --calls 5000
python -m tests.attack.hosted.rolling --proxy haproxy --calls 5000
"""

from __future__ import annotations

import argparse
import datetime as dt
import itertools
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from addin.tls.certificates import Certificates
from tests.addin.commands import environment
from tests.addin.serving import address_in, started
from tests.attack.parts.many_signals import service_of, slug_of, value_of
from tests.attack.parts.told import Told, conclude
from tests.embedded import EmbeddedService
from tests.forking import Forked

FILES = Path(__file__).resolve().parents[3] / "docs" / "hosting-files"
PATIENCE_S = 60.0
USERS = 8
SIGNALS = 200
CALLS_A_POST = 3

NGINX = """
pid {folder}/pid;
error_log {folder}/error.log;
daemon off;
worker_processes 2;
events { worker_connections 1024; }
http {
  access_log {folder}/access.log;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  {site}
}
"""


@dataclass
class Seen:
    """What users saw through the proxy."""

    posts: int = 0
    restarts: int = 0
    """Backends that were restarted, and then had their workers replaced."""
    wrong: list[str] = field(default_factory=list)


class Backend:
    """One backend, which can be stopped and started again on its port."""

    def __init__(self, service: EmbeddedService, folder: Path, workers: int, public_url: str, drain_s: str) -> None:
        self.folder = folder
        folder.mkdir()
        self.workers = workers
        self._environ = environment(
            folder, service, public_url=public_url, drain_s=drain_s, stop_timeout_s="25", ask_above="100000"
        )
        self._running = ExitStack()
        self.port = 0
        self.process = self._start()

    def _start(self) -> Forked:
        arguments = ("serve", "--http", "--port", str(self.port), "--workers", str(self.workers))
        process = self._running.enter_context(started(*arguments, environ=self._environ))
        self.port = int(address_in(process).rpartition(":")[2])
        until_ready(f"http://127.0.0.1:{self.port}")
        return process

    def restart(self) -> None:
        """Stop it as a service manager does, and start it again."""
        self.stop()
        self.process = self._start()

    def reload(self) -> None:
        """Let its workers be replaced one after another, and wait until that is done; one alone is in no process."""
        if self.workers == 1:
            return
        before = workers_of(self.process)
        self.process.send_signal(signal.SIGHUP)
        ends = time.monotonic() + PATIENCE_S
        while workers_of(self.process) & before or len(workers_of(self.process)) < len(before):
            if time.monotonic() > ends:
                raise AssertionError("the workers were not replaced")
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop it with SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE_S)
        self._running.close()


def workers_of(process: Forked) -> set[int]:
    """The worker processes of a backend."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
    found = set()
    for pid in children:
        with suppress(OSError):
            if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.add(int(pid))
    return found


def until_ready(url: str) -> None:
    """Wait until a backend takes calls."""
    ends = time.monotonic() + PATIENCE_S
    while True:
        with suppress(httpx.TransportError):
            if httpx.get(f"{url}/ready", trust_env=False).status_code == 200:
                return
        if time.monotonic() > ends:
            raise AssertionError(f"{url} does not become ready")
        time.sleep(0.05)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@dataclass(frozen=True)
class Proxy:
    """A proxy program with its documented set-up: what stands there, and what stands there here."""

    program: str
    file: str
    frame: str
    command: Sequence[str]
    listens: str
    certificate: str
    drain_s: str
    """How long a backend goes on after it said that it goes: as the proxy's own looks need."""


NGINX_PROXY = Proxy(
    "nginx",
    "nginx.conf",
    NGINX,
    ("-p", "{folder}", "-e", "{folder}/error.log", "-c", "{folder}/proxy.conf"),
    "listen 443",
    "/etc/ssl/addin.pem",
    "0",
)
HAPROXY = Proxy(
    "haproxy",
    "haproxy.cfg",
    "{site}",
    ("-db", "-f", "{folder}/proxy.conf"),
    "bind :443",
    "/etc/ssl/addin-with-key.pem",
    "3",
)
PROXIES = {each.program: each for each in (NGINX_PROXY, HAPROXY)}


@contextmanager
def proxy_before(ports: list[int], folder: Path, listening: int, proxy: Proxy = NGINX_PROXY) -> Iterator[Path]:
    """A proxy with the documented set-up, only with other ports and files; its authority."""
    program = shutil.which(proxy.program, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if program is None:
        raise FileNotFoundError(f"no {proxy.program} on this machine")
    own = Certificates(folder / "certificates")
    own.ensure(dt.datetime.now(dt.UTC))
    both = folder / "with-key.pem"
    both.write_bytes(Path(own.leaf.certificate).read_bytes() + Path(own.leaf.private_key).read_bytes())
    site = (FILES / proxy.file).read_text(encoding="utf-8")
    for documented, here in (
        ("127.0.0.1:8765", f"127.0.0.1:{ports[0]}"),
        ("127.0.0.1:8766", f"127.0.0.1:{ports[1]}"),
        (proxy.listens, f"{proxy.listens.replace('443', '').replace(':', '')} 127.0.0.1:{listening}"),
        (proxy.certificate, str(both)),
    ):
        if documented not in site:
            raise AssertionError(f"{documented} is not in the documented set-up")
        site = site.replace(documented, here)
    site = site.replace("addin.example.com", "localhost").replace("/etc/ssl/addin.key", str(own.leaf.private_key))
    text = proxy.frame.replace("{folder}", str(folder)).replace("{site}", site)
    (folder / "proxy.conf").write_text(text, encoding="utf-8")
    process = subprocess.Popen(
        [program, *(each.format(folder=folder) for each in proxy.command)], stderr=subprocess.DEVNULL
    )
    try:
        _until_it_listens(listening, process)
        yield own.authority
    finally:
        process.terminate()
        process.wait()


def _until_it_listens(port: int, process: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < ends:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.05)
    raise AssertionError("the proxy does not listen")


def attack(calls: int, seed: int, folder: Path, *, workers: int, proxy: Proxy = NGINX_PROXY) -> Seen:
    """What users saw while so many calls were made through the proxy and both backends were restarted in turn."""
    seen = Seen()
    with service_of(folder, SIGNALS) as service, ExitStack() as running:
        listening = free_port()
        url = f"https://localhost:{listening}"
        backends = [Backend(service, folder / name, workers, url, proxy.drain_s) for name in ("one", "two")]
        for each in backends:
            running.callback(each.stop)
        authority = running.enter_context(proxy_before([each.port for each in backends], folder, listening, proxy))
        ended = [False]
        with ThreadPoolExecutor(USERS) as threads:
            users = [threads.submit(_use, url, authority, seen, seed + n, ended) for n in range(USERS)]
            try:
                for backend in itertools.cycle(backends):
                    backend.restart()
                    backend.reload()
                    seen.restarts += 1
                    is_enough = seen.posts * CALLS_A_POST >= calls and seen.restarts >= len(backends)
                    if is_enough or any(user.done() for user in users):  # one that ends by itself has failed
                        break
            finally:
                ended[0] = True
            for user in users:
                user.result()
    return seen


def _use(url: str, authority: Path, seen: Seen, seed: int, ended: list[bool]) -> None:
    """One user: posts calls until told to stop; each post is sent once, and has to be answered."""
    chance = random.Random(seed)
    trusted = ssl.create_default_context(cafile=authority)
    with httpx.Client(verify=trusted, trust_env=False, timeout=60) as http:
        while not ended[0]:
            asked = [chance.randrange(SIGNALS) for _ in range(CALLS_A_POST)]
            try:
                reply = http.post(f"{url}/functions/call", json={"calls": [["SIGNAL", slug_of(n)] for n in asked]})
            except httpx.TransportError as error:
                seen.wrong.append(repr(error))
            else:
                seen.wrong += _faults(reply, asked)
            seen.posts += 1


def _faults(reply: httpx.Response, asked: list[int]) -> list[str]:
    if reply.status_code != 200:
        return [f"{reply.status_code}: {reply.text[:200]}"]
    told = [answer.get("value") for answer in reply.json()["answers"]]
    return [] if told == [value_of(n) for n in asked] else [f"{told} for {asked}"]


def main() -> None:
    """Run it from the command line; the exit code is 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--proxy", choices=PROXIES, default="nginx")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rolling-") as folder:
        seen = attack(given.calls, given.seed, Path(folder), workers=2, proxy=PROXIES[given.proxy])
    sys.stdout.write("\n".join([*seen.wrong[:20], f"{seen.restarts} restarts\n"]))
    conclude(Told(seen.posts * CALLS_A_POST, lost=len(seen.wrong)))


if __name__ == "__main__":
    main()
