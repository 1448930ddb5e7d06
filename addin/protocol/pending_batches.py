"""Calls that load: a post is answered within about two seconds with what is there, and made again for the rest.

A call that was posted is answered in the background, once for all posts that hold it. A call that nobody posts any
more is given up after some seconds: then nothing more is fetched for it. Requests are told once, as soon as they are
known, to a post that holds a call of the same batch.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import not_

from addin.protocol.batch import CALLS_READ_TOGETHER, INVALID_CALL_TTL_S, read_together
from addin.protocol.consent import Consent
from addin.protocol.encoding import CALLS_A_TURN, NO_ROOM, Answers, completed, encode_error
from addin.protocol.limits import BatchLimits
from addin.protocol.load_progress import LoadProgress
from addin.protocol.pending_batch import PendingBatch
from addin.protocol.pending_call import Evaluation, PendingCall, Post
from addin.protocol.readers import LastAnswered, guarded
from addin.protocol.response_cache import Ready, ResponseCache
from dataservice.client import Meter
from udfs.engine import Call, Session, in_background, in_turns, next_turn
from udfs.errors import CellError, error_cell

EARLY_S = 1.0
"""A post is answered after so long if some of its calls are: first values are seen soon, and posts stay few."""

HOLD_S = 2.0
"""A post is answered after so long in any case."""

INTEREST_S = 6.0
"""How long after its last post a call is still wanted: a page posts again at once, but it may be busy."""

ROOM_LOOKS = 20
"""A post without room looks for it so many times: others' calls have their answers all the time."""

LOOK_S = 1.0
"""How often answers that nobody comes for are looked for."""

WANTED_BYTES = 2_000
"""What a call takes that is being answered: from 1,300 for one that is wrong to 3,500 for one that is fetched."""

FETCHED_AT_A_TIME = 128
"""Twice what the client sends at a time: no connection waits for work, and little is under way when a page goes."""

PENDING = Ready(b'{"pending":true,"fresh_s":', 0.0)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PartialReply:
    """The reply to a post: its answers, how many are still to come, and how far all batches of the key are."""

    answers: Answers
    pending: int
    done: int
    of: int
    left_s: float | None


class PendingBatches:
    """The calls of one key that are being answered.

    `late` counts what is told to any post; `clock` tells the time of day, `timer` counts seconds; `early_s` and
    `hold_s` are how long a post waits for more when some of its calls are answered, and when none is.
    """

    def __init__(
        self,
        session: Session,
        cache: ResponseCache,
        consent: Consent,
        *,
        deadline_s: float,
        late: Meter,
        limits: BatchLimits,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
        early_s: float = EARLY_S,
        hold_s: float = HOLD_S,
    ) -> None:
        self._early_s = early_s
        self._hold_s = hold_s
        self._session = session
        self._cache = cache
        self._consent = consent
        self._deadline_s = deadline_s
        self._late = late
        self._limits = limits
        self._clock = clock
        self._timer = timer
        self._wanted: dict[bytes, PendingCall] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._last_answered = LastAnswered()
        self._places = asyncio.Semaphore(FETCHED_AT_A_TIME)
        self._progress = LoadProgress()
        self._held_bytes = 0
        """Of answers that no post has taken yet."""
        self._looked_at = float("-inf")

    async def answer(
        self, calls: Sequence[bytes], where: str, has_room: Callable[[int], bool] = lambda _: True
    ) -> PartialReply:
        """Return what is known of `calls` within `HOLD_S`, in their order; `where` tells how to answer a question.

        `has_room` tells whether calls of so many bytes more may be held. As long again is waited for that; if there
        still is none, they are pending, too, and nothing is fetched for them.
        """
        await next_turn()
        await self._forget_unwanted()
        found: list[Ready | None] = []
        told: set[PendingBatch] = set()
        async for part in in_turns(calls, CALLS_A_TURN):
            fresh = self._cache.all_fresh(part, self._clock())
            told.update(wanted.batch for wanted in self._taken_from_cache(part, fresh))
            found += fresh
        missing = list(compress(calls, map(not_, found)))
        post, held = Post(), dict[bytes, PendingCall]()
        if await self._is_room(self._new_bytes(missing), has_room):
            await self._hold(missing, held, where)
        async for some in in_turns(list(held.values()), CALLS_A_TURN):
            post.wait_for([wanted for wanted in some if wanted.is_open])
        await post.wait(self._early_s, self._hold_s)
        await next_turn()
        taken: dict[bytes, Ready] = {}
        async for items in in_turns(list(held.items()), CALLS_A_TURN):
            taken.update(self._deliver(items))
            told.update(wanted.batch for _, wanted in items)
        await next_turn()
        answers = [ready for ready in found if ready is not None]
        if missing:
            answers = [ready or taken.get(call) or PENDING for call, ready in zip(calls, found, strict=True)]
        pending = len(missing) - len(taken)
        requests = sum(batch.untold.take() for batch in told) + self._late.take()
        whole = await completed(answers, self._clock(), self._limits.answer_bytes, requests)
        progress = self._progress
        return PartialReply(whole, pending, progress.done, progress.of, progress.left_s(self._timer()))

    @property
    def held_bytes(self) -> int:
        """About how much memory the calls take that are being answered, with answers that no post has taken yet."""
        return WANTED_BYTES * len(self._wanted) + self._held_bytes

    def _new_bytes(self, calls: Sequence[bytes]) -> int:
        """About how much more memory it would take to answer these calls, too."""
        wanted = self._wanted
        return WANTED_BYTES * (sum([call not in wanted for call in calls]) if wanted else len(calls))

    @property
    def is_busy(self) -> bool:
        """Return whether anything is being answered."""
        return bool(self._tasks)

    def drop(self, calls: Iterable[bytes]) -> None:
        """Let nothing more be fetched for `calls`, unless another post comes for them."""
        for call in calls:
            if call in self._wanted:
                self._wanted[call].until = float("-inf")

    def forget(self) -> None:
        """Answer every call again from now on: what is under way may predate a refresh."""
        wanted, self._wanted = self._wanted, {}
        self._progress, self._held_bytes = LoadProgress(), 0
        for each in wanted.values():
            each.settle(None)
            self._late.add(each.batch.untold.take())

    async def aclose(self) -> None:
        """End what is under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _is_room(self, held_bytes: int, has_room: Callable[[int], bool]) -> bool:
        """Return whether there is room for so much more, as soon as there is, or after `HOLD_S`."""
        for _ in range(ROOM_LOOKS):
            if has_room(held_bytes):
                return True
            await asyncio.sleep(self._hold_s / ROOM_LOOKS)
        return False

    async def _hold(self, calls: Sequence[bytes], held: dict[bytes, PendingCall], where: str) -> None:
        """Put each call into `held`, as it is being answered; those that are not begin together."""
        until = self._timer() + self._hold_s + INTEREST_S
        batch, new = PendingBatch(self._consent, where), dict[bytes, PendingCall]()
        try:
            async for part in in_turns(calls, CALLS_A_TURN):
                for call in part:
                    wanted = self._wanted.get(call)
                    if wanted is None:
                        wanted = self._wanted[call] = new[call] = PendingCall(batch, until)
                    wanted.until = until
                    held[call] = wanted
        finally:  # also if this post is broken off: another one may hold some of them by now
            if new:
                self._begin(batch, new)

    def _begin(self, batch: PendingBatch, new: dict[bytes, PendingCall]) -> None:
        self._progress.begin(len(new), self._timer())
        task = asyncio.ensure_future(self._evaluate(batch, new))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _taken_from_cache(self, calls: Sequence[bytes], found: Sequence[Ready | None]) -> list[PendingCall]:
        """Let go of the calls whose answers have reached the cache by now, and return them."""
        taken = []
        for call, ready in zip(calls, found, strict=True) if self._wanted else ():
            wanted = self._wanted.get(call) if ready is not None else None
            if wanted is not None and wanted.ready is not None:
                self._let_go(call, wanted.ready)
                taken.append(wanted)
        return taken

    def _deliver(self, held: Iterable[tuple[bytes, PendingCall]]) -> Iterator[tuple[bytes, Ready]]:
        """Let go of what a post takes with it, and give the calls that are answered, with their answers."""
        for call, wanted in held:
            ready = wanted.ready
            if ready is not None:
                is_taken_back = wanted.take_back()
                if self._wanted.get(call) is wanted:
                    self._let_go(call, ready)
                if not is_taken_back:
                    yield call, ready

    async def _forget_unwanted(self) -> None:
        """Let go of answers that nobody has come for."""
        now = self._timer()
        if now - self._looked_at < LOOK_S:
            return
        self._looked_at = now
        async for part in in_turns(list(self._wanted.items()), CALLS_A_TURN):
            for call, wanted in part:
                if wanted.until <= now and wanted.ready is not None and self._wanted.get(call) is wanted:
                    self._let_go(call, wanted.ready)
                    self._late.add(wanted.batch.untold.take())

    def _forget_later(self) -> None:
        task = asyncio.ensure_future(self._forget_unwanted())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _let_go(self, call: bytes, ready: Ready) -> None:
        del self._wanted[call]
        self._held_bytes -= len(ready.head)

    async def _evaluate(self, batch: PendingBatch, wanted: dict[bytes, PendingCall]) -> None:
        in_background()
        try:
            await self._answer(batch, wanted)
        except Exception as error:  # noqa: BLE001 - whatever it is, every cell ends
            _log.exception("a batch failed")
            failed = Ready(encode_error(error_cell(error, "This")), 0.0)
            for text, each in wanted.items():
                if each.is_open:
                    each.settle(failed)
                    self._settled(text, each)
        finally:
            batch.untold.pass_to(self._late)  # reads that go on for nobody
            if not any(each.ready and self._wanted.get(text) is each for text, each in wanted.items()):
                self._late.add(batch.untold.take())
            asyncio.get_running_loop().call_later(self._hold_s + INTEREST_S + LOOK_S, self._forget_later)

    async def _answer(self, batch: PendingBatch, wanted: dict[bytes, PendingCall]) -> None:
        valid: list[tuple[bytes, Call, PendingCall]] = []
        async for part in in_turns(list(wanted.items()), CALLS_READ_TOGETHER):
            read = await read_together([text for text, _ in part], self._limits)
            for (text, each), call in zip(part, read, strict=True):
                if isinstance(call, CellError):
                    now = self._clock()
                    each.settle(Ready(encode_error(call), now + INVALID_CALL_TTL_S, now))
                    self._settled(text, each)
                else:
                    valid.append((text, call, each))
        evaluation = Evaluation(valid, self._places, self._settled, clock=self._clock, timer=self._timer)
        calls = [call for _, call, _ in valid]
        client, answered = self._session.client, self._last_answered
        reader = guarded(client, batch, deadline_s=self._deadline_s, late=self._late, last_answered=answered)
        await self._session.follow(calls, evaluation, reader=reader, gate=reader.gate)

    def _settled(self, text: bytes, wanted: PendingCall) -> None:
        """Count a call that was settled, and cache its answer unless it may predate a refresh."""
        if self._wanted.get(text) is not wanted:
            return
        if wanted.ready is None:
            self._progress.give_up()
            del self._wanted[text]
            return
        self._progress.end()
        self._held_bytes += len(wanted.ready.head)
        if self._held_bytes > self._limits.answer_bytes:
            self._held_bytes -= len(wanted.ready.head) - len(NO_ROOM.head)
            wanted.ready = NO_ROOM
        if wanted.ready.fresh_until > self._clock() and not wanted.ready.is_report:
            self._cache.put(text, wanted.ready)
