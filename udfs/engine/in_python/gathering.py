"""Calls that Python makes one by one, answered together: those of one moment are one batch.

Whoever awaits many calls at a time, in tasks or in threads, means one question. As a batch they ask for what they share
once, and find out together which names do not exist.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from udfs.engine.batch import Batch, Reader
from udfs.engine.run import Run
from udfs.engine.scheduler import AT_A_TIME

GATHER_S = 0.005
"""How long nobody comes before those who wait are answered: far less than a request takes, and enough for threads."""

MOST_PAUSES = 100
"""After so many waits they are answered although others still come: half a second."""

MOST_LATE = 4
"""A wait that ends late, on a machine with much to do, shows little: others that are ready may not have had their turn.
So many of these do not count."""


class Gathering:
    """The calls of one session that came one by one; each is answered as soon as it has what it needs."""

    def __init__(self, reader: Reader, *, gather_s: float = GATHER_S) -> None:
        self._reader = reader
        self._gather_s = gather_s
        self._open: _Together | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def answer(self, run: Run, now: Callable[[], float]) -> None:
        """Bring `run` to its end, together with the other calls of these milliseconds."""
        together = self._open
        if together is None:
            together = _Together(self._reader, now())
        if not together.begin(run):
            return
        if self._open is None:
            self._open = together
            task = asyncio.ensure_future(self._end(together))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        await together.ended_of(run)

    async def _end(self, together: _Together) -> None:
        loop, late = asyncio.get_running_loop(), 0
        for _ in range(MOST_PAUSES):
            came, began = together.count, loop.time()
            await asyncio.sleep(self._gather_s)
            is_late = late < MOST_LATE and loop.time() - began > 2 * self._gather_s
            late += is_late
            if together.count == came and not is_late:
                break
        self._open = None
        await together.end()


class _Together:
    """One batch of such calls, and who waits for each of them: its own follower."""

    def __init__(self, reader: Reader, now: float) -> None:
        self.places = asyncio.Semaphore(AT_A_TIME)
        self._batch = Batch(reader, now)
        self._batch.follower = self
        self._waiting: dict[int, asyncio.Future[None]] = {}

    @property
    def count(self) -> int:
        """Return how many calls wait here."""
        return len(self._waiting)

    def begin(self, run: Run) -> bool:
        """Let `run` go as far as memory can answer; whether it has to wait then."""
        self._batch.begin(run)
        if not run.questions:
            return False
        self._waiting[id(run)] = asyncio.get_running_loop().create_future()
        return True

    async def ended_of(self, run: Run) -> None:
        """Wait until `run` has ended."""
        await self._waiting[id(run)]

    async def end(self) -> None:
        """Bring all to their end; whoever still waits after that learns of it."""
        try:
            await self._batch.end()
        except Exception as error:  # noqa: BLE001 - it is told to those who wait
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(error)

    def wants(self, run: Run) -> bool:
        """Return whether somebody still waits for it."""
        return not self._waiting[id(run)].done()

    def ended(self, run: Run) -> None:
        """Let whoever waits for it go on."""
        if not (future := self._waiting[id(run)]).done():
            future.set_result(None)
