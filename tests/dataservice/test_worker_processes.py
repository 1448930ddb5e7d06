"""Worker processes: one that was stopped in the middle of its work is ended, and another takes its place."""

import multiprocessing
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import pytest

from dataservice.worker_processes import WorkerProcesses
from tests.addin.backend.workers.workers import PATIENCE_S, Workers

STALL_S = 1.5


@dataclass(frozen=True)
class Moving:
    """Says twenty times a second that it moves, until it is ended; in a folder stands who has begun."""

    folder: Path

    def __call__(self, beat):
        """Move."""
        while True:
            beat()
            (self.folder / str(os.getpid())).touch()
            Event().wait(0.05)


def watch_two(folder):
    """Watch two workers in a process of their own."""
    WorkerProcesses(Moving(folder), 2, stop_s=1.0, stall_s=STALL_S).run()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists a process's children in /proc")
def test_a_stopped_worker_is_replaced_and_the_others_go_on(tmp_path):
    def begun():
        return {int(each.name) for each in tmp_path.iterdir()}

    watching = multiprocessing.get_context("spawn").Process(target=watch_two, args=(tmp_path,))
    watching.start()
    workers = Workers("", watching)
    try:
        until(lambda: len(begun()) == 2)
        stopped, other = begun()
        os.kill(stopped, signal.SIGSTOP)
        until(lambda: len(begun()) == 3)
        [instead] = begun() - {stopped, other}
        assert set(workers.pids) == {other, instead}
    finally:
        watching.terminate()
        watching.join(PATIENCE_S)
    assert watching.exitcode == 0


def until(holds):
    """Wait until something holds."""
    ends = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < ends
        Event().wait(0.05)
