"""Work that takes seconds and much memory, in a process apart: with it both end, and the loop goes on meanwhile.

A lane works on one thing at a time. Of those who wait, who has used the least processor time lately goes first; who
takes long is ended when others wait.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import IO, assert_never
from weakref import WeakValueDictionary

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from addin.backend.http import declared_bytes
from addin.backend.limits.accounts import WAITS_S, MemoryBudget, account_of, busy
from addin.backend.limits.aside_worker import HEAD, OUT_OF_MEMORY, READY, Status, Work
from addin.backend.limits.processor import CallerTurns
from addin.config.secrets import without_secrets
from addin.errors import AddinError

LIMIT_S = 20.0
"""How long one piece of work may take."""

BESIDE_OTHERS_S = 4.0
"""The same while others wait: nearly everything that a user does takes a second."""

MEMORY_BYTES = 300 * 2**20
"""What such processes and their children may hold: a book of some hundred thousand cells."""

LEAST_BYTES = 128 * 2**20
"""What they may hold in any case: a book of ten thousand cells, in a process that has all modules."""

KEPT_BYTES = 128 * 2**20
"""A process that holds more after its work is ended, so that the memory goes back: one with all modules has 60 MB."""

IDLE_S = 60.0
"""Without work it is ended after so long, or at once while requests hold much."""

LARGE_BYTES = 2**19
"""For a larger body, lanes without work end their processes, a hundred MB each; one such of a payer is under way."""

HUGE_BYTES = 2**24
"""Of larger bodies, and of those whose size is not told, one at all is under way: each takes its room twice."""

MOST_OF_ONE = 8
"""Requests of one payer in a lane, from before their bodies are read: a page waits for one answer before the next."""

WATCHED_EVERY_S = 0.05


class UnreadableError(Exception):
    """The bytes are not what the work takes."""


class Lanes:
    """All lanes of a backend. Together they take at most `memory_bytes`, and less while requests hold much."""

    def __init__(self, memory: MemoryBudget, memory_bytes: int = MEMORY_BYTES) -> None:
        self.memory = memory
        self.memory_bytes = memory_bytes
        self._lanes: list[Lane] = []
        memory.filled = self.rest
        self._large = WeakValueDictionary[tuple[str, ...], asyncio.Lock]()
        """By payer, held by the one large request that is read or worked on; all huge ones have one of their own."""

    def __iter__(self) -> Iterator[Lane]:
        return iter(self._lanes)

    def add(self, lane: Lane) -> None:
        """Count what a lane takes."""
        self._lanes.append(lane)

    @asynccontextmanager
    async def large(self, caller: CallerTurns, *, is_huge: bool) -> AsyncIterator[None]:
        """Wait until no other large request of the payer, or huge one of any, is under way, until the block's end."""
        turn = self._large.setdefault(() if is_huge else caller.payers, asyncio.Lock())
        try:
            async with asyncio.timeout(WAITS_S):
                await turn.acquire()
        except TimeoutError:
            raise busy() from None
        try:
            yield
        finally:
            turn.release()

    def rest(self) -> None:
        """End the processes of lanes without work."""
        for lane in self._lanes:
            lane.rest()

    def may_hold(self, lane: Lane) -> int:
        """Return what a lane may hold beside what requests and other lanes hold, and what requests have left behind."""
        requests = min(self.memory.held + self.memory.left_bytes(), self.memory_bytes - LEAST_BYTES)
        return self.memory_bytes - requests - sum(each.held_bytes for each in self._lanes if each is not lane)


class Lane:
    """Works in a process of its own, on one thing after another."""

    def __init__(
        self,
        lanes: Lanes,
        *,
        limit_s: float = LIMIT_S,
        beside_others_s: float = BESIDE_OTHERS_S,
        idle_s: float = IDLE_S,
    ) -> None:
        self._processor = lanes.memory.processor
        self._limit_s, self._beside_others_s, self._idle_s = limit_s, beside_others_s, idle_s
        self._inside: list[CallerTurns] = []
        self._waiting: list[tuple[CallerTurns, asyncio.Future[None]]] = []
        self._running: CallerTurns | None = None
        self._process: WorkProcess | None = None
        self._ending: asyncio.TimerHandle | None = None
        self._lanes = lanes
        lanes.add(self)

    @asynccontextmanager
    async def entrance(self, request: Request) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        """Inside the block the caller may enter, once it is known who pays: the function raises 503 for too many.

        It waits where the request is large, and another large one of the payer is under way: each fills memory here
        and in the process.
        """
        caller = account_of(request).turns
        async with AsyncExitStack() as stack:

            async def enter() -> None:
                if sum(each.payers == caller.payers for each in self._inside) >= MOST_OF_ONE:
                    raise busy()
                self._inside.append(caller)
                stack.callback(self._inside.remove, caller)
                size = declared_bytes(request) or HUGE_BYTES + 1
                if size > LARGE_BYTES:
                    await stack.enter_async_context(self._lanes.large(caller, is_huge=size > HUGE_BYTES))

            yield enter

    async def run(self, work: Work, body: bytes, options: str, request: Request) -> bytes:
        """Return what `work` makes of the body; it is not begun for who has gone.

        Raises what `WorkProcess.run` raises, and `HTTPException` for what takes too much.
        """
        caller = account_of(request).turns
        gone = asyncio.ensure_future(_left(request))
        try:
            await self._turn(caller, gone)
            if len(body) > LARGE_BYTES:
                self._lanes.rest()
            began = time.monotonic()
            try:
                return await asyncio.to_thread(self._worked, work, body, options)
            finally:
                self._processor.count(caller, time.monotonic() - began)
                self._end_turn()
        finally:
            gone.cancel()

    def rest(self) -> None:
        """End the process, unless it works or is about to."""
        if self._running is None:
            self.close()

    def close(self) -> None:
        """End the process."""
        if self._ending is not None:
            self._ending.cancel()
        if self._process is not None:
            self._process.close()
            self._process = None

    @property
    def held_bytes(self) -> int:
        """Return what the process holds."""
        process = self._process
        return 0 if process is None else process.memory_bytes()

    @property
    def is_wanted_by_others(self) -> bool:
        """Return whether somebody else waits than who is worked for."""
        running = self._running
        return any(running is None or caller.payers != running.payers for caller, _ in self._waiting)

    async def _turn(self, caller: CallerTurns, gone: asyncio.Future[None]) -> None:
        if self._running is None:
            self._running = caller
        else:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((caller, turn))
            try:
                await asyncio.wait({turn, gone}, return_when=asyncio.FIRST_COMPLETED)
                if not turn.done():
                    raise ClientDisconnect
            except BaseException:
                self._waiting = [each for each in self._waiting if each[1] is not turn]
                if turn.done():
                    self._end_turn()
                raise
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None

    def _end_turn(self) -> None:
        self._running = None
        if self._waiting:
            next_one = min(self._waiting, key=lambda each: self._processor.rank(each[0]))
            self._waiting.remove(next_one)
            self._running = next_one[0]
            next_one[1].set_result(None)
        elif self._lanes.memory.is_filled:
            self.close()
        else:
            self._ending = asyncio.get_running_loop().call_later(self._idle_s, self.close)

    def _worked(self, work: Work, body: bytes, options: str) -> bytes:
        process = self._process
        if process is None or not process.is_alive:
            process = self._process = WorkProcess()
        may_hold = self._lanes.may_hold(self)
        try:
            return process.run(work, body, options, self._may_go_on, may_hold)
        except MemoryError:
            is_alone = may_hold >= self._lanes.memory_bytes - 2 * len(body)  # which is held where it came in, too
            raise self._too_large() if is_alone else busy() from None
        finally:
            if not process.is_alive or process.memory_bytes() > KEPT_BYTES:
                process.close()

    def _may_go_on(self, process: WorkProcess, took_s: float) -> None:
        """Raise `HTTPException` for work that takes too much."""
        limit_s = self._beside_others_s if self.is_wanted_by_others else self._limit_s
        if took_s > limit_s:
            raise HTTPException(503, f"this took longer than {limit_s:g} s, and was ended; ask for less in one go")
        held_bytes = process.memory_bytes()
        if held_bytes > self._lanes.memory_bytes:
            raise self._too_large()
        if held_bytes > self._lanes.may_hold(self):
            raise busy()

    def _too_large(self) -> HTTPException:
        most = f"{self._lanes.memory_bytes // 2**20:,} MB of memory"
        return HTTPException(413, f"this took more than {most}, and was ended; use a smaller book")


class WorkProcess:
    """A process that does one piece of work after another. It takes the processor last, and ends with its children."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from addin.backend.limits.aside_worker import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=without_secrets(os.environ),
            start_new_session=True,
        )

    @property
    def is_alive(self) -> bool:
        """Return whether it can be given work."""
        return self._process.poll() is None

    def run(
        self,
        work: Work,
        body: bytes,
        options: str,
        look: Callable[[WorkProcess, float], None],
        may_hold: int,
    ) -> bytes:
        """Return what the work makes of the body. `look` sees now and then how long it takes; what it raises ends it.

        Raises `AddinError` for what the work refuses, `UnreadableError` for a body that is none, `MemoryError` where
        the process itself would hold more than `may_hold` bytes, and `RuntimeError`.
        """
        refusal: list[Exception] = []
        try:
            self._send(work.__module__.encode(), work.__qualname__.encode())
            _read(_pipe(self._process.stdout), len(READY))
            with self._watched(look, refusal):
                self._send(str(may_hold).encode(), options.encode(), body)
                status, content = self._reply()
        except (OSError, EOFError, ValueError):
            self.end()
            status, content = Status.FAILED, b"the process ended"
        if refusal:
            raise refusal[0]
        if self._process.returncode == OUT_OF_MEMORY:
            raise MemoryError
        match status:
            case Status.DONE:
                return content
            case Status.REFUSED:
                raise AddinError(content.decode())
            case Status.UNREADABLE:
                raise UnreadableError
            case Status.FAILED:
                raise RuntimeError(content.decode())
            case _:
                assert_never(status)

    def memory_bytes(self) -> int:
        """Return what it and its children hold now; 0 where the system does not tell."""
        return sum(map(_held_bytes, processes_of(self._process.pid))) if self.is_alive else 0

    def end(self) -> None:
        """End it, with its children."""
        if sys.platform == "win32":
            self._process.kill()
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """End it, and close what led to it."""
        self.end()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError, EOFError):  # something was still to be sent to it
                _pipe(pipe).close()

    @contextmanager
    def _watched(self, look: Callable[[WorkProcess, float], None], refusal: list[Exception]) -> Iterator[None]:
        """Inside the block `look` sees how it goes; what it raises is put into `refusal`, and the process ended."""
        ended, began = threading.Event(), time.monotonic()

        def watch() -> None:
            while not ended.wait(WATCHED_EVERY_S):
                try:
                    look(self, time.monotonic() - began)
                except HTTPException as error:
                    refusal.append(error)
                    self.end()
                    return

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()

    def _send(self, *texts: bytes) -> None:
        into = _pipe(self._process.stdin)
        for text in texts:
            into.write(HEAD.pack(0, len(text)))
            into.write(text)
        into.flush()

    def _reply(self) -> tuple[Status, bytes]:
        out = _pipe(self._process.stdout)
        status, length = HEAD.unpack(_read(out, HEAD.size))
        return Status(status), _read(out, length)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def processes_of(pid: int) -> Iterator[int]:
    """The ids of a process and of all that it started."""
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text(encoding="ascii").split():
                yield from processes_of(int(child))


def _held_bytes(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
        return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE")  # without files, which are shared
    return 0


def _read(pipe: IO[bytes], size: int) -> bytes:
    content = pipe.read(size)
    if len(content) < size:
        raise EOFError
    return content


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise EOFError
    return pipe
