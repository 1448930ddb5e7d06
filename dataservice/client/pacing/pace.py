"""How soon requests may follow each other: a limit of the service, learned from its refusals and its headers. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

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
        left, reset = headers.get(f"{prefix}-remaining", "").strip(), headers.get(f"{prefix}-reset", "").strip()
        if left == "0" != headers.get(f"{prefix}-limit", "").strip() and reset.isdecimal() and len(reset) <= 15:
            until = float(reset) / 1_000 if float(reset) > _EPOCH_MS else float(reset)
            return believed(max(0.0, until - now) if until > _EPOCH else until)
    return None


def believed(wait_s: float) -> float | None:
    """The same wait; None for one that is so long that it would shut the service out for good."""
    return wait_s if wait_s <= LONGEST_WAIT_S else None
