"""Starting a forked program, waiting for it, talking to it: as `subprocess` does it."""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Self

from tests.forking.connection import CONTROL, hand_over, told

SERVER = Path(__file__).with_name("server.py")
SHIM = SERVER.with_name("connection.py")
PROJECT = SERVER.parents[2]
LIMIT_S = 120


class Forked:
    """A running program; the names are those of `subprocess.Popen`."""

    def __init__(self, connection: socket.socket, stdout: IO[str] | None = None, stderr: IO[str] | None = None) -> None:
        self._connection = connection
        self.pid = told(connection)
        self.stdin: IO[str] | None = None
        self.stdout, self.stderr = stdout, stderr
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; return its exit code, or minus the signal that ended it."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = told(self._connection)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired("a forked program", timeout or 0) from None
            self._connection.close()
        return self.returncode

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Read what it prints until its end, and close its streams."""
        assert self.stdout is not None
        assert self.stderr is not None
        if self.stdin is not None:
            self.stdin.close()
        with self.stdout, self.stderr, ThreadPoolExecutor(1) as pool:
            errors = pool.submit(self.stderr.read)
            printed = self.stdout.read()
            self.wait(timeout)
            return printed, errors.result()

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, if it still runs."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.kill()
        self.wait()


def run_forked(
    program: str, arguments: Sequence[str], *, environ: Mapping[str, str], given: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `module:function` with arguments to its end; what it printed and its exit code."""
    with (
        tempfile.TemporaryFile("w+") as stdin,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
    ):
        stdin.write(given)
        stdin.seek(0)
        process = Forked(_fork(program, arguments, environ, cwd, [stdin.fileno(), out.fileno(), err.fileno()]))
        with process:
            code = process.wait(LIMIT_S)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess([program, *arguments], code, out.read(), err.read())


def run_code(code: str, *, environ: Mapping[str, str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a text of Python, which may await at its top level, to its end."""
    return run_forked("tests.forking.code:run", [], environ=environ, given=code, cwd=cwd)


@contextmanager
def forked(program: str, arguments: Sequence[str], *, environ: Mapping[str, str]) -> Iterator[Forked]:
    """`module:function` under way, with its output to read; ended with the block."""
    out, out_there = os.pipe()
    err, err_there = os.pipe()
    with Path(os.devnull).open() as stdin, os.fdopen(out) as stdout, os.fdopen(err) as stderr:
        try:
            connection = _fork(program, arguments, environ, None, [stdin.fileno(), out_there, err_there])
        finally:
            os.close(out_there)
            os.close(err_there)
        with Forked(connection, stdout, stderr) as process:
            yield process


def started_code(code: str, *arguments: str) -> Forked:
    """A text of Python with arguments under way, with pipes as its streams; who starts it awaits its end."""
    ends = [os.pipe() for _ in range(3)]
    (read_in, write_in), (read_out, write_out), (read_err, write_err) = ends
    theirs = [read_in, write_out, write_err]
    try:
        connection = _fork("tests.forking.code:run_argument", [code, *arguments], os.environ, None, theirs)
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    process = Forked(connection, os.fdopen(read_out), os.fdopen(read_err))
    process.stdin = os.fdopen(write_in, "w")
    return process


@contextmanager
def shell_programs(folder: Path) -> Iterator[Mapping[str, str]]:
    """Put `addin` and `dataservice` into a folder, as programs that fork; what a shell's environment needs for them."""
    folder.mkdir()
    for name in ("addin", "dataservice"):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{SHIM}" {name}.cli.main:main "$@"\n')
        script.chmod(0o755)
    descriptor = os.dup(_control().fileno())
    os.set_inheritable(descriptor, True)  # noqa: FBT003 - it takes no name
    try:
        yield {CONTROL: str(descriptor), "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    finally:
        os.close(descriptor)


def _fork(
    program: str, arguments: Sequence[str], environ: Mapping[str, str], cwd: Path | None, streams: Sequence[int]
) -> socket.socket:
    return hand_over(_control(), program, arguments, environ, str(cwd or Path.cwd()), streams)


@cache
def _control() -> socket.socket:
    """Start the server; it ends when this end of the connection is closed, with this process."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, str(SERVER), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(PROJECT), "OPENBLAS_NUM_THREADS": "1"},
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours
