"""How long many users would wait, told from few: where work queues, each further one adds as much as the one before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def at_once(alone_s: float, few_s: Sequence[float], times: float) -> tuple[float, ...]:
    """The times of so many times more users who come at once, from those of a few who did, and of one who was alone.

    So many are worked on side by side that the first one waits as long as with the few; from then on one after another
    is answered, until all the work is done.

    >>> at_once(1.0, (2.0, 3.0), 2.0)
    (2.0, 3.0, 4.0, 5.0)
    """
    first, last, users = min(few_s), alone_s + (max(few_s) - alone_s) * times, round(len(few_s) * times)
    return tuple(first + max(0.0, last - first) * number / max(1, users - 1) for number in range(users))


def in_line(alone_s: float, few_s: Sequence[float], arrivals_s: Sequence[float]) -> tuple[float, ...]:
    """The times of users who come one after another, and are served in this order.

    Each takes the line as much longer as the few did, who came at once; who finds nobody in it waits as if alone.

    >>> in_line(1.0, (2.0, 3.0), (0.0, 0.0, 5.0))
    (1.0, 2.0, 1.0)
    """
    each_s, waits = max(0.0, max(few_s) - alone_s) / len(few_s), [0.0]
    for before, now in pairwise(arrivals_s):
        waits.append(max(0.0, waits[-1] + each_s - (now - before)))
    return tuple(alone_s + each for each in waits)
