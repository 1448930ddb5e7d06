"""`addin` commands that keep running, in processes of their own."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.addin.commands import PROGRAM
from tests.forking import Forked, forked


@contextmanager
def started(*arguments: str, environ: Mapping[str, str]) -> Iterator[Forked]:
    """A command under way, with its output to read; ended with the block."""
    with forked(PROGRAM, arguments, environ=environ) as process:
        yield process


def ctrl_c(process: Forked) -> None:
    """Interrupt the command with all processes that it started, as a terminal does."""
    os.killpg(process.pid, signal.SIGINT)


def address_in(process: Forked, scheme: str = "http") -> str:
    """The first address that the command prints; the output goes on after its line."""
    assert process.stdout is not None
    for line in process.stdout:
        for word in line.split():
            if word.startswith(f"{scheme}://"):
                return word.rstrip(".,;")
    assert process.stderr is not None
    raise AssertionError(f"no address was printed: {process.stderr.read()}")
