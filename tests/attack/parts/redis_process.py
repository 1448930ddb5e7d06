"""A Redis or Valkey of one's own, which can be paused, killed and started again on its port."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self


class RedisProcess:
    """Runs inside a `with` block; started again it is empty, as one without a disk is."""

    def __init__(self, folder: Path, *options: str) -> None:
        found = shutil.which("valkey-server") or shutil.which("redis-server")
        if found is None:
            raise FileNotFoundError("no redis-server and no valkey-server on this machine")
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        given = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder), *options]
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
        for line in self._process.stdout:
            if "eady to accept connections" in line:
                return
        raise RuntimeError("it ended before it was ready")

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
