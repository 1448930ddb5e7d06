"""The incidents of the operations page, made with the real programs, and ended by the page's own commands.

python -m tests.attack.hosted.incidents

A firm's backend of two workers with sign-in, on a Redis, on a service whose data are in PostgreSQL, watched by
Prometheus with the alert rules, which wait a second here. One incident after the other is made while somebody works:
its alert fires within 15 seconds and no other does, the runbook's commands are run as they stand on the page, the
alert ends, and every cell is right again. `systemctl` and `addin` on the page stand for those of here.
"""

from __future__ import annotations

import argparse
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
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import yaml

from dataservice.server import Store, import_directory
from tests.addin.backend.sign_in.identity_provider import CLIENT_ID, CLIENT_SECRET, IdentityProvider, served
from tests.addin.commands import environment
from tests.attack.parts.many_signals import slug_of, value_of, write_data
from tests.attack.parts.redis_process import RedisProcess, free_ports
from tests.attack.parts.told import Told, conclude
from tests.postgresql import away, postgresql_server

PROJECT = Path(__file__).resolve().parents[3]
PAGE = PROJECT / "docs" / "operations.md"
FILES = PROJECT / "docs" / "hosting-files"
PATIENCE_S = 90.0
SEEN_S = 15.0
SIGNALS = 30
TOKEN = "t" * 32

SYSTEMCTL = """#!/bin/sh
case "$1 $2" in
"reload nginx") ;;
"reload "*) kill -HUP "$(cat "$RUN/addin.pid")" ;;
"restart redis-server") touch "$RUN/redis.wanted"; while [ -e "$RUN/redis.wanted" ]; do sleep 0.1; done ;;
"restart "*) touch "$RUN/addin.wanted"; while [ -e "$RUN/addin.wanted" ]; do sleep 0.1; done ;;
esac
"""


@dataclass
class Seen:
    """What the incidents showed."""

    incidents: int = 0
    cells: int = 0
    wrong: list[str] = field(default_factory=list)


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
    url: str
    prometheus_url: str
    environ: dict[str, str]
    seen: Seen
    cookie: str = ""
    more: float = 0.0
    """By how much the published data are larger now."""

    def sign_in(self) -> None:
        """Sign in at the provider, through the backend's own addresses."""
        headers = {"x-forwarded-proto": "https"}
        with httpx.Client(trust_env=False, timeout=30) as http:
            begun = http.get(f"{self.url}/sign-in", headers=headers)
            kept = begun.headers["set-cookie"].split(";")[0]
            back = http.get(begun.headers["location"]).headers["location"]
            path = back.partition("//")[2].partition("/")[2]
            ended = http.get(f"{self.url}/{path}", headers={**headers, "cookie": kept})
        if ended.status_code != 200:
            raise AssertionError(f"sign-in: {ended.status_code} {ended.text[:200]}")
        self.cookie = ended.headers.get_list("set-cookie")[0].split(";")[0]

    def cells(self, numbers: Sequence[int]) -> list[Any]:
        """The values of some cells, as somebody who is signed in gets them; raises where there are none."""
        answer = httpx.post(
            f"{self.url}/functions/call",
            json={"calls": [["SIGNAL", slug_of(n)] for n in numbers]},
            headers={"cookie": self.cookie, "x-forwarded-proto": "https"},
            trust_env=False,
            timeout=60,
        )
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
            code = code.replace("127.0.0.1:8765", self.url.partition("//")[2])
            done = subprocess.run(
                ["bash", "-u"], input=code, env=self.environ, capture_output=True, text=True, check=False, timeout=120
            )
            (self.folder / "runbooks.log").open("a").write(f"== {anchor}\n{code}{done.stdout}{done.stderr}\n")


@dataclass(frozen=True)
class Incident:
    """One incident: how it is made, what fires, and what ends it beside the runbook's commands."""

    anchor: str
    alerts: frozenset[str]
    begin: Callable[[Firm], None]
    end: Callable[[Firm], None] = lambda _: None
    answered: bool = True
    """Whether cells are answered meanwhile, with last known values at least."""
    events: tuple[str, str] = ("", "")


def rules(folder: Path) -> None:
    """Write the shipped rules with short waits, but for those that look at a longer time by themselves."""
    shipped = yaml.safe_load((FILES / "alerts.yaml").read_text(encoding="utf-8"))
    for rule in shipped["groups"][0]["rules"]:
        if "rate(" not in rule["expr"]:
            rule["for"] = "1s"
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
        "addin": f'#!/bin/sh\nexec "{sys.executable}" -m addin.cli.main "$@"\n',
        "redis-cli": f'#!/bin/sh\nexec {redis_cli} -p {redis_port} "$@"\n',
    }
    for name, text in texts.items():
        (made / name).write_text(text, encoding="utf-8")
        (made / name).chmod(0o755 | stat.S_IXUSR)
    return made


@contextmanager
def firm(folder: Path, seen: Seen) -> Iterator[Firm]:
    """Everything that runs, inside the block."""
    ports = free_ports(4)
    write_data(folder, SIGNALS)
    with ExitStack() as stack:
        database = stack.enter_context(postgresql_server())
        redis = stack.enter_context(RedisProcess(folder, "--appendonly", "yes", "--appendfsync", "always"))
        identity = Provider(ports[3])
        stack.callback(identity.stop)
        identity.start()
        with Store(database) as store:
            import_directory(store, folder / "many")
            key = store.create_key("pro", cap=100_000)
        url = f"http://127.0.0.1:{ports[0]}"
        environ = environment(
            folder,
            None,
            url=f"http://127.0.0.1:{ports[1]}",
            redis_url=redis.url,
            public_url="https://localhost:1",
            oidc_issuer=identity.identity.url,
            oidc_client_id=CLIENT_ID,
            oidc_client_secret=CLIENT_SECRET,
            session_secret="s" * 40,
            metrics_token=TOKEN,
            ttl_s="2",
            ask_above="100000",
            stop_timeout_s="2",
        )
        python = [sys.executable, "-m"]
        service = Program(
            [*python, "dataservice.cli.main", "serve", "--db", database, "--port", str(ports[1])],
            environ,
            folder / "service.log",
            f"http://127.0.0.1:{ports[1]}/openapi.json",
        )
        backend = Program(
            [*python, "addin.cli.main", "serve", "--http", "--port", str(ports[0]), "--workers", "2"],
            environ,
            folder / "backend.log",
            f"{url}/health",
        )
        prometheus_files(folder, url.partition("//")[2].replace("127.0.0.1", "localhost"))
        prometheus = Program(
            [
                str(shutil.which("prometheus")),
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'tsdb'}",
                f"--web.listen-address=127.0.0.1:{ports[2]}",
            ],
            dict(os.environ),
            folder / "prometheus.log",
            f"http://127.0.0.1:{ports[2]}/-/ready",
        )
        made_shims = shims(folder, redis.port)
        here = {**environ, "RUN": str(folder), "PATH": f"{made_shims}:{environ['PATH']}"}
        subprocess.run(
            [str(made_shims / "addin"), "key", "set"], input=key, env=here, text=True, check=True, timeout=60
        )
        for each in (service, backend, prometheus):
            stack.callback(each.stop)
            each.start()
        made = Firm(
            folder,
            database,
            service,
            backend,
            prometheus,
            redis,
            identity,
            url,
            f"http://127.0.0.1:{ports[2]}",
            here,
            seen,
        )
        ended = threading.Event()
        manager = threading.Thread(target=_manage, args=(made, ended))
        manager.start()
        stack.callback(lambda: (ended.set(), manager.join()))
        yield made


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


def _whole_instance(made: Firm, number: int) -> None:
    assert made.backend.process is not None
    os.killpg(made.backend.process.pid, number)


def _change_data(made: Firm) -> None:
    with Store(made.database) as store:
        write_data(made.folder / "changed", SIGNALS, more=1_000.0)
        import_directory(store, made.folder / "changed" / "many")
    made.more = 1_000.0


def _take_key(made: Firm) -> None:
    with Store(made.database) as store:
        for record in store.keys.records():
            store.keys.revoke(record)


def _new_key(made: Firm) -> None:
    with Store(made.database) as store:
        key = store.create_key("pro", cap=100_000)
    addin = str(made.folder / "bin" / "addin")
    subprocess.run([addin, "key", "set"], input=key, env=made.environ, text=True, check=True, timeout=60)


def incidents(stack: ExitStack) -> list[Incident]:
    """The incidents, in the order in which they are made."""
    database = ExitStack()
    stack.callback(database.close)
    return [
        Incident(
            "service-down",
            frozenset({"AddinServiceAway"}),
            lambda made: made.service.stop(),
            lambda made: made.service.start(),
            events=("outage_begun", "outage_ended"),
        ),
        Incident(
            "postgresql-failed-over",
            frozenset({"AddinServiceAway"}),
            lambda made: database.enter_context(away(made.database)),
            lambda _: database.close(),
            events=("outage_begun", "outage_ended"),
        ),
        Incident(
            "redis-lost",
            frozenset({"AddinStoreAway", "AddinLedgerAway"}),
            lambda made: made.redis.kill(),
            answered=False,
        ),
        Incident(
            "provider-down",
            frozenset({"AddinProviderAway"}),
            lambda made: made.identity.stop(),
            lambda made: made.identity.start(),
        ),
        Incident(
            "worker-stuck", frozenset({"AddinDown"}), lambda made: _whole_instance(made, signal.SIGSTOP), answered=False
        ),
        Incident("wrong-data", frozenset(), _change_data),
        Incident("key-leaked", frozenset(), _take_key, _new_key, answered=False),
    ]


def attack(folder: Path, only: Sequence[str] = ()) -> Seen:
    """What the incidents showed, one after the other."""
    seen = Seen()
    with ExitStack() as stack, firm(folder, seen) as made:
        made.sign_in()
        until(lambda: _all_right(made), "the first cells are right")
        for each in incidents(stack):
            if not only or each.anchor in only:
                _make(made, each)
    return seen


def _all_right(made: Firm) -> bool:
    with suppress(AssertionError):
        return made.cells(range(SIGNALS)) == [value_of(n) + made.more for n in range(SIGNALS)]
    return False


def _make(made: Firm, incident: Incident) -> None:
    """Make one incident, look how it is seen, run its runbook, and look how it ends."""
    seen = made.seen
    seen.incidents += 1
    told_before = len(made.backend.text())
    until(lambda: not made.firing(), f"all is quiet before {incident.anchor}")
    shown = {value_of(n) + made.more for n in range(SIGNALS)}
    incident.begin(made)
    began, fired, is_told = time.monotonic(), set[str](), False
    late_s = began + SEEN_S
    while time.monotonic() < late_s and not (incident.alerts <= fired and (is_told or not incident.events[0])):
        _work(made, incident, shown)
        fired |= made.firing()
        is_told = incident.events[0] in made.backend.text()[told_before:]
    took_s = time.monotonic() - began
    if not incident.alerts <= fired:
        seen.wrong.append(f"{incident.anchor}: {sorted(incident.alerts - fired)} did not fire within {SEEN_S:g} s")
    if not is_told and incident.events[0]:
        seen.wrong.append(f"{incident.anchor}: {incident.events[0]} was not told")
    made.run(incident.anchor)
    incident.end(made)
    until_right_s = until(lambda: _all_right(made), f"after {incident.anchor} all cells are right")

    def is_quiet() -> bool:
        fired.update(made.firing())
        return not made.firing()

    until(is_quiet, f"after {incident.anchor} no alert fires")
    if incident.events[1]:
        until(lambda: incident.events[1] in made.backend.text()[told_before:], f"{incident.events[1]} is told")
    if others := fired - incident.alerts:
        seen.wrong.append(f"{incident.anchor}: {sorted(others)} fired, too")
    alerts = ", ".join(sorted(incident.alerts)) or "no alert"
    sys.stdout.write(
        f"{incident.anchor}: {alerts}, seen in {took_s:.1f} s, right {until_right_s:.1f} s after its end\n"
    )
    sys.stdout.flush()


def _work(made: Firm, incident: Incident, shown: set[float]) -> None:
    """Ask for some cells, as somebody does who works meanwhile."""
    try:
        found = made.cells(range(0, SIGNALS, 7))
    except (AssertionError, httpx.TransportError) as error:
        if incident.answered:
            made.seen.wrong.append(f"{incident.anchor}: {error}")
        time.sleep(0.5)
        return
    made.seen.cells += len(found)
    if incident.answered:
        now = shown | {value_of(n) + made.more for n in range(SIGNALS)}
        made.seen.wrong += [f"{incident.anchor}: a cell shows {value}" for value in found if value not in now]


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    incidents_seen, wrong = 0, 0
    for _ in range(given.rounds):
        with TemporaryDirectory(prefix="incidents-") as folder:
            found = attack(Path(folder), given.only)
        sys.stdout.write("".join(f"{line}\n" for line in found.wrong[:20]))
        incidents_seen, wrong = incidents_seen + found.incidents, wrong + len(found.wrong)
    conclude(Told(incidents_seen, wrong=wrong))


if __name__ == "__main__":
    main()
