"""An upgrade and a rollback on a kept Redis: nothing is bought again, and nobody is let in or locked out by it.

python -m tests.attack.hosted.operated.upgrade --users 3 --before HEAD~10 HEAD~400

Users with keys of their own sign in at a backend of an earlier commit (of each in turn), store their keys, fill a
sheet, and one of them is stopped. The backend is replaced by this version, on the same Redis and with an empty cache
folder, as on a new machine; then by the earlier one again. Each time every user asks for the same cells: they show the
same, cost no request, and who was stopped is out.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from dataservice.server import Store, import_directory, running
from tests.addin.backend.sign_in.identity_provider import CLIENT_ID, CLIENT_SECRET
from tests.addin.commands import environment
from tests.attack.parts.firm import PROJECT, Program, Provider
from tests.attack.parts.many_signals import slug_of, write_data
from tests.attack.parts.redis_process import RedisProcess, free_ports
from tests.attack.parts.told import Told, conclude

SIGNALS = 40
CELLS = [
    *(["SIGNAL", slug_of(number)] for number in range(SIGNALS)),
    *(["SIGNAL_HISTORY", slug_of(number), "-1Y"] for number in range(0, SIGNALS, 4)),
    ["SIGNALS"],
]
HTTPS = {"x-forwarded-proto": "https"}


@dataclass
class Seen:
    """What the users saw."""

    cells: int = 0
    sessions_kept: int = 0
    sessions: int = 0
    bought: list[int] = field(default_factory=list)
    """Requests that each replacement cost."""
    wrong: list[str] = field(default_factory=list)


@dataclass
class User:
    """Somebody who signs in: their name at the provider, their key, their session, and what their sheet showed."""

    name: str
    key: str
    cookie: str = ""
    shown: list[Any] = field(default_factory=list)


class Deployment:
    """A backend at one address, of one version at a time."""

    def __init__(self, folder: Path, url: str, redis_url: str, identity: Provider, port: int) -> None:
        self.url, self._folder, self._identity, self._port = f"http://127.0.0.1:{port}", folder, identity, port
        self._settings = {
            "url": url,
            "redis_url": redis_url,
            "public_url": "https://localhost:1",
            "oidc_issuer": identity.identity.url,
            "oidc_client_id": CLIENT_ID,
            "oidc_client_secret": CLIENT_SECRET,
            "oidc_admins": "groups=chiefs",
            "session_secret": "s" * 40,
            "per_user_keys": "true",
            "ask_above": "100000",
        }
        self._program: Program | None = None
        self._machines = 0

    def use(self, code: Path) -> None:
        """Replace what runs by the version whose code is there, on a machine with empty folders."""
        self.close()
        self._machines += 1
        folder = self._folder / f"machine {self._machines}"
        folder.mkdir()
        environ = {**environment(folder, None, **self._settings), "PYTHONPATH": str(code)}
        arguments = ["serve", "--http", "--port", str(self._port), "--workers", "2"]
        command = [sys.executable, "-P", "-m", "addin.cli.main", *arguments]  # the code of that folder, not of this one
        self._program = Program(command, environ, folder / "backend.log", f"{self.url}/health")
        self._program.start()

    def close(self) -> None:
        """End it."""
        if self._program is not None:
            self._program.stop()

    def sign_in(self, user: User, **claims: Any) -> None:
        """Sign a user in."""
        self._identity.identity.claims = {"sub": user.name, "name": user.name, **claims}
        with httpx.Client(trust_env=False, timeout=30) as http:
            begun = http.get(f"{self.url}/sign-in", headers=HTTPS)
            back = http.get(begun.headers["location"]).headers["location"].partition("/signed-in")[2]
            kept = {**HTTPS, "cookie": begun.headers["set-cookie"].split(";")[0]}
            ended = http.get(f"{self.url}/signed-in{back}", headers=kept)
        if ended.status_code != 200:
            raise AssertionError(f"sign-in: {ended.status_code} {ended.text[:200]}")
        user.cookie = ended.headers.get_list("set-cookie")[0].split(";")[0]

    def ask(self, user: User, method: str, path: str, content: object = None) -> httpx.Response:
        """One request of a user."""
        headers = {**HTTPS, "cookie": user.cookie}
        return httpx.request(method, self.url + path, json=content, headers=headers, timeout=60, trust_env=False)

    def sheet(self, user: User) -> list[Any]:
        """What the cells of a user's sheet show; raises `AssertionError` for who gets none."""
        answer = self.ask(user, "POST", "/functions/call", {"calls": CELLS})
        if answer.status_code != 200:
            raise AssertionError(f"{answer.status_code} {answer.text[:200]}")
        return [{name: cell.get(name) for name in ("value", "rows", "message")} for cell in answer.json()["answers"]]


def code_of(revision: str, folder: Path) -> Path:
    """The project as it was at a revision, in a folder."""
    archive = subprocess.run(["git", "archive", revision], cwd=PROJECT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(folder, filter="data")
    return folder


def attack(users: int, revision: str, folder: Path) -> Seen:
    """What so many users saw of an upgrade from a revision to this code, and of the rollback."""
    before, seen = code_of(revision, folder / "before"), Seen()
    ports = free_ports(2)
    with ExitStack() as stack:
        redis = stack.enter_context(RedisProcess(folder, "--appendonly", "yes", "--appendfsync", "always"))
        identity = Provider(ports[0])
        stack.callback(identity.stop)
        identity.start()
        store = stack.enter_context(Store(folder / "service.db"))
        import_directory(store, write_data(folder, SIGNALS))
        service = stack.enter_context(running(store))
        known = [User(f"user {number}", store.create_key("pro", cap=100_000)) for number in range(users)]
        leaver, admin = User("leaver", store.create_key("pro")), User("admin", "")
        made = Deployment(folder, service.url, redis.url, identity, ports[1])
        stack.callback(made.close)
        made.use(before)
        for user in (*known, leaver):
            made.sign_in(user)
            made.ask(user, "POST", "/me/key", {"key": user.key})
            user.shown = made.sheet(user)
            if not all(cell["value"] is not None or cell["rows"] for cell in user.shown):
                raise AssertionError(f"a sheet is not filled: {user.shown}")
        made.sign_in(admin, groups=["chiefs"])
        [row] = [row for row in made.ask(admin, "GET", "/people").json()["people"] if row["name"] == leaver.name]
        if made.ask(admin, "POST", f"/people/{row['id']}/stop", {}).status_code != 200:
            raise AssertionError("nobody could be stopped")
        for name, code in (("upgrade", PROJECT), ("rollback", before), ("upgrade again", PROJECT)):
            sent = sum(store.usage(user.key) for user in known)
            made.use(code)
            _look(made, name, known, leaver, seen)
            seen.bought.append(sum(store.usage(user.key) for user in known) - sent)
            if seen.bought[-1]:
                seen.wrong.append(f"{name}: {seen.bought[-1]} requests were bought again")
    return seen


def _look(made: Deployment, name: str, known: list[User], leaver: User, seen: Seen) -> None:
    for user in known:
        seen.sessions += 1
        if made.ask(user, "GET", "/me").status_code == 200:
            seen.sessions_kept += 1
        else:
            made.sign_in(user)
        shown = made.sheet(user)
        seen.cells += len(shown)
        changed = [number for number, cell in enumerate(shown) if cell != user.shown[number]]
        if changed:
            seen.wrong.append(f"{name}: {user.name} sees {shown[changed[0]]} for {user.shown[changed[0]]}")
    if (status := made.ask(leaver, "GET", "/me").status_code) != 401:
        seen.wrong.append(f"{name}: who was stopped got {status}")


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=3)
    parser.add_argument("--before", nargs="+", default=["HEAD~10", "HEAD~400"])
    given = parser.parse_args()
    cells = wrong = 0
    for revision in given.before:
        began = time.monotonic()
        with TemporaryDirectory(prefix="upgrade-") as folder:
            found = attack(given.users, revision, Path(folder))
        sys.stdout.write("".join(f"{line}\n" for line in found.wrong[:20]))
        sys.stdout.write(
            f"{revision}: {found.cells:,} cells, {found.sessions_kept} of {found.sessions} sessions kept, "
            f"requests {found.bought}, {time.monotonic() - began:.0f} s\n"
        )
        cells, wrong = cells + found.cells, wrong + len(found.wrong)
    conclude(Told(cells, wrong=wrong))


if __name__ == "__main__":
    main()
