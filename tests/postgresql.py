"""A PostgreSQL server of our own for tests and benchmarks, from the programs that this machine has."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sqlalchemy.engine import make_url

OPTIONS = "-c listen_addresses='' -c fsync={fsync} -c max_connections=200 -c unix_socket_directories='{folder}'"


@contextmanager
def postgresql_server(*, is_durable: bool = False) -> Iterator[str]:
    """The URL of an empty database, served over a socket in a folder that is removed afterwards.

    It waits for the disk at each commit only if `is_durable`.
    """
    programs = _programs()
    if programs is None:
        pytest.skip("no PostgreSQL server on this machine")
    # The server refuses to run as root, and whom it runs as must be able to reach its folder.
    is_root = os.geteuid() == 0
    with TemporaryDirectory(prefix="dataservice-postgresql-", dir="/tmp" if is_root else None) as name:
        folder = Path(name)
        who: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": []} if is_root else {}
        if is_root:
            shutil.chown(folder, "postgres", "postgres")

        def run(program: str, *options: str) -> None:
            command = [str(programs / program), "-D", str(folder / "data"), *options]
            subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, **who)

        options = OPTIONS.format(folder=folder, fsync="on" if is_durable else "off")
        run("initdb", "--username=service", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
        try:  # around the start too: whoever interrupts it leaves no server behind
            run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
            yield f"postgresql+psycopg://service@/postgres?host={folder}"
        finally:
            if (folder / "data" / "postmaster.pid").exists():
                run("pg_ctl", "-w", "-m", "immediate", "stop")


@contextmanager
def frozen(url: str) -> Iterator[None]:
    """Let no process of a server of ours move inside the block."""
    first = int((_folder(url) / "data" / "postmaster.pid").read_text(encoding="ascii").split()[0])
    children = Path(f"/proc/{first}/task/{first}/children")
    stopped: list[int] = []
    try:
        for pid in (first, *map(int, children.read_text(encoding="ascii").split())):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                stopped.append(pid)
        yield
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)


@contextmanager
def away(url: str) -> Iterator[None]:
    """Stop a server of ours inside the block, at once; it is started again at its end."""
    folder, programs = _folder(url), _programs()
    assert programs is not None
    who: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    command = [str(programs / "pg_ctl"), "-D", str(folder / "data"), "-w", "-l", str(folder / "log")]
    options = (folder / "data" / "postmaster.opts").read_text(encoding="utf-8").split(" ", 1)[1]
    subprocess.run([*command, "-m", "fast", "stop"], check=True, cwd=folder, stdout=subprocess.DEVNULL, **who)
    try:
        yield
    finally:
        again = [*command, "-o", options.strip().replace('"', "'"), "start"]
        subprocess.run(again, check=True, cwd=folder, stdout=subprocess.DEVNULL, **who)


def _folder(url: str) -> Path:
    return Path(str(make_url(url).query["host"]))


def is_installed() -> bool:
    """Whether this machine has a server's programs."""
    return _programs() is not None


def _programs() -> Path | None:
    """The folder of the server's programs: Debian has one for each version, outside of PATH."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    return versions[-1].parent if versions else None
