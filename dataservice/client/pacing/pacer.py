"""Lets requests go at the pace of the service: one bucket for all processes of a key, through the store they share."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import count
from typing import Any
from uuid import uuid4

import msgspec

from dataservice.stores import Entry, ResilientStore

MARGIN = 1.15
"""Requests keep a little more distance than the limit asks for: on the way, some catch up with those before.

With less, every tenth is refused for it on a busy machine.
"""

WINDOW_S = 1.0
"""Limits are told by the second, unless the service names a longer time."""

LONGEST_WINDOW_S = 60.0
SLOWER = 1.15
MUCH_SLOWER = 2.0
FEW = 3
"""So few refusals at a known pace say nothing of it: on their way some requests catch up with those before."""

OFTEN = 1 / 10
"""A pace at which a larger share is refused is too fast, one at which the larger half is refused much too fast."""

FASTER = 0.9
LONGEST_GAP_S = 60.0

PROBE_AFTER = 100
"""After so many answers without a refusal the pace is tried a little faster: limits are lifted, and guesses are low."""

BURST_S = 0.1
"""Requests of so long a time may be sent together: nobody looks into the store a hundred times a second."""

KEPT_S = 86_400.0
"""A limit that was learned holds for a day; that there is none holds for an hour."""

OPEN_S = 3_600.0

_POLICY = re.compile(r";\s*q=(\d{1,9})\b.*?;\s*w=(\d{1,9})\b|(\d{1,9})\s*;\s*w=(\d{1,9})\b")
_SPENT = re.compile(r";\s*r=0\b.*?;\s*t=(\d{1,9})\b")
_EPOCH, _EPOCH_MS = 1e9, 1e11  # a reset later than this is a time and not a number of seconds; or one in milliseconds

LONGEST_WAIT_S = 86_400.0
"""A service that counts by the day asks for that at most."""


class Pace(msgspec.Struct, frozen=True):
    """What all processes of a key know of the service's limit; all times are seconds since the epoch."""

    gap_s: float = 0.0
    """Between two requests; 0 where no limit is known."""
    not_before: float = 0.0
    learned_at: float = 0.0
    strikes: int = 0
    """How often in a row everything was refused, while no limit is known."""

    @property
    def a_second(self) -> float:
        """Return how many requests a second the service allows; infinite where no limit is known."""
        return MARGIN / self.gap_s if self.gap_s else float("inf")

    @property
    def told(self) -> str:
        """The limit in words; empty where none is known."""
        if not self.gap_s:
            return ""
        a_second = self.a_second
        return (
            f"the service allows {a_second:.2g} a second"
            if a_second < 10
            else f"the service allows {a_second:.0f} a second"
        )

    def queue_told(self, waiting: int) -> str:
        """The limit in words, and how long so many calls take.

        >>> Pace(gap_s=0.575).queue_told(47)
        'the service allows 2 a second: 47 to go, about 27 s'
        """
        if not self.gap_s or not waiting:
            return self.told
        return f"{self.told}: {waiting:,} to go, about {waiting * self.gap_s:,.0f} s"

    @property
    def burst(self) -> int:
        """Return how many requests may be sent together."""
        return max(1, int(BURST_S / self.gap_s)) if self.gap_s else 1

    def wait_s(self, now: float) -> float:
        """Return for how long nothing may be sent; a time that no service asks for is of a clock that was set back."""
        return believed(max(0.0, self.not_before - now)) or 0.0

    def earlier(self, seconds: float) -> Pace:
        """The same by a clock that is behind by so much."""
        before, learned_at = (at and at - seconds for at in (self.not_before, self.learned_at))
        return msgspec.structs.replace(self, not_before=before, learned_at=learned_at)

    def is_known(self, now: float) -> bool:
        """Return whether it still says something."""
        return abs(now - self.learned_at) < (KEPT_S if self.gap_s else OPEN_S)


def after_refusals(
    pace: Pace,
    accepted: Sequence[float],
    first_refused: float,
    told_at: float,
    wait_s: float | None,
    now: float,
    share: float | None = None,
) -> Pace:
    """The pace after requests were refused, the first of them sent at `first_refused`.

    `accepted` are the times at which others were sent: what was taken within one window is what the limit allows. The
    service said at `told_at` how long to wait, if it did. `share` is that of the refused among all requests at a known
    pace; None while they are few.
    """
    window_s = WINDOW_S if wait_s is None or not 0 < wait_s <= LONGEST_WINDOW_S else max(WINDOW_S, wait_s)
    taken = [at for at in accepted if at > first_refused - window_s]
    strikes, gap_s = 0, pace.gap_s
    if pace.gap_s:
        if share is not None and share > OFTEN:
            gap_s *= SLOWER if share <= 0.5 else MUCH_SLOWER
        free_at = told_at + gap_s
    elif taken:
        gap_s = MARGIN * window_s / len(taken)
        free_at = min(taken) + MARGIN * window_s
    else:  # it says nothing of how many are taken
        strikes = pace.strikes + 1
        free_at = told_at + WINDOW_S * 2.0**pace.strikes
    free_at = free_at if wait_s is None else told_at + wait_s
    return Pace(min(gap_s, LONGEST_GAP_S), max(pace.not_before, free_at), now, strikes)


def faster(pace: Pace, now: float) -> Pace:
    """The pace after many answers without a refusal."""
    return msgspec.structs.replace(pace, gap_s=pace.gap_s * FASTER, learned_at=now)


def told_gap_s(headers: Mapping[str, str]) -> float | None:
    """The seconds between two requests by RateLimit-Policy, for windows of up to a minute; None where it tells none."""
    found = _POLICY.search(headers.get("ratelimit-policy", "") or headers.get("ratelimit-limit", ""))
    if found is None:
        return None
    count, window_s = (int(each) for each in found.groups() if each is not None)
    return MARGIN * window_s / count if count and 0 < window_s <= LONGEST_WINDOW_S else None


def told_wait_s(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds until more may be sent, where (X-)RateLimit headers say that nothing is left; else None."""
    if spent := _SPENT.search(headers.get("ratelimit", "")):
        return believed(float(spent[1]))
    for prefix in ("ratelimit", "x-ratelimit"):
        if headers.get(f"{prefix}-remaining", "").strip() != "0" or headers.get(f"{prefix}-limit", "").strip() == "0":
            continue
        reset = headers.get(f"{prefix}-reset", "").strip()
        if reset.isdecimal() and len(reset) <= 15:
            until = float(reset) / 1_000 if float(reset) > _EPOCH_MS else float(reset)
            return believed(max(0.0, until - now) if until > _EPOCH else until)
    return None


def believed(wait_s: float) -> float | None:
    """The same wait; None for one that is so long that it would shut the service out for good."""
    return wait_s if wait_s <= LONGEST_WAIT_S else None


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

    def set_back(self, seconds: float) -> None:
        """The clock was set back by so much: what was to be waited for is as far away as before."""
        self.pace = self.pace.earlier(seconds)
        self._next_at -= seconds
        self._others_at -= seconds
        self._looked_at -= seconds
        self._adopted_at -= seconds
        self._told_at -= seconds
        self._refused_at = None if self._refused_at is None else self._refused_at - seconds
        self._accepted = deque((at - seconds for at in self._accepted), maxlen=REMEMBERED)

    async def turn(self) -> None:
        """Wait until one more request may be sent."""
        if self._is_known and self._refused_at is None and not self.pace.gap_s and not self.pace.not_before:
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
        if found.learned_at > self._looked_at:  # by a clock that is ahead, or was: it is now at the latest
            found = found.earlier(found.learned_at - self._looked_at)
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
        if wait_s := self.pace.wait_s(now):
            return wait_s
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
