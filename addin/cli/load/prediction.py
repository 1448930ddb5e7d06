"""How long many users would wait, told from few who came at once: a queue, simulated.

A worker works on everybody who is there side by side, so that each gets an equal part of it. What each of the few
needs of it follows from when they were answered; then as many as are asked for come, with the same needs.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from random import Random


def needs(few_s: Sequence[float]) -> list[float]:
    """Return for how long a worker would work on each of a few, who came at once and were answered after `few_s`.

    >>> needs((1.5, 3.5, 4.5))  # the first had a third of it, the second from then on a half
    [0.5, 1.5, 2.5]
    """
    ordered, found = sorted(few_s), [0.0]
    for place, (before, now) in enumerate(pairwise([0.0, *ordered])):
        found.append(found[-1] + (now - before) / (len(ordered) - place))
    return found[1:]


def waits(
    alone_s: float, few_s: Sequence[float], arrivals_s: Sequence[float], *, workers: int = 1, chance: Random
) -> list[float]:
    """Return how long each of those waits who arrive then at so many workers, to each of whom `chance` sends some.

    Nobody waits less than somebody who is alone, whose request takes ways that keep nobody else waiting.

    >>> waits(0.5, (1.5, 3.5, 4.5), [0.0] * 6, chance=Random(1))
    [3.0, 3.0, 7.0, 7.0, 9.0, 9.0]
    >>> waits(0.5, (2.0, 2.0), [0.0, 0.0, 60.0], chance=Random(1))  # the third comes when the others have gone
    [2.0, 2.0, 1.0]
    """
    needed, many = needs(sorted(few_s)[workers // 2 :: workers] or few_s), len(arrivals_s)
    mixed = chance.sample([needed[place * len(needed) // many] for place in range(many)], many)
    lines: list[list[tuple[float, float]]] = [[] for _ in range(workers)]
    for arrival in zip(arrivals_s, mixed, strict=True):
        chance.choice(lines).append(arrival)
    return [max(alone_s, each) for line in lines for each in _shared(line)]


def _shared(line: Sequence[tuple[float, float]]) -> Iterator[float]:
    """Give how long each waits at one worker, of those who arrive then and need so much of it, as they are answered."""
    there: list[tuple[float, float]] = []
    """How much everybody will have got when each who is there is answered, and when they came."""
    now, got = 0.0, 0.0
    for at, need in [*line, (inf, 0.0)]:
        while there and (ends := now + (there[0][0] - got) * len(there)) <= at:
            now, (got, came) = ends, heapq.heappop(there)
            yield now - came
        got += (at - now) / len(there) if there else 0.0
        now = at
        heapq.heappush(there, (got + need, at))
