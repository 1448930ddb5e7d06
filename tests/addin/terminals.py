"""Running `addin` on a terminal, with somebody who answers its questions."""

from __future__ import annotations

import os
import pty
import select
import signal
from collections.abc import Mapping, Sequence

from tests.addin.commands import command

CTRL_C, CTRL_D = "\x03", "\x04"
LIMIT_S = 30
"""A program that writes nothing for so long waits for an answer that nobody gives."""


def answered(
    words: Sequence[str], answers: Sequence[tuple[str, str]], *, environ: Mapping[str, str]
) -> tuple[int, str]:
    """The exit code and what the terminal showed: each answer is typed when its question has appeared.

    A question for a secret has appeared with the space behind it: before that the terminal still shows what is typed.
    """
    process, terminal = pty.fork()
    if process == 0:
        line = command(words)
        os.execve(line[0], line, dict(environ))
    shown, seen, left = b"", 0, list(answers)
    while piece := _read(terminal):
        shown += piece
        while left and (found := shown.find(left[0][0].encode(), seen)) >= 0:
            question, answer = left.pop(0)
            seen = found + len(question.encode())
            os.write(terminal, answer.encode() + (b"" if answer in (CTRL_C, CTRL_D) else b"\n"))
    if _is_silent(terminal):
        os.kill(process, signal.SIGKILL)
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert not left, f"never asked: {left[0][0]!r}; the terminal showed {shown.decode()!r}"
    return code, shown.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    """What was written, or nothing when the program has ended or says nothing more."""
    try:
        return b"" if _is_silent(terminal) else os.read(terminal, 65536)
    except OSError:
        return b""


def _is_silent(terminal: int) -> bool:
    return not select.select([terminal], [], [], LIMIT_S)[0]
