"""Which account of this machine a connection comes from: the loopback address belongs to all of them.

Linux tells the owner of a connection's other end. Only one that is still open has an owner: whoever sends a request
and closes at once is nobody.
"""

from __future__ import annotations

import os
import platform
import socket
import struct
import sys
from contextlib import suppress
from functools import cache

SOCK_DIAG, BY_FAMILY, REQUEST, ERROR = 4, 20, 1, 2
"""Numbers of the kernel: the protocol, the question for one socket, a request, and an answer that is an error."""

ALL_STATES = NO_COOKIE = 0xFFFFFFFF

HEAD, QUESTION = struct.Struct("=IHHII"), struct.Struct("=BBBxI")
OWNER = struct.Struct("=II")
OWNER_AT = HEAD.size + 4 + 48 + 12
"""Where the answer has the account and the inode: behind the states, the socket's id, a timer and two queues."""

ROOT = 0


def is_of_another_account(connection: socket.socket) -> bool:
    """Return whether the caller on the other end is known to be another account of this machine; root is none.

    False for callers elsewhere, and where the system cannot tell: on Windows and macOS, and for what comes out of
    Windows into its Linux.
    """
    if sys.platform != "linux":
        return False
    try:
        peer, own = connection.getpeername(), connection.getsockname()
    except OSError:
        return False  # it is gone, and gets no answer
    if not _is_loopback(str(peer[0])):
        return False
    try:
        owner = _owner(connection.family, peer, own)
    except OSError:
        return False
    return not _is_inside_windows() if owner is None else owner not in (ROOT, os.geteuid())


def _owner(family: int, peer: tuple[str, int], own: tuple[str, int]) -> int | None:
    """The account that holds the socket which is `peer` to us, None for nobody."""
    source, target = (socket.inet_pton(family, each[0]).ljust(16, b"\0") for each in (peer, own))
    wanted = struct.pack(">HH", peer[1], own[1]) + source + target + struct.pack("=III", 0, NO_COOKIE, NO_COOKIE)
    question = QUESTION.pack(family, socket.IPPROTO_TCP, 0, ALL_STATES) + wanted
    head = HEAD.pack(HEAD.size + len(question), BY_FAMILY, REQUEST, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, SOCK_DIAG) as kernel:
        kernel.settimeout(1.0)
        kernel.send(head + question)
        answer = kernel.recv(8_192)
    if HEAD.unpack_from(answer)[1] == ERROR or len(answer) < OWNER_AT + OWNER.size:
        return None
    account, inode = OWNER.unpack_from(answer, OWNER_AT)
    return int(account) if inode else None


def _is_loopback(address: str) -> bool:
    return address == "::1" or address.removeprefix("::ffff:").startswith("127.")


@cache
def _is_inside_windows() -> bool:
    with suppress(OSError):
        return "microsoft" in platform.uname().release.lower()
    return False
