"""How long many users would wait, told from few: where work queues, each further one adds as much as the one before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def stretched(alone_s: float, few_s: Sequence[float], times: float) -> tuple[float, ...]:
    """The times of so many times more users who come at once, from those of a few who did, and of one who was alone.

    >>> stretched(1.0, (2.0, 3.0, 4.0), 10.0)
    (11.0, 21.0, 31.0)
    """
    return tuple(alone_s + max(0.0, each - alone_s) * times for each in few_s)


def in_line(alone_s: float, few_s: Sequence[float], arrivals_s: Sequence[float]) -> tuple[float, ...]:
    """The times of users who come one after another, and are served in this order.

    Each takes the line as much longer as the few did, who came at once.

    >>> in_line(1.0, (2.0, 3.0), (0.0, 0.0, 5.0))
    (2.0, 3.0, 2.0)
    """
    each_s = max(0.0, max(few_s) - alone_s) / len(few_s)
    waits = [each_s]
    for before, now in pairwise(arrivals_s):
        waits.append(max(0.0, waits[-1] - (now - before)) + each_s)
    return tuple(alone_s + each for each in waits)
