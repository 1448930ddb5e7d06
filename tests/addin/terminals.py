"""Running `addin` on a terminal, with somebody who answers its questions."""

from __future__ import annotations

import os
import pty
import time
from collections.abc import Mapping, Sequence

from tests.addin.commands import command

CTRL_C, CTRL_D = "\x03", "\x04"
LIMIT_S = 60


def answered(
    words: Sequence[str], answers: Sequence[tuple[str, str]], *, environ: Mapping[str, str]
) -> tuple[int, str]:
    """The exit code and what the terminal showed: each answer is typed when its question has appeared."""
    process, terminal = pty.fork()
    if process == 0:
        line = command(words)
        os.execve(line[0], line, dict(environ))  # noqa: S606 - our own command
    shown, seen, left = b"", 0, list(answers)
    ends_at = time.monotonic() + LIMIT_S
    while time.monotonic() < ends_at and (piece := _read(terminal)):
        shown += piece
        if left and left[0][0].encode() in shown[seen:]:
            seen = len(shown)
            answer = left.pop(0)[1]
            os.write(terminal, answer.encode() + (b"" if answer in (CTRL_C, CTRL_D) else b"\n"))
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert not left, f"never asked: {left[0][0]!r}; the terminal showed {shown.decode()!r}"
    return code, shown.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    """What was written, or nothing when the program has ended."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
