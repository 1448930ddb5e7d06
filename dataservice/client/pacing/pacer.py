"""Lets requests go at the pace of the service: one bucket for all processes of a key, through the store they share."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any
from uuid import uuid4

import msgspec

from dataservice.client.pacing.pace import FEW, PROBE_AFTER, Pace, after_refusals, faster
from dataservice.stores import Entry, ResilientStore

POLL_S = 0.02  # short beside a request
OPENING_S = 3.0
"""For so long a process lets another one find out alone whether there is a limit; far away answers take one."""

SETTLED_S = 2.0
"""After a refusal, answers to others that are under way are awaited for so long: they tell how many were taken."""

LOOKS = 5
"""How often the bucket is looked into while others take what it holds."""

LOOK_S = 0.5  # between two looks at what others have learned

ON_THE_WAY_S = 0.05
"""What was sent so soon after a limit was learned had its turn before."""

FAIR_S = 10.0
"""After others took a turn, they go first for so long."""

REMEMBERED = 4_096  # times of requests: more than any limit a second allows


class Pacer:
    """The pace of one key at one service; `under_way` tells how many requests this process awaits."""

    def __init__(
        self,
        store: ResilientStore,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[Any]],
        under_way: Callable[[], int],
    ) -> None:
        self._store = store
        self._clock = clock
        self._sleep = sleep
        self._under_way = under_way
        self.pace = Pace()
        self._scope: str | None = None
        self._is_known = False
        self._is_opener = False
        self._owner = uuid4().hex
        self._grants = count()
        self._tokens = 0
        self._next_at = 0.0
        self._looked_at = self._adopted_at = self._others_at = 0.0
        self._queue = asyncio.Lock()
        self._accepted: deque[float] = deque(maxlen=REMEMBERED)
        self._good = self._answered = self._refused = 0
        """Answers in a row; answers and refusals, both since the pace was set."""
        self._refused_at: float | None = None
        self._told_at = 0.0
        self._wait_s: float | None = None
        self._is_dirty = False

    def open(self, scope: str) -> None:
        """Share the pace with all processes that use the same store for the key that `scope` names."""
        self._scope = scope

    @property
    def is_free(self) -> bool:
        """Return whether requests may be sent as they come."""
        return self._is_known and self._refused_at is None and not self.pace.gap_s and not self.pace.not_before

    async def turn(self) -> None:
        """Wait until one more request may be sent."""
        if self.is_free:
            return
        async with self._queue:
            if not self._is_known:
                await self._find_out()
            while (wait_s := await self._left_s()) > 0:
                await self._sleep(wait_s)

    def accepted(self, sent_at: float) -> None:
        """A request sent at `sent_at` was answered."""
        self._accepted.append(sent_at)
        if self.pace.gap_s:
            self._good += 1
            self._answered += 1
            if self._good >= PROBE_AFTER:
                self._set(faster(self.pace, self._clock()))

    def refused(self, sent_at: float, wait_s: float | None, gap_s: float | None = None) -> None:
        """A request sent at `sent_at` was refused for coming too soon.

        `wait_s` is how long the service asks to wait, `gap_s` what it tells of its limit.
        """
        if gap_s is not None and abs(gap_s - self.pace.gap_s) > 0.01 * gap_s:
            self._set(msgspec.structs.replace(self.pace, gap_s=gap_s, learned_at=self._clock()))
        if wait_s:
            self.wait(wait_s)
        if self.pace.gap_s and sent_at <= max(self.pace.learned_at, self._adopted_at) + ON_THE_WAY_S:
            return
        self._good = 0
        self._refused += 1
        self._refused_at = sent_at if self._refused_at is None else min(sent_at, self._refused_at)
        self._told_at = self._clock()
        self._wait_s = wait_s if self._wait_s is None else max(wait_s or 0.0, self._wait_s)

    async def conclude(self) -> None:
        """Learn from refusals, unless answers are awaited that tell more."""
        if not self._under_way():
            await self._learn(self._clock())

    def wait(self, wait_s: float) -> None:
        """Let nothing be sent for so long."""
        until = self._clock() + wait_s
        if until > self.pace.not_before:
            self._set(msgspec.structs.replace(self.pace, not_before=until))

    def opened(self) -> None:
        """No limit was found."""
        if self._is_opener or not self._is_known:
            self._set(Pace(learned_at=self._clock()))

    async def save(self) -> None:
        """Tell other processes what was learned; and that nobody is finding out any more."""
        if self._scope is None:
            return
        if self._is_dirty and self.pace.learned_at:  # what says nothing must not replace what another one has learned
            self._is_dirty = False
            entry = Entry(msgspec.json.encode(self.pace), self._clock())
            await self._store.put(f"{self._scope}/pace", entry)
        if self._is_opener and self._refused_at is None and (self.pace.learned_at or not self._under_way()):
            self._is_opener = False
            await self._store.release(f"{self._scope}/opening", self._owner)

    def _set(self, pace: Pace) -> None:
        if pace.gap_s != self.pace.gap_s:
            self._good = self._answered = self._refused = 0
        self.pace, self._is_known, self._is_dirty = pace, True, True
        self._tokens = min(self._tokens, pace.burst)

    async def _find_out(self) -> None:
        """Take over what others know; or be the one that finds out, while others wait."""
        until = self._clock() + OPENING_S
        while self._store.shared and self._scope is not None:
            if await self._look():
                return
            self._is_opener = await self._store.lease(f"{self._scope}/opening", self._owner, OPENING_S)
            if self._is_opener or self._clock() >= until:
                break
            await self._sleep(POLL_S)
        self._is_known = True

    async def _look(self) -> bool:
        """Return whether the store knows a pace that is newer; it holds from now on."""
        self._looked_at = self._clock()
        entry = await self._store.get(f"{self._scope}/pace")
        if entry is None:
            return False
        try:
            found = msgspec.json.decode(entry.payload, type=Pace)
        except msgspec.MsgspecError:
            return False
        is_newer = found.learned_at >= self.pace.learned_at or (found.gap_s and not self.pace.gap_s)
        if not found.is_known(self._clock()) or not is_newer:
            return False
        if found.gap_s != self.pace.gap_s:
            self._good = self._answered = self._refused = 0
        found = msgspec.structs.replace(found, not_before=max(found.not_before, self.pace.not_before))
        self.pace, self._is_known, self._adopted_at = found, True, self._clock()
        return True

    async def _left_s(self) -> float:
        """Return how long the next request has to wait as far as is known; 0 takes the turn."""
        now = self._clock()
        if self._refused_at is not None:
            if self._under_way() and now < self._refused_at + SETTLED_S:
                return POLL_S  # what else was taken is known when all answers are there
            await self._learn(now)
        if now < self.pace.not_before:
            return self.pace.not_before - now
        if not self.pace.gap_s:
            return 0.0
        if self._tokens:
            self._tokens -= 1
            return 0.0
        if now < self._next_at:
            return self._next_at - now
        return await self._take(now)

    async def _take(self, now: float) -> float:
        """Take what the bucket holds; how long to wait where others have taken it."""
        together = self.pace.burst
        every_s = together * self.pace.gap_s
        if self._store.shared and self._scope is not None:
            owner = f"{self._owner}/{next(self._grants)}"
            if not await self._store.lease(f"{self._scope}/turn", owner, every_s):
                self._others_at = now
                if now - self._looked_at > LOOK_S:
                    await self._look()
                return every_s / LOOKS
        pause_s = every_s / LOOKS if now - self._others_at < FAIR_S else 0.0
        self._tokens, self._next_at = together - 1, now + every_s + pause_s
        return 0.0

    async def _learn(self, now: float) -> None:
        """Draw the conclusion from refusals, unless another process has drawn one since."""
        refused_at, wait_s = self._refused_at, self._wait_s
        self._refused_at = self._wait_s = None
        if refused_at is None:
            return
        known = self.pace
        if self._store.shared and self._scope is not None and await self._look() and self.pace != known:
            return
        is_telling = self._refused > FEW
        share = self._refused / (self._refused + self._answered) if is_telling else None
        self._set(after_refusals(self.pace, self._accepted, refused_at, self._told_at, wait_s, now, share))
        await self.save()
