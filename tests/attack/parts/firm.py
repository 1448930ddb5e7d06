"""A firm's backend with everything that it stands on and that watches it, as real programs."""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from addin.backend.operation.stopping import RESTARTING
from addin.tls.certificates import Certificates
from dataservice.server import Store, import_directory
from tests.addin.backend.sign_in.identity_provider import CLIENT_ID, CLIENT_SECRET, IdentityProvider, served
from tests.addin.commands import environment
from tests.attack.parts.many_signals import slug_of, write_data
from tests.attack.parts.redis_process import RedisProcess, free_ports
from tests.postgresql import postgresql_server
from tests.road.nginx import Nginx, nginx

PROJECT = Path(__file__).resolve().parents[3]
PAGE = PROJECT / "docs" / "operations.md"
FILES = PROJECT / "docs" / "hosting-files"
PATIENCE_S = 90.0
ANSWER_S = 10.0
"""So long somebody waits for cells, whatever the incident."""

SIGNALS = 30
TOKEN = "t" * 32

SYSTEMCTL = """#!/bin/sh
case "$1 $2" in
"reload nginx") kill -HUP "$(cat "$RUN/nginx.pid")" ;;
"reload "*) kill -HUP "$(cat "$RUN/addin.pid")" ;;
"restart redis-server") touch "$RUN/redis.wanted"; while [ -e "$RUN/redis.wanted" ]; do sleep 0.1; done ;;
"restart "*) touch "$RUN/addin.wanted"; while [ -e "$RUN/addin.wanted" ]; do sleep 0.1; done ;;
esac
"""


JOURNALCTL = """#!/bin/sh
exec cat "$RUN/backend.log"
"""

RATES = {"[5m]": "[30s]", "[30m]": "[30s]"}
"""The times over which rules count, and what stands for them where nobody waits so long."""

CACHE_MB = 700
"""The size of the disk that the cache is on; below 500 free, an alert fires."""


class Program:
    """A program on a port of its own, which can be ended and started again; its output goes to a file."""

    def __init__(self, command: Sequence[str], environ: dict[str, str], log: Path, health: str) -> None:
        self._command, self._environ, self._log, self._health = command, environ, log, health
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command, env=self._environ, stdout=log, stderr=log, start_new_session=True
            )
        until(lambda: httpx.get(self._health, trust_env=False, timeout=5).status_code < 500, f"{self._log.name} starts")

    def stop(self) -> None:
        """End it as a service manager does: SIGTERM, and SIGKILL for what does not end."""
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process = None

    def text(self) -> str:
        """What it has printed."""
        return self._log.read_text(encoding="utf-8", errors="replace")


def until(holds: Callable[[], bool], what: str, within_s: float = PATIENCE_S) -> float:
    """Wait until something holds; how long that took. Raises `TimeoutError`."""
    began = time.monotonic()
    while True:
        with suppress(httpx.TransportError):
            if holds():
                return time.monotonic() - began
        if time.monotonic() - began > within_s:
            raise TimeoutError(what)
        time.sleep(0.2)


class Provider:
    """A sign-in provider that can be stopped and started again."""

    def __init__(self, port: int) -> None:
        self.identity = IdentityProvider({"sub": "ada", "name": "Ada"})
        self._port, self._running = port, ExitStack()

    def start(self) -> None:
        """Let it answer."""
        self._running.enter_context(served(self.identity, self._port))

    def stop(self) -> None:
        """Let nobody be answered."""
        self._running.close()


@dataclass
class Firm:
    """Everything that runs."""

    folder: Path
    database: str
    service: Program
    backend: Program
    prometheus: Program
    redis: RedisProcess
    identity: Provider
    proxy: Nginx
    url: str
    prometheus_url: str
    environ: dict[str, str]
    has_disk: bool
    """Whether the cache is on a disk of its own, which can be filled."""
    cookie: str = ""
    more: float = 0.0
    """By how much the published data are larger now."""

    def use_key(self, key: str) -> None:
        """Let the backend use a key, as the page says."""
        addin = str(self.folder / "bin" / "addin")
        subprocess.run([addin, "key", "set"], input=key, env=self.environ, capture_output=True, text=True, check=True)

    def count_over(self, *, short: bool) -> None:
        """Let the rules that count over a time do so over half a minute, or as long as they say."""
        rules(self.folder, is_short=short)
        assert self.prometheus.process is not None
        self.prometheus.process.send_signal(signal.SIGHUP)

    def show_certificate(self, made_at: dt.datetime) -> None:
        """Put a certificate where the proxy has it, made at that time."""
        own = Certificates(self.folder / f"certificates of {made_at:%Y}")
        own.ensure(made_at)
        shutil.copyfile(own.leaf.certificate, self.proxy.certificate)
        shutil.copyfile(own.leaf.private_key, self.proxy.key)

    def sign_in(self, name: str = "ada") -> str:
        """Sign somebody in at the provider, through the backend's own addresses; the cookie of the session."""
        self.identity.identity.claims = {"sub": name, "name": name.title()}
        headers = {"x-forwarded-proto": "https"}
        with httpx.Client(trust_env=False, timeout=30) as http:
            begun = http.get(f"{self.url}/sign-in", headers=headers)
            kept = begun.headers["set-cookie"].split(";")[0]
            back = http.get(begun.headers["location"]).headers["location"]
            path = back.partition("//")[2].partition("/")[2]
            ended = http.get(f"{self.url}/{path}", headers={**headers, "cookie": kept})
        if ended.status_code != 200:
            raise AssertionError(f"sign-in: {ended.status_code} {ended.text[:200]}")
        return ended.headers.get_list("set-cookie")[0].split(";")[0]

    def cells(self, numbers: Sequence[int]) -> list[Any]:
        """The values of some cells, as somebody who is signed in gets them; raises where there are none."""
        late_s = time.monotonic() + ANSWER_S
        while True:
            answer = httpx.post(
                f"{self.url}/functions/call",
                json={"calls": [["SIGNAL", slug_of(n)] for n in numbers]},
                headers={"cookie": self.cookie, "x-forwarded-proto": "https"},
                trust_env=False,
                timeout=max(0.1, late_s - time.monotonic()),
            )
            if answer.status_code != 503 or RESTARTING not in answer.text or time.monotonic() > late_s:
                break
            time.sleep(0.2)  # hosts ask again where a worker was replaced
        if answer.status_code != 200:
            raise AssertionError(f"{answer.status_code} {answer.text[:200]}")
        return [cell.get("value", cell.get("message")) for cell in answer.json()["answers"]]

    def firing(self) -> set[str]:
        """The alerts that fire now."""
        told = httpx.get(f"{self.prometheus_url}/api/v1/alerts", trust_env=False, timeout=5).json()["data"]["alerts"]
        return {each["labels"]["alertname"] for each in told if each["state"] == "firing"}

    def run(self, anchor: str) -> None:
        """Run the commands of a runbook as they stand on the page."""
        text = PAGE.read_text(encoding="utf-8").partition(f"{{ #{anchor} }}")[2].partition("\n### ")[0]
        for code in re.findall(r"```sh[^\n]*\n(.*?)```", text, flags=re.DOTALL):
            told = self.run_commands(code.replace("127.0.0.1:8765", self.url.partition("//")[2]))
            (self.folder / "runbooks.log").open("a").write(f"== {anchor}\n{code}{told}\n")

    def run_commands(self, code: str) -> str:
        """Run commands as on the server; what they print."""
        done = subprocess.run(
            ["bash", "-u"], input=code, env=self.environ, capture_output=True, text=True, check=False, timeout=120
        )
        return done.stdout + done.stderr


def rules(folder: Path, *, is_short: bool = False) -> None:
    """Write the shipped rules with short waits; those that count over a time wait, too, unless that `is_short`."""
    shipped = yaml.safe_load((FILES / "alerts.yaml").read_text(encoding="utf-8"))
    for rule in shipped["groups"][0]["rules"]:
        if is_short or "rate(" not in rule["expr"]:
            rule["for"] = "1s"
        for told, here in RATES.items() if is_short else ():
            rule["expr"] = rule["expr"].replace(told, here)
    (folder / "alerts.yaml").write_text(yaml.safe_dump(shipped), encoding="utf-8")


def prometheus_files(folder: Path, target: str) -> None:
    """Write Prometheus's set-up as the page has it, asking every three seconds."""
    rules(folder)
    (folder / "token").write_text(TOKEN, encoding="utf-8")
    text = (FILES / "prometheus.yaml").read_text(encoding="utf-8")
    for documented, here in (
        ("scrape_interval: 15s", "scrape_interval: 3s\n    scrape_timeout: 3s"),
        ("/etc/prometheus/addin-token", str(folder / "token")),
        ("[localhost:8765, localhost:8766]", f"[{target}]"),
    ):
        if documented not in text:
            raise AssertionError(f"{documented} is not in prometheus.yaml")
        text = text.replace(documented, here)
    (folder / "prometheus.yml").write_text(f"global: {{evaluation_interval: 1s}}\n{text}", encoding="utf-8")


def shims(folder: Path, redis_port: int) -> Path:
    """Put `systemctl`, `addin` and `redis-cli` as the page calls them into a folder."""
    made = folder / "bin"
    made.mkdir()
    redis_cli = shutil.which("valkey-cli") or shutil.which("redis-cli")
    texts = {
        "systemctl": SYSTEMCTL,
        "journalctl": JOURNALCTL,
        "addin": f'#!/bin/sh\nexec "{sys.executable}" -m addin.cli.main "$@"\n',
        "redis-cli": f'#!/bin/sh\nexec {redis_cli} -p {redis_port} "$@"\n',
    }
    for name, text in texts.items():
        (made / name).write_text(text, encoding="utf-8")
        (made / name).chmod(0o755 | stat.S_IXUSR)
    return made


@contextmanager
def firm(folder: Path) -> Iterator[Firm]:
    """Everything that runs, inside the block."""
    ports = free_ports(4)
    with ExitStack() as stack:
        database = stack.enter_context(postgresql_server())
        redis = stack.enter_context(RedisProcess(folder, "--appendonly", "yes", "--appendfsync", "always"))
        identity = Provider(ports[3])
        stack.callback(identity.stop)
        identity.start()
        proxy = stack.enter_context(nginx(ports[0]))
        shutil.copy(proxy.pid, folder / "nginx.pid")
        has_disk = stack.enter_context(_disk(folder / "cache"))
        with Store(database) as store:
            import_directory(store, write_data(folder, SIGNALS))
            key = store.create_key("pro", cap=100_000)
        environ = _environment(folder, ports, redis.url, identity, proxy)
        programs = _programs(folder, ports, database, environ)
        made_shims = shims(folder, redis.port)
        here = {**environ, "RUN": str(folder), "PATH": f"{made_shims}:{environ['PATH']}"}
        urls = (_url(ports[0]), _url(ports[2]))
        made = Firm(folder, database, *programs, redis, identity, proxy, *urls, here, has_disk)
        made.use_key(key)
        for each in programs:
            stack.callback(each.stop)
            each.start()
        ended = threading.Event()
        manager = threading.Thread(target=_manage, args=(made, ended))
        manager.start()
        stack.callback(manager.join)
        stack.callback(ended.set)
        yield made


@contextmanager
def _disk(folder: Path) -> Iterator[bool]:
    """A small disk at a folder inside the block, if whoever runs this may make one; whether it is there."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={CACHE_MB}m", "tmpfs", str(folder)]
    is_there = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield is_there
    finally:
        if is_there:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _url(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def _environment(
    folder: Path, ports: Sequence[int], redis_url: str, identity: Provider, proxy: Nginx
) -> dict[str, str]:
    return environment(
        folder,
        None,
        url=_url(ports[1]),
        redis_url=redis_url,
        public_url=proxy.url,
        oidc_issuer=identity.identity.url,
        oidc_client_id=CLIENT_ID,
        oidc_client_secret=CLIENT_SECRET,
        session_secret="s" * 40,
        metrics_token=TOKEN,
        ttl_s="2",
        ask_above="100000",
        stop_timeout_s="2",
        log_requests="true",
    )


def _programs(
    folder: Path, ports: Sequence[int], database: str, environ: dict[str, str]
) -> tuple[Program, Program, Program]:
    """The service, the backend and Prometheus."""
    python = [sys.executable, "-m"]
    serve = [*python, "dataservice.cli.main", "serve", "--db", database, "--port", str(ports[1])]
    answer = [*python, "addin.cli.main", "serve", "--http", "--port", str(ports[0]), "--workers", "2"]
    prometheus_files(folder, f"localhost:{ports[0]}")
    watch = [
        str(shutil.which("prometheus")),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{ports[2]}",
    ]
    return (
        Program(serve, environ, folder / "service.log", f"{_url(ports[1])}/openapi.json"),
        Program(answer, environ, folder / "backend.log", f"{_url(ports[0])}/health"),
        Program(watch, dict(os.environ), folder / "prometheus.log", f"{_url(ports[2])}/-/ready"),
    )


def _manage(made: Firm, ended: threading.Event) -> None:
    """Do what the service manager is asked for."""
    while not ended.wait(0.1):
        if made.backend.process is not None:
            (made.folder / "addin.pid").write_text(str(made.backend.process.pid), encoding="ascii")
        for name, again in (
            ("redis", lambda: (made.redis.kill(), made.redis.start())),
            ("addin", lambda: _again(made)),
        ):
            if (wanted := made.folder / f"{name}.wanted").exists():
                again()
                wanted.unlink()


def _again(made: Firm) -> None:
    made.backend.stop()
    made.backend.start()
