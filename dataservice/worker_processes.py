"""Processes that share a port: started, watched, replaced one after another, and ended by the one that started them."""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess, parent_process
from typing import Any, Protocol

import uvicorn

LOOK_S = 1.0
"""The pause between two looks at the workers; the end of one is noticed at once."""

BEAT_S, FIRST_BEAT_S = 1.0, 0.05
"""How often a worker's event loop says that it moves, and how soon that it has begun to answer."""

LOAD_S = 120.0
"""A worker that has not begun after so long never will; on a machine that is very busy, loading takes ten and more."""

STALL_S = 30.0
"""A worker whose event loop does not move for so long is replaced: no call may hold it for longer than a second."""

SHORT_LIFE_S = 5.0
RESTART_PAUSE_S = 1.0
"""One that ended so soon after it began would end again at once: the next one is started after a pause."""

END_S = 5.0
"""How much longer than they were granted workers may take to end, before they are killed."""

_log = logging.getLogger(__name__)
_SPAWN = multiprocessing.get_context("spawn")


class Work(Protocol):
    """The work of a worker until SIGTERM; it goes to another process, so it can be pickled.

    It calls `beat` every second from its event loop, for the first time when it answers.
    """

    def __call__(self, beat: Callable[[], None]) -> None:
        """Work until told to stop."""


class NoWorkerError(Exception):
    """Not one worker could begin; its own log says why."""


class _Worker:
    """One process: what it does, since when, and when its event loop last moved."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.began_at = time.monotonic()
        self.ends_by: float | None = None
        """Until when it may take to end, once it was told to."""
        self._beat = _SPAWN.Value("d", 0.0, lock=False)
        self.process: BaseProcess = _SPAWN.Process(target=_run, args=(work, self._beat), daemon=False)
        with _ctrl_c_blocked():  # the worker inherits it
            self.process.start()

    @property
    def answers(self) -> bool:
        """Return whether it has begun to answer."""
        return bool(self._beat.value > 0.0)

    def problem(self, now: float, awake_since: float, stall_s: float) -> str | None:
        """Return why it has to be ended; None while it does its work. This process itself moves since `awake_since`."""
        if self.ends_by is not None:
            return "did not end in time" if now > self.ends_by else None
        if not self.answers:
            return f"did not begin within {LOAD_S:g} s" if now - max(self.began_at, awake_since) > LOAD_S else None
        is_still = now - max(self._beat.value, awake_since) > stall_s
        return f"has not moved for {stall_s:g} s" if is_still else None

    def stop(self, within_s: float) -> None:
        """Tell it to end what is under way."""
        if self.ends_by is None:
            self.ends_by = time.monotonic() + within_s
            self.process.terminate()

    def kill(self, *, dump: bool = False) -> None:
        """End it; with `dump` it first writes to its log where each thread stands."""
        if dump and self.process.pid is not None and sys.platform != "win32":
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGABRT)
            self.process.join(LOOK_S)
        self.process.kill()
        self.process.join()


class WorkerProcesses:
    """So many processes that each do `work`, until Ctrl-C or SIGTERM; one that dies or does not move is replaced.

    On SIGHUP each is replaced by one that does what `reload` returns, None to keep what they do now: the next one is
    told to end only when its successor answers. `let_go` is called once when all are told to end, before they are;
    that may take `stop_s` seconds.
    """

    def __init__(
        self,
        work: Work,
        count: int,
        *,
        stop_s: float,
        stall_s: float = STALL_S,
        reload: Callable[[], Work | None] = lambda: None,
        let_go: Callable[[], object] = lambda: None,
    ) -> None:
        self._work = work
        self._count = count
        self._stop_s, self._stall_s = stop_s, stall_s
        self._reload = reload
        self._let_go = let_go
        self._workers: list[_Worker] = []
        """Those that answer or are to; the oldest first."""
        self._leaving: list[_Worker] = []
        self._start_at = 0.0
        """Before this moment no further one is started."""
        self._awake_since = time.monotonic()
        self._has_answered = False

    def run(self) -> None:
        """Work until told to stop; raises `NoWorkerError` where not one could begin."""
        if sys.platform != "win32":
            resource_tracker.ensure_running()  # its own start would let Ctrl-C through to a worker
        with _told_by_signals() as told:
            try:
                self._watch(told)
            finally:
                self._let_go()
                self._end(told)

    def _watch(self, told: Connection) -> None:
        while True:
            self._fill()
            looked_at = time.monotonic()
            wait([told, *(each.process.sentinel for each in (*self._workers, *self._leaving))], LOOK_S)
            if time.monotonic() - looked_at > 2 * LOOK_S:  # this process stood still, and so perhaps did the machine
                self._awake_since = time.monotonic()
            while told.poll():
                if told.recv() != getattr(signal, "SIGHUP", None):
                    return
                self._renew()
            self._look()

    def _renew(self) -> None:
        work = self._reload()
        if work is not None:
            _log.warning("the workers are replaced one after another")
            self._work = work

    def _fill(self) -> None:
        """Start those that are missing, and one more while earlier ones are to be replaced."""
        are_old = any(each.work is not self._work for each in self._workers)
        wanted = self._count + are_old
        while len(self._workers) < wanted and time.monotonic() >= self._start_at:
            self._workers.append(_Worker(self._work))

    def _look(self) -> None:
        now = time.monotonic()
        for worker in (*self._workers, *self._leaving):
            if not worker.process.is_alive():
                self._gone(worker, now)
            elif problem := worker.problem(now, self._awake_since, self._stall_s):
                _log.error("worker %s %s; it is ended", worker.process.pid, problem)
                worker.kill(dump=True)
                self._gone(worker, now)
        self._has_answered |= any(each.answers for each in self._workers)
        old = next((each for each in self._workers if each.work is not self._work), None)
        if old is not None and sum(each.answers for each in self._workers) > self._count:
            self._workers.remove(old)
            self._leaving.append(old)
            old.stop(self._stop_s + END_S)

    def _gone(self, worker: _Worker, now: float) -> None:
        worker.process.join()
        if worker in self._leaving:
            self._leaving.remove(worker)
            return
        self._workers.remove(worker)
        code = worker.process.exitcode
        could_not_begin = not worker.answers and (code or 0) > 0  # a signal's number is negative
        if could_not_begin and not self._has_answered:
            raise NoWorkerError(f"a worker could not begin (exit code {code}); its own lines above say why")
        if could_not_begin and self._workers and self._workers[0].work is not self._work:
            _log.error("a worker could not begin with what was read anew; the others go on as before")
            self._work = self._workers[0].work
        if now - worker.began_at < SHORT_LIFE_S:
            self._start_at = now + RESTART_PAUSE_S
        _log.warning("worker %s ended (%s); another takes its place", worker.process.pid, code)

    def _end(self, told: Connection) -> None:
        """End all of them; whoever asks a second time does not wait."""
        everyone = [*self._workers, *self._leaving]
        for worker in everyone:
            worker.stop(self._stop_s + END_S)
        while left := [each for each in everyone if each.process.is_alive()]:
            wait([told, *(each.process.sentinel for each in left)], LOOK_S)
            is_hurried = told.poll() and told.recv() is not None
            for worker in left:
                if is_hurried or worker.problem(time.monotonic(), self._awake_since, self._stall_s):
                    # To be killed at once is what whoever asks twice wants.
                    _log.log(logging.INFO if is_hurried else logging.ERROR, "worker %s is killed", worker.process.pid)
                    worker.kill(dump=not is_hurried)
        for worker in everyone:
            worker.process.join()


def answer(server: uvicorn.Server, listener: socket.socket, beat: Callable[[], None]) -> None:
    """Let a worker's server answer on `listener` until SIGTERM; its event loop says every second that it moves."""

    async def answering() -> None:
        beating = asyncio.create_task(_beat(server, beat))
        try:
            await server.serve(sockets=[listener])
        finally:
            beating.cancel()

    with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.run(answering())


async def _beat(server: uvicorn.Server, beat: Callable[[], None]) -> None:
    while True:
        if server.started:
            beat()
        await asyncio.sleep(BEAT_S if server.started else FIRST_BEAT_S)


def _run(work: Work, beat: Any) -> None:
    """Do the work of a worker's process."""
    faulthandler.enable()  # a worker that does not move is asked with SIGABRT where it stands
    threading.Thread(target=_end_with_parent, name="watch the parent", daemon=True).start()

    def move() -> None:
        beat.value = time.monotonic()

    work(move)


def _end_with_parent() -> None:
    """End this process when the one that started it is gone: nobody else would end it."""
    if (parent := parent_process()) is not None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def _told_by_signals() -> Iterator[Connection]:
    """Return what Ctrl-C, SIGTERM and SIGHUP tell this process, to be waited for beside its workers."""
    told, tell = multiprocessing.Pipe(duplex=False)
    numbers = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if sys.platform != "win32" else [])]
    before = {each: signal.signal(each, lambda number, _: tell.send(number)) for each in numbers}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        told.close()
        tell.close()


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Inside the block, Ctrl-C waits: a terminal sends it to every process, and only the first one is to see it."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
