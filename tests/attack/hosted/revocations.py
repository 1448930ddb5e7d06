"""Sign-out and stop while the place where that is kept fails: who was told "ok" is out on every machine, for ever.

python -m tests.attack.hosted.revocations --rounds 40 --seed 1

Two backends of one firm, on a Redis that is full, refuses writes, is emptied, set back, stopped, paused or restarted;
and one backend on a disk that is full, read-only, or loses the file. Each round somebody signs in at both, and signs
out or is stopped while that goes on. Once it is over, no session may be alive: not one that was told to be over, nor
one where it was told that it could not be stored yet. An admin who was told that nothing was changed tries again.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from redis import Redis

from addin.config.connect import LEDGER_NAME
from addin.config.settings import APP
from dataservice.ledger.redis import KEY
from tests.addin.backend.sign_in.identity_provider import (
    CLIENT_SECRET,
    IdentityProvider,
    backend_with_sign_in,
    provider,
)
from tests.attack.parts.redis_process import RedisProcess
from tests.attack.parts.told import Told, conclude

SETTLED_S = 20.0
"""How long after the failure everything may take to be stored: it is tried every two seconds."""

ADMINS = "groups=chiefs"


@dataclass
class Found:
    """What the rounds found."""

    rounds: int = 0
    stored: int = 0
    """Ends that were told to be stored."""
    wrong: list[str] = field(default_factory=list)


@dataclass
class Failure:
    """One way in which the place fails, and how it comes back."""

    name: str
    begin: Callable[[], object]
    end: Callable[[], object]


@contextmanager
def machine(folder: Path, config: Path, identity: IdentityProvider, redis_url: str | None) -> Iterator[str]:
    """A backend with a config folder and a cache folder of its own; its address."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["XDG_CONFIG_HOME"] = str(config)
    with backend_with_sign_in(_Nowhere(), folder, identity, redis_url=redis_url, oidc_admins=ADMINS) as url:
        yield url


class _Nowhere:
    """In place of a service: nobody asks for a value here."""

    url = "https://data.example"


class Browser:
    """Somebody's browser at one backend."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, verify=False, timeout=30)

    def sign_in(self, identity: IdentityProvider, subject: str, *, admin: bool = False) -> None:
        """Sign in, until the backend can do that."""
        ends = time.monotonic() + SETTLED_S
        while True:
            identity.claims = {"sub": subject, "name": subject, "groups": ["chiefs"] if admin else []}
            if self._http.get("/sign-in", follow_redirects=True).status_code == 200:
                return
            if time.monotonic() > ends:
                raise TimeoutError(f"{subject} could not sign in")
            time.sleep(0.2)

    def is_in(self) -> bool:
        """Whether the session is answered."""
        return self._http.get("/me").status_code == 200

    def id(self) -> str:
        """The person's short name."""
        return str(self._http.get("/people").json()["people"][0]["id"])

    def sign_out(self) -> int:
        """Sign out, but keep the cookie, as a thief would."""
        cookies = dict(self._http.cookies)
        status = self._http.post("/sign-out", json={}).status_code
        self._http.cookies.update(cookies)
        return status

    def stop(self, person_id: str) -> int:
        """Stop somebody."""
        return self._http.post(f"/people/{person_id}/stop", json={}).status_code

    def close(self) -> None:
        """Close the browser."""
        self._http.close()


def attack_round(
    urls: Sequence[str], identity: IdentityProvider, failure: Failure, *, by_admin: bool, found: Found
) -> None:
    """Let somebody sign out or be stopped while the failure goes on, and look who is in then and afterwards."""
    found.rounds += 1
    ada, bob = [Browser(url) for url in urls], Browser(urls[0])
    for each in ada:
        each.sign_in(identity, "ada")
    bob.sign_in(identity, "bob", admin=True)
    person_id = ada[0].id()
    what = f"{'stop' if by_admin else 'sign-out'} while {failure.name}"
    failure.begin()
    try:
        status = bob.stop(person_id) if by_admin else ada[0].sign_out()
        if status == 200:
            found.stored += 1
            found.wrong += [f"{what}: told ok, and alive" for each in ada if each.is_in()]
        elif by_admin and status == 401:
            pass  # the admin's own session ended with the ledger: nothing was told to be done, and nobody is in
        elif status != 503:
            found.wrong.append(f"{what}: status {status}")
    finally:
        failure.end()
    fresh = Browser(urls[-1])
    fresh.sign_in(identity, "eve", admin=True)
    if by_admin and status == 503 and fresh.stop(person_id) not in (200, 404):
        found.wrong.append(f"{what}: not even afterwards")
    ends = time.monotonic() + SETTLED_S
    while any(each.is_in() for each in ada) and time.monotonic() < ends:
        time.sleep(0.1)
    found.wrong += [f"{what}: alive afterwards" for each in ada if each.is_in()]
    for each in (*ada, bob, fresh):
        each.close()


def redis_failures(process: RedisProcess) -> list[Failure]:
    """What may happen to a Redis."""
    client = Redis.from_url(process.url)
    kept: list[bytes] = []

    def config(name: str, value: str) -> Callable[[], object]:
        return lambda: client.config_set(name, value)

    def nothing() -> None:
        pass

    def restart() -> None:
        process.kill()
        process.start()

    def save() -> None:
        kept[:] = [client.dump(KEY) or b""]

    def set_back() -> None:
        if kept and kept[0]:
            client.restore(KEY, 0, kept[0], replace=True)

    return [
        Failure("nothing fails", nothing, nothing),
        Failure("Redis is full", config("maxmemory", "1"), config("maxmemory", "0")),
        Failure("Redis takes no writes", config("min-replicas-to-write", "1"), config("min-replicas-to-write", "0")),
        Failure("Redis was emptied", client.flushall, nothing),
        Failure("Redis is emptied afterwards", nothing, client.flushall),
        Failure("Redis is set back afterwards", save, set_back),
        Failure("Redis evicts", nothing, lambda: client.delete(KEY)),
        Failure("Redis is stopped", process.kill, process.start),
        Failure("Redis is paused", process.pause, process.resume),
        Failure("Redis restarts", restart, nothing),
        Failure("Redis restarts afterwards", nothing, restart),
    ]


def disk_failures(disk: Path, ledger: Path) -> list[Failure]:
    """What may happen to the disk of a single machine; `disk` is mounted for this alone."""
    filler, copy = disk / "filler", disk / "copy"

    def fill() -> None:
        with suppress(OSError), filler.open("wb") as file:
            while True:
                file.write(bytes(4096))

    def remount(how: str) -> Callable[[], object]:
        return lambda: subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)

    return [
        Failure("the disk is full", fill, lambda: filler.unlink(missing_ok=True)),
        Failure("the disk is read-only", remount("ro"), remount("rw")),
        Failure("the file is gone", lambda: ledger.unlink(missing_ok=True), lambda: None),
        Failure("the file is set back afterwards", lambda: shutil.copy(ledger, copy), lambda: copy.replace(ledger)),
    ]


@contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """A disk of a megabyte of our own; None where this user may not mount one."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=False)


def attack(rounds: int, seed: int, folder: Path) -> Found:
    """So many rounds, each failure in turn, with sign-out and stop by chance."""
    chance, found = random.Random(seed), Found()
    os.environ |= {"DATA_SERVICE_OIDC_CLIENT_SECRET": CLIENT_SECRET, "DATA_SERVICE_SESSION_SECRET": "s" * 40}
    with ExitStack() as stack:
        identity = stack.enter_context(provider(sub="1"))
        process = stack.enter_context(RedisProcess(folder))
        places = [folder / "a", folder / "b"]
        two = [stack.enter_context(machine(place, place / "config", identity, process.url)) for place in places]
        disk = stack.enter_context(small_disk(folder / "disk"))
        plan = [(two, failure) for failure in redis_failures(process)]
        if disk is None:
            sys.stdout.write("the disk's failures are left out: this user may not mount one\n")
        else:
            one = [stack.enter_context(machine(folder / "c", disk, identity, None))]
            plan += [(one, failure) for failure in disk_failures(disk, disk / APP / LEDGER_NAME)]
        for number in range(rounds):
            urls, failure = plan[number % len(plan)]
            attack_round(urls, identity, failure, by_admin=chance.random() < 0.5, found=found)
    return found


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=45)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        found = attack(given.rounds, given.seed, Path(folder))
    for line in found.wrong:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{found.rounds} rounds, {found.stored} ends told to be stored\n")
    conclude(Told(found.rounds, wrong=len(found.wrong)))


if __name__ == "__main__":
    main()
