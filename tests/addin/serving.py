"""`addin` commands that keep running, in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.addin.commands import command


@contextmanager
def started(*arguments: str, environ: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A command under way, with its output to read; ended with the block."""
    process = subprocess.Popen(
        command(arguments),
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ctrl_c(process: subprocess.Popen[str]) -> None:
    """Interrupt the command with all processes that it started, as a terminal does."""
    os.killpg(process.pid, signal.SIGINT)


def address_in(process: subprocess.Popen[str], scheme: str = "http") -> str:
    """The first address that the command prints; the output goes on after its line."""
    assert process.stdout is not None
    for line in process.stdout:
        for word in line.split():
            if word.startswith(f"{scheme}://"):
                return word.rstrip(".,;")
    assert process.stderr is not None
    raise AssertionError(f"no address was printed: {process.stderr.read()}")
