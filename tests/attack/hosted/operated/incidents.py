"""The incidents of the operations page, made with the real programs, and ended by the page's own commands.

python -m tests.attack.hosted.operated.incidents

A firm's backend of two workers with sign-in, on a Redis, on a service whose data are in PostgreSQL, behind an nginx,
with its cache on a small disk, watched by Prometheus with the alert rules, which wait a second here. One incident after
the other is made while somebody works: its alert fires in time and no other does, the runbook's commands are run as
they stand on the page, the alert ends, and every cell is right again. `systemctl`, `journalctl` and `addin` on the page
stand for those of here.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from threading import Event, Thread

import httpx
from sqlalchemy import update

from dataservice.server import Store, import_directory
from dataservice.server.db.database import api_keys
from dataservice.server.http.auth_middleware import KNOWN_S
from tests.attack.parts.firm import SIGNALS, Firm, firm, until
from tests.attack.parts.many_signals import value_of, write_data
from tests.attack.parts.told import Told, conclude
from tests.postgresql import away

SEEN_S = 15.0
POSTS, CALLS = 3, 99_000
"""A poisonous workbook: so many posts at a time, of so many formulas."""

FEW = 60
"""The requests of a small quota: fewer than a tenth are left before the cells of one post are too many to be sent."""

QUERY_S = 10.0
"""Of the time until something is seen, what the last question of this program may have taken."""


@dataclass
class Seen:
    """What the incidents showed."""

    incidents: int = 0
    cells: int = 0
    wrong: list[str] = field(default_factory=list)


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
    mend: Callable[[Firm], None] = lambda _: None
    """What is done before the runbook's commands: what these cannot do."""
    also: frozenset[str] = frozenset()
    """Alerts that may fire, too."""
    seen_s: float = SEEN_S


def _whole_instance(made: Firm, number: int) -> None:
    assert made.backend.process is not None
    os.killpg(made.backend.process.pid, number)


def _change_data(made: Firm) -> None:
    made.more += 1_000.0
    with Store(made.database) as store:
        import_directory(store, write_data(made.folder / f"changed by {made.more}", SIGNALS, more=made.more))


def _take_key(made: Firm) -> None:
    with Store(made.database) as store:
        for record in store.keys.records():
            store.keys.revoke(record)
    _change_data(made)  # who still has the old key can show none of it


def _new_key(made: Firm) -> None:
    with Store(made.database) as store:
        made.use_key(store.create_key("pro", cap=100_000))


def _small_quota(made: Firm) -> None:
    with Store(made.database) as store:
        made.use_key(store.create_key("pro", cap=FEW))
    made.run_commands("systemctl reload addin@8765")


def _larger_quota(made: Firm) -> None:
    with Store(made.database) as store, store.keys._database.writing() as connection:
        connection.execute(update(api_keys).where(api_keys.c.cap == FEW).values(cap=100_000))
    time.sleep(KNOWN_S)  # so long the service goes by the cap of before


def _expired(made: Firm) -> None:
    made.show_certificate(dt.datetime.now(dt.UTC) - dt.timedelta(days=3 * 365))
    made.run_commands("systemctl reload nginx")


class _Poison:
    """Somebody's workbook that posts a hundred thousand formulas again and again, each time others."""

    def __init__(self) -> None:
        self._ended, self._threads = Event(), list[Thread]()

    def begin(self, made: Firm) -> None:
        made.count_over(short=True)
        cookie = made.sign_in("mallory")
        self._threads = [Thread(target=self._post, args=(made, cookie, number)) for number in range(POSTS)]
        for thread in self._threads:
            thread.start()

    def end(self, made: Firm) -> None:
        self.close()
        until(lambda: not made.firing(), "after the poison no alert fires")
        made.count_over(short=False)

    def close(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _post(self, made: Firm, cookie: str, number: int) -> None:
        while not self._ended.is_set():
            calls = [["SIGNAL", f"poison{token_hex(6)}"] for _ in range(CALLS)]
            headers = {"cookie": cookie, "x-forwarded-proto": "https"}
            with suppress(httpx.TransportError):
                url = f"{made.url}/functions/call"
                httpx.post(url, json={"calls": calls}, headers=headers, trust_env=False, timeout=60)
            self._ended.wait(0.2)


class _Filled:
    """Old logs that fill the disk of the cache."""

    def begin(self, made: Firm) -> None:
        free = shutil.disk_usage(made.folder / "cache").free
        with (made.folder / "cache" / "old.log").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, free)

    def end(self, made: Firm) -> None:
        (made.folder / "cache" / "old.log").unlink()


def _away(database: ExitStack) -> list[Incident]:
    """Incidents in which something that the backend stands on is away; `database` closed is one that is back."""
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
    ]


def incidents(stack: ExitStack, made: Firm) -> list[Incident]:
    """The incidents, in the order in which they are made; a full disk where a small one could be made."""
    database, poison, filled = ExitStack(), _Poison(), _Filled()
    stack.callback(database.close)
    stack.callback(poison.close)
    disk = [Incident("disk-full", frozenset({"AddinDiskFull"}), filled.begin, mend=filled.end)]
    return [
        Incident("quota-spent", frozenset({"AddinQuotaLow"}), _small_quota, mend=_larger_quota, seen_s=60.0),
        Incident(
            "certificate-expired",
            frozenset({"AddinCertificateEnds"}),
            _expired,
            mend=lambda made: made.show_certificate(dt.datetime.now(dt.UTC)),
            seen_s=120.0,
        ),
        *(disk if made.has_disk else ()),
        *_away(database),
        Incident("wrong-data", frozenset(), _change_data),
        Incident(
            "poison-workbook",
            frozenset({"AddinSlow"}),
            poison.begin,
            poison.end,
            also=frozenset({"AddinErrors"}),
            seen_s=60.0,
        ),
        Incident("key-leaked", frozenset(), _take_key, mend=_new_key, answered=False),
    ]


def attack(folder: Path, only: Sequence[str] = ()) -> Seen:
    """What the incidents showed, one after the other."""
    seen = Seen()
    with ExitStack() as stack, firm(folder) as made:
        made.cookie = made.sign_in()
        until(lambda: _all_right(made), "the first cells are right")
        for each in incidents(stack, made):
            if not only or each.anchor in only:
                _make(made, each, seen)
    return seen


def _all_right(made: Firm) -> bool:
    with suppress(AssertionError):
        return made.cells(range(SIGNALS)) == [value_of(n) + made.more for n in range(SIGNALS)]
    return False


def _make(made: Firm, incident: Incident, seen: Seen) -> None:
    """Make one incident, look how it is seen, run its runbook, and look how it ends."""
    seen.incidents += 1
    told_before = len(made.backend.text())
    until(lambda: not made.firing(), f"all is quiet before {incident.anchor}")
    shown = {value_of(n) + made.more for n in range(SIGNALS)}
    incident.begin(made)
    began, fired, is_told = time.monotonic(), set[str](), False
    late_s = began + incident.seen_s
    while time.monotonic() < late_s and not (incident.alerts <= fired and (is_told or not incident.events[0])):
        _work(made, incident, shown, seen)
        fired |= made.firing()
        is_told = incident.events[0] in made.backend.text()[told_before:]
    took_s = time.monotonic() - began
    if not incident.alerts <= fired or took_s > incident.seen_s + QUERY_S:
        seen.wrong.append(f"{incident.anchor}: {sorted(incident.alerts)} did not fire within {incident.seen_s:g} s")
    if not is_told and incident.events[0]:
        seen.wrong.append(f"{incident.anchor}: {incident.events[0]} was not told")
    incident.mend(made)
    made.run(incident.anchor)
    incident.end(made)
    try:
        until_right_s = until(lambda: _all_right(made), f"after {incident.anchor} all cells are right")
    except TimeoutError:
        sys.stdout.write(f"{incident.anchor}: {made.cells(range(SIGNALS))}\n{made.backend.text()[told_before:]}\n")
        raise

    def is_quiet() -> bool:
        _work(made, incident, shown, seen)  # a worker that nobody asks learns nothing of the service, and of the quota
        fired.update(made.firing())
        return not made.firing()

    until(is_quiet, f"after {incident.anchor} no alert fires")
    if incident.events[1]:

        def is_told_again() -> bool:
            _work(made, incident, shown, seen)
            return incident.events[1] in made.backend.text()[told_before:]

        until(is_told_again, f"{incident.events[1]} is told")
    if others := fired - incident.alerts - incident.also:
        seen.wrong.append(f"{incident.anchor}: {sorted(others)} fired, too")
    alerts = ", ".join(sorted(incident.alerts)) or "no alert"
    sys.stdout.write(
        f"{incident.anchor}: {alerts}, seen in {took_s:.1f} s, right {until_right_s:.1f} s after its end\n"
    )
    sys.stdout.flush()


def _work(made: Firm, incident: Incident, shown: set[float], seen: Seen) -> None:
    """Ask for some cells, as somebody does who works meanwhile."""
    try:
        found = made.cells(range(0, SIGNALS, 7))
    except (AssertionError, httpx.TransportError) as error:
        if incident.answered:
            seen.wrong.append(f"{incident.anchor}: {error}")
        time.sleep(0.5)
        return
    seen.cells += len(found)
    if incident.answered:
        now = shown | {value_of(n) + made.more for n in range(SIGNALS)}
        seen.wrong += [f"{incident.anchor}: a cell shows {value}" for value in found if value not in now]


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
