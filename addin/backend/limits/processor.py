"""Processor time, shared among callers: of those who wait for a turn of the loop, who has used least goes on first.
Of those who have used about as much it is who came first: with equal turns all of a crowd would be done at its end.

Work that takes long is cut into turns of a hundredth of a second (`udfs.engine.scheduler`). Only one of them runs
before everybody else had a look at the loop, however many large batches are under way; and callers whose key is not
proven count as one, so that many of them get no more than one.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from itertools import count
from math import exp2, inf, log2

ROUNDS_BETWEEN = 8
"""Rounds of the loop from one turn to the next while others are served: a small request takes about so many."""

SHORT_TURN_S = 0.002
"""After a turn that was over so soon, with everything else of its round, the next one begins at once."""

HALF_LIFE_S = 10.0
"""What somebody has used counts half after so long."""

SMALL_S = 0.004
"""Who has used less lately goes before all others: a few cells need no more, also while an office opens its books."""

STEP_S = 0.3
"""Who has used so much more lately goes behind: a book of a thousand cells that opens needs less, so that of many who
open theirs the first are done first."""

AHEAD_S = 0.02
"""Each further request of a payer counts as if it had used so much already: who sends a hundred goes behind who sends
one, before any of them has been worked on."""

LIGHT_PART = 10
"""Who has used less lately than one such part of what the heaviest payer has waits no rounds: one of them may take as
long as a turn while hundreds send, and a small request would take eight of them."""

TURN_S = 0.01
"""A turn lasts so long, in several steps of the same request or one."""

MOST_COUNTED_S = 0.5
"""Of one turn: who waits for the service meanwhile uses no processor."""

PLACE_S = 60.0
"""For so long after their first request those who ask keep its place: a morning's load takes no longer."""

MOST_PAYERS = 10_000
"""Payers whose use is remembered: beyond that those go who have used nearly nothing lately."""

FORGOTTEN_S = 0.001

UNPROVEN = "unproven"
"""Whom all callers without a proven key count for."""


class Processor:
    """The turns of one loop: who waits for one, and what everybody has used lately."""

    def __init__(self, *, timer: Callable[[], float] = time.perf_counter) -> None:
        self.timer = timer
        self._waiting: dict[CallerTurns, list[asyncio.Future[None]]] = {}
        self._used: dict[str, float] = {}
        """By payer the logarithm of the seconds used, counted up by one each half-life instead of down: so nothing is
        worked out again as time passes."""
        self._most_used = -inf
        """Of the payer who has used most lately, counted in the same way."""
        self._light: set[CallerTurns] = set()
        """Of those who wait, who waits no rounds."""
        self.numbers = count()
        """In the order in which requests came."""
        self._places: dict[str, tuple[int, float]] = {}
        """Of who came lately and is gone the number of the first request, and until when that counts."""
        self._is_ticking = self._is_for_late = False
        self._rounds_left = 0
        self._let_go_at = -inf
        self.callers = 0
        """Requests under way."""
        self._requests: Counter[str] = Counter()
        """The same by payer."""
        self.counted: Callable[[float, bool], object] | None = None
        """Called with what somebody has used, and whether their key was proven."""

    @property
    def waiting(self) -> int:
        """Requests that wait for a turn."""
        return len(self._waiting)

    def used_lately_s(self, payer: str) -> float:
        """Return what a payer has used lately, in seconds."""
        return exp2(self._used.get(payer, -inf) - self.timer() / HALF_LIFE_S)

    def rank(self, caller: CallerTurns) -> tuple[list[int], int]:
        """Return what decides who goes first: whoever has the lowest."""
        return [self._steps(payer) for payer in caller.payers], caller.number

    def _steps(self, payer: str) -> int:
        used_s = self.used_lately_s(payer) + AHEAD_S * max(0, self._requests[payer] - 1)
        return 0 if used_s < SMALL_S else 1 + int(used_s / STEP_S)

    def count(self, caller: CallerTurns, seconds: float) -> None:
        """Note what a caller has used."""
        caller.add_used(seconds)
        payers = caller.payers
        if self.counted is not None:
            self.counted(seconds, caller.is_proven)
        for payer in payers if seconds > 0 else ():
            used = log2(self.used_lately_s(payer) + seconds) + self.timer() / HALF_LIFE_S
            self._used[payer], self._most_used = used, max(self._most_used, used)
        if len(self._used) > MOST_PAYERS:
            self._used = {each: used for each, used in self._used.items() if self.used_lately_s(each) > FORGOTTEN_S}

    def count_requests(self, payer: str, requests: int) -> None:
        """Count so many more requests of a payer as under way: -1 is one that is not any more."""
        self.callers += requests
        self._requests[payer] += requests
        if not self._requests[payer]:
            del self._requests[payer]

    def take_place(self, asker: str, number: int) -> tuple[int, float]:
        """Return the number of an asker's first request lately, and until when it counts; else this one's.

        Who comes again for the rest of what was asked for does not wait behind all who came meanwhile. Only one request
        at a time does so.
        """
        now = self.timer()
        first, until = self._places.pop(asker, (number, now))
        return (first, until) if now < until else (number, now + PLACE_S)

    def keep_place(self, asker: str, place: tuple[int, float]) -> None:
        """Keep the place of who may come again."""
        if len(self._places) >= MOST_PAYERS:
            now = self.timer()
            self._places = {each: kept for each, kept in self._places.items() if now < kept[1]}
        if len(self._places) < MOST_PAYERS:
            self._places[asker] = place

    async def wait(self, caller: CallerTurns) -> None:
        """Wait until it is the caller's turn, and that of everything that works for the same request."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(caller, []).append(turn)
        if self._used.get(caller.payers[0], -inf) < self._most_used - log2(LIGHT_PART):
            self._light.add(caller)
        if not self._is_ticking:
            self._is_ticking = True
            loop.call_soon(self._tick)
        await turn

    def _tick(self) -> None:
        """Give somebody the next turn, once the others had theirs."""
        if self._rounds_left == ROUNDS_BETWEEN and self.timer() - self._let_go_at < SHORT_TURN_S:
            self._rounds_left = 0
        if self._rounds_left > 0 and self.callers > 1:
            self._rounds_left -= 1
            if self._light:
                self._let_go(min(self._light, key=self.rank))
        else:
            self._let_go(self._next())
            self._rounds_left, self._let_go_at = ROUNDS_BETWEEN, self.timer()
        self._is_ticking = bool(self._waiting)
        if self._is_ticking:
            asyncio.get_running_loop().call_soon(self._tick)

    def _let_go(self, caller: CallerTurns) -> None:
        self._light.discard(caller)
        for turn in self._waiting.pop(caller):
            if not turn.done():  # it was given up meanwhile
                turn.set_result(None)

    def _next(self) -> CallerTurns:
        """Return who has the next turn; every other one is for those who are late, if any."""
        self._is_for_late = not self._is_for_late
        now = self.timer()
        late = [each for each in self._waiting if each.late_at < now] if self._is_for_late else []
        return min(late or self._waiting, key=self.rank)


@dataclass
class Standing:
    """What a request has used, in seconds, and who pays: the same for all that goes on for it."""

    payers: tuple[str, ...]
    is_proven: bool = False
    is_under_way: bool = False
    used_s: float = 0.0


class CallerTurns:
    """The turns of one request."""

    def __init__(self, processor: Processor, address: str) -> None:
        self._processor = processor
        self.number = next(processor.numbers)
        self._standing = Standing((UNPROVEN, address))
        self._payer_later: Callable[[], str] = str
        self.late_at = inf
        self._began_at = -inf

    @property
    def payers(self) -> tuple[str, ...]:
        """Whom the turns count for: the first one decides, then the next."""
        if not self._standing.is_proven and (payer := self._payer_later()):
            self.pay_as(payer)
        return self._standing.payers

    @property
    def is_proven(self) -> bool:
        """Return whether a proven key pays."""
        return self._standing.is_proven

    @property
    def used_s(self) -> float:
        """The processor time that the request has used."""
        return self._standing.used_s

    def begin(self) -> None:
        """Count the request as under way."""
        self._standing.is_under_way = True
        self._processor.count_requests(self._standing.payers[0], 1)

    def end(self) -> None:
        """Count it no more."""
        self._standing.is_under_way = False
        self._processor.count_requests(self._standing.payers[0], -1)

    def hurry(self, within_s: float) -> None:
        """Let the request be late after so long: it is to be answered then, however many others wait."""
        self.late_at = self._processor.timer() + within_s

    def in_background(self) -> CallerTurns:
        """Return the turns of what goes on for the request meanwhile: these are never late."""
        others = copy(self)
        others.late_at = inf
        return others

    def pay_as(self, payer: str, *, is_only: bool = False) -> None:
        """Let a proven key, or who signed in, pay; of a key that all use (`is_only`) addresses are told apart."""
        standing = self._standing
        before, standing.is_proven = standing.payers, True
        standing.payers = (payer, before[-1]) if is_only else (payer,)
        if standing.is_under_way:
            self._processor.count_requests(before[0], -1)
            self._processor.count_requests(payer, 1)

    def pay_later_as(self, payer: Callable[[], str]) -> None:
        """Let a key pay as soon as it is proven: until then `payer` names nobody. So do those in the background."""
        self._payer_later = payer

    def add_used(self, seconds: float) -> None:
        """Add to the processor time of the request."""
        self._standing.used_s += seconds

    def is_free(self) -> bool:
        """Return whether nobody waits for a turn."""
        return not self._processor.waiting

    def count(self, seconds: float) -> None:
        """Note for how long the caller's work held the loop."""
        self._processor.count(self, min(seconds, MOST_COUNTED_S))

    async def next(self) -> None:
        """Wait for the next turn, unless the last one has just begun: a small request is done in one."""
        if self._processor.timer() - self._began_at < TURN_S:
            await asyncio.sleep(0)
            return
        await self._processor.wait(self)
        self._began_at = self._processor.timer()
