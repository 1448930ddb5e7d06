"""A Redis or Valkey of one's own, which can be paused, killed and started again on its port."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
from contextlib import ExitStack, closing
from pathlib import Path
from types import TracebackType
from typing import Self


class RedisProcess:
    """Runs inside a `with` block; started again it is empty, as one without a disk is."""

    def __init__(self, folder: Path, *options: str, tls: bool = False, port: int = 0) -> None:
        found = shutil.which("valkey-server") or shutil.which("redis-server")
        if found is None:
            raise FileNotFoundError("no redis-server and no valkey-server on this machine")
        self.port = port or free_port()
        self.bus_port = 0
        """Where the nodes of a cluster talk to each other, if it is one."""
        self.url = f"{'rediss' if tls else 'redis'}://127.0.0.1:{self.port}/0"
        ports = ["--port", "0", "--tls-port", str(self.port)] if tls else ["--port", str(self.port)]
        given = [*ports, "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        given += ["--repl-diskless-sync-delay", "0", *options]
        self._command = [found, *given]
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        said = []
        for line in self._process.stdout:
            if "eady to accept connections" in line:
                return
            said.append(line)
        raise RuntimeError(f"it ended before it was ready: {said[-1:]}")

    def kill(self) -> None:
        """End it as the system does it."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def pause(self) -> None:
        """Stop it in the middle of whatever it does; connections stay open."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


def free_port() -> int:
    """A port that nobody uses at the moment."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """So many different ports that nobody uses at the moment."""
    with ExitStack() as stack:
        probes = [stack.enter_context(closing(socket.socket())) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
