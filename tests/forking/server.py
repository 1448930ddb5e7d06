"""A process that has imported the packages, and forks a program for every connection that it is handed.

A connection brings three file descriptors (the program's streams) and one line of JSON (what to run). It gets a line
with the program's pid at once, and one with its exit code at its end.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NoReturn

PACKAGES = ("addin", "udfs", "dataservice")
LEFT_OUT = ("addin.calc.component", "addin.desktop", "addin.workbook.calculation.engine.")
"""What runs elsewhere, or is slow to import and seldom used."""

LATER = (
    "anyio._backends._asyncio",
    "httpcore",
    "lxml.etree",
    "openpyxl",
    "pandas",
    "rich.console",
    "rich.progress",
    "rich.table",
    "typer._adapters",
)
"""What commands import while they run; a part of a package that its lowest version does not have yet is left out."""


def main() -> None:
    """Take connections from the socket whose descriptor is given, until its other end is closed."""
    sys.path[0] = ""  # the folder that the program runs in, as for a program of its own
    sys.modules["httpx._main"] = None  # type: ignore[assignment]  # as `addin` itself does
    for name in _modules():
        importlib.import_module(name)
    for name in LATER:
        with suppress(ModuleNotFoundError):
            importlib.import_module(name)
    assert threading.active_count() == 1, threading.enumerate()
    gc.freeze()
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who serve a connection
    while (handed := socket.recv_fds(control, 1, 1))[0]:
        connection = socket.socket(fileno=handed[1][0])
        if os.fork() == 0:
            control.close()
            _serve(connection)
        connection.close()


def _modules() -> Iterator[str]:
    """All modules of the packages: what a command imports as it begins would cost each of a thousand starts."""
    for package in PACKAGES:
        found = pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
        yield from (each.name for each in found if not each.name.startswith(LEFT_OUT) and "__main__" not in each.name)


def _serve(connection: socket.socket) -> NoReturn:
    """Start the program, and tell its pid and its end."""
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    request = connection.makefile("rb").readline()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    program = os.fork()
    if program == 0:
        connection.close()
        _become(json.loads(request), streams)
    for stream in streams:
        os.close(stream)
    try:
        connection.sendall(b"%d\n" % program)
        _, status = os.waitpid(program, 0)
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    except OSError:
        pass  # nobody listens any more
    os._exit(0)


def _become(request: dict[str, Any], streams: list[int]) -> NoReturn:
    """Run the program as if this process had been started for it."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request["environ"])
    os.chdir(request["cwd"])
    time.tzset()
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False, buffering=1 if unbuffered else -1)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1, errors="backslashreplace")  # noqa: SIM115
    sys.argv = request["argv"]
    code = _exit_code(request)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 120  # as the interpreter itself does
    os._exit(code)


def _exit_code(request: dict[str, Any]) -> int:
    """Call the program; its exit code, as the interpreter would give it."""
    try:
        module, _, name = request["program"].partition(":")
        getattr(importlib.import_module(module), name)()
        threading._shutdown()  # type: ignore[attr-defined]
    except SystemExit as end:
        threading._shutdown()  # type: ignore[attr-defined]
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        sys.stderr.write(f"{end.code}\n")
        return 1
    except KeyboardInterrupt:
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        return 130
    except BaseException:  # noqa: BLE001 - whatever it is, the interpreter would print it
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    main()
