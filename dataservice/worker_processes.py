"""Processes that share a port and end together: Ctrl-C reaches only the one that started them, and that at once."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
from multiprocessing import resource_tracker

from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

HEALTH_S = 60.0
"""A worker that does not move for so long is replaced; on a machine that is very busy, loading takes ten and more."""

_log = logging.getLogger(__name__)


class WorkerProcesses(Multiprocess):
    """Uvicorn's worker processes, until Ctrl-C or SIGTERM; one that dies, or does not move any more, is replaced.

    A terminal sends Ctrl-C to every process, and one that still loads would end with a traceback. So the workers never
    see it.
    """

    def run(self) -> None:
        """Start the workers, replace those that die, and end them all when told to."""
        if sys.platform != "win32":
            resource_tracker.ensure_running()  # it would lift the block when it is started with the first worker
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the workers inherit it
            threading.Thread(target=_ctrl_c_as_sigterm, name="wait for Ctrl-C", daemon=True).start()
        super().run()

    def init_processes(self) -> None:
        """Start the workers."""
        self.processes = [self._started() for _ in range(self.processes_num)]

    def keep_subprocess_alive(self) -> None:
        """Replace every worker that is not alive; end all if one cannot begin, as no other could."""
        for place, process in enumerate(self.processes):
            if process.is_alive(HEALTH_S):
                continue
            process.kill()
            process.join()
            if process.exitcode == STARTUP_FAILURE:
                _log.error("a worker could not begin; all end")
                self.should_exit.set()
                return
            self.processes[place] = self._started()

    def _started(self) -> Process:
        process = _Worker(self.config, self.sockets)
        process.start()
        return process


class _Worker(Process):
    """A worker that is asked whether it is alive without waiting for its answer.

    Whoever waits for one that loads, or that is killed before it answers, replaces no other meanwhile.
    """

    _asked_at: float | None = None

    def is_alive(self, timeout: float = 5) -> bool:
        """Whether it runs, and has answered what it was asked at least `timeout` seconds ago."""
        if not self.process.is_alive():
            return False
        now = time.monotonic()
        try:
            while self.parent_conn.poll():
                self.parent_conn.recv()
                self._asked_at = None
            if self._asked_at is None:
                self.parent_conn.send(b"ping")
                self._asked_at = now
        except (OSError, EOFError):
            return False
        return now - self._asked_at < timeout


def _ctrl_c_as_sigterm() -> None:
    """Wait for Ctrl-C, and tell the main thread as SIGTERM would."""
    while True:
        signal.sigwait({signal.SIGINT})
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
