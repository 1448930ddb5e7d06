"""One request to the server that forks programs. It imports little, because every `addin` of a shell runs it."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence

CONTROL = "TESTS_FORK_SERVER"
"""The environment variable with the descriptor of the server's socket, for programs that a shell starts."""


def hand_over(
    control: socket.socket,
    program: str,
    arguments: Sequence[str],
    environ: Mapping[str, str],
    cwd: str,
    streams: Sequence[int],
) -> socket.socket:
    """Ask for `module:function` with these streams; what comes back tells its pid, and later its exit code."""
    connection, theirs = socket.socketpair()
    with theirs:
        socket.send_fds(control, [b"+"], [theirs.fileno()])
    argv = [program.partition(".")[0], *arguments]
    socket.send_fds(connection, [b"+"], streams)
    request = {"program": program, "argv": argv, "environ": dict(environ), "cwd": cwd}
    connection.sendall(json.dumps(request).encode() + b"\n")
    return connection


def told(connection: socket.socket) -> int:
    """The next number that the server tells."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte:
            raise RuntimeError("the server that forks programs ended")
        line += byte
    return int(line)


def main() -> None:
    """Be the program of a shell: `connection.py module:function ARGUMENTS`."""
    control = socket.socket(fileno=int(os.environ[CONTROL]))
    connection = hand_over(control, sys.argv[1], sys.argv[2:], os.environ, os.getcwd(), [0, 1, 2])  # noqa: PTH109
    told(connection)
    os._exit(told(connection) & 0xFF)


if __name__ == "__main__":
    main()
