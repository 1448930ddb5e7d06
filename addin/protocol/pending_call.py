"""A call that is being answered, the posts that wait for it, and what settles it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from addin.protocol.encoding import encode
from addin.protocol.pending_batch import PendingBatch
from addin.protocol.response_cache import Ready
from udfs.engine import Call, Outcome, runs_last


@dataclass(eq=False, slots=True)
class PendingCall:
    """A call that is being answered, and until when somebody wants it."""

    batch: PendingBatch
    until: float
    ready: Ready | None = None
    is_given_up: bool = False
    is_refused: bool = False
    """Whether its answer is so because the batch may fetch nothing more."""
    posts: list[Post] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Return whether it is neither answered nor given up."""
        return self.ready is None and not self.is_given_up

    def settle(self, ready: Ready | None) -> None:
        """Take its answer, None to give it up; whoever waits learns of it."""
        if not self.is_open:
            return
        self.ready, self.is_given_up = ready, ready is None
        for post in self.posts:
            post.count_settled()
        self.posts.clear()

    def take_back(self) -> bool:
        """Give it up where its answer asks a question that has been answered since; whether that is so."""
        if self.is_refused and self.batch.is_answered:
            self.ready, self.is_given_up, self.is_refused = None, True, False
            return True
        return False


class Post:
    """A post that waits for its calls to settle."""

    def __init__(self) -> None:
        self._open = 0
        self._some = False
        self._enough = asyncio.Event()
        self._is_late = False

    def wait_for(self, calls: Sequence[PendingCall]) -> None:
        """Wait for these calls, too."""
        self._open += len(calls)
        for call in calls:
            call.posts.append(self)

    def count_settled(self) -> None:
        """One more has settled."""
        self._open -= 1
        self._some = True
        if not self._open or self._is_late:
            self._enough.set()

    async def wait(self, early_s: float, hold_s: float) -> None:
        """Wait until all have settled; after `early_s` until some have, after `hold_s` no longer."""
        if not self._open:
            return
        self._enough.clear()
        if await self._is_enough_within(early_s):
            return
        self._is_late = True
        if not self._some:
            await self._is_enough_within(hold_s - early_s)

    async def _is_enough_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._enough.wait()
        except TimeoutError:
            return False
        return True


class Evaluation:
    """Settles the calls of one batch as a session answers them; `settled` is called after each."""

    def __init__(
        self,
        wanted: Sequence[tuple[bytes, Call, PendingCall]],
        places: asyncio.Semaphore,
        settled: Callable[[bytes, PendingCall], None],
        *,
        clock: Callable[[], float],
        timer: Callable[[], float],
    ) -> None:
        self._wanted = wanted
        self._settled = settled
        self._clock = clock
        self._timer = timer
        self.places = places
        self._last: tuple[Outcome | None, bytes] = (None, b"")
        """Equal calls have one outcome, and are told of it one after the other."""

    def wants(self, place: int) -> bool:
        """Return whether a post of the last seconds holds the call."""
        wanted = self._wanted[place][2]
        return wanted.is_open and wanted.until > self._timer()

    def answered(self, place: int, outcome: Outcome) -> None:
        """Take the answer."""
        text, call, wanted = self._wanted[place]
        wanted.is_refused = wanted.batch.refused is not None and outcome.fresh_for_s == 0
        if self._last[0] is not outcome:
            self._last = outcome, encode(outcome, call.function_id)
        now = self._clock()
        wanted.settle(Ready(self._last[1], now + outcome.fresh_for_s, now, runs_last(call.function_id)))
        self._settled(text, wanted)

    def given_up(self, place: int) -> None:
        """Let go of the call."""
        text, _, wanted = self._wanted[place]
        wanted.settle(None)
        self._settled(text, wanted)
