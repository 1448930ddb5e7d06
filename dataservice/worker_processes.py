"""Processes that share a port and end together: Ctrl-C reaches only the one that started them, and that at once."""

from __future__ import annotations

import signal
import sys
import threading
from multiprocessing import active_children, resource_tracker

from uvicorn.supervisors import Multiprocess


class WorkerProcesses(Multiprocess):
    """Uvicorn's worker processes, until Ctrl-C or SIGTERM.

    A terminal sends Ctrl-C to every process, and one that still loads would end with a traceback. And this process
    would wait until it has loaded, because it is asking whether it is alive. So the workers never see Ctrl-C, and the
    question is broken off.
    """

    def run(self) -> None:
        """Start the workers, replace those that die, and end them all when told to."""
        if sys.platform == "win32":
            super().run()
            return
        self._is_starting = False
        resource_tracker.ensure_running()  # it would lift the block when it is started with the first worker
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the workers inherit it
        threading.Thread(target=_ctrl_c_as_sigterm, name="wait for Ctrl-C", daemon=True).start()
        signal.signal(signal.SIGTERM, self._end)
        try:
            super().run()
        except _EndedError:
            _end_children()

    def init_processes(self) -> None:
        """Start the workers, each of them wholly: nobody would end one that is started by half."""
        self._is_starting = True
        super().init_processes()
        self._is_starting = False

    def _end(self, *_: object) -> None:
        if self.should_exit.is_set():
            return  # it ends already
        self.should_exit.set()
        if not self._is_starting:
            raise _EndedError


class _EndedError(Exception):
    """This process was told to end."""


def _ctrl_c_as_sigterm() -> None:
    """Wait for Ctrl-C, and interrupt what the main thread waits for."""
    while True:
        signal.sigwait({signal.SIGINT})
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


def _end_children() -> None:
    children = active_children()
    for child in children:
        child.terminate()
    for child in children:
        child.join()
