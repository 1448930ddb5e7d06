"""The month's allowance as the service tells it in three headers of every answer (contract: "Quota headers")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from dataservice.client.contract.windows import utc_day

if TYPE_CHECKING:
    import pandas as pd

UNLIMITED = 999_999_999_999_999
"""What stands for a cap that is none."""

UNLIMITED_WORDS = frozenset({"unlimited", "infinite", "infinity", "inf", "none", "∞"})

_NAMED = re.compile(r"\b(limit|cap|quota|remaining|left|r|q)=\"?(\d[\d,_]*)", re.IGNORECASE | re.ASCII)
_LEFT_NAMES = ("remaining", "left", "r")
_CAP_NAMES = ("limit", "cap", "quota", "q")
_FORM = re.compile(r"(\d+|\d{1,3}(?:[,_ ]\d{3})+)(?:\.0+)?(?:\s*;.*|\s+[a-z/ ]+)?", re.IGNORECASE | re.ASCII)
"""A number, its thousands set apart or not, and behind it a window or a unit."""

_ITEM = re.compile(r"([^;]+;[^,]*)(?:,|$)")
_WINDOW = re.compile(r"\bw(?:indow)?=\"?(\w+)", re.IGNORECASE)
WINDOWS_S = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800, "month": 2_592_000}
"""The time that the count of a header is for, where it tells that in words."""

SHORTEST_MONTH_S = 27 * 86_400
"""What is counted over less is no allowance of a month."""

_OF_ALL = re.compile(r"([\d,_ ]+?) *(?:/|of) *[\d,_ ]+", re.IGNORECASE | re.ASCII)
"""So many left of all: of what is left it tells that, of a cap nothing."""

IN_FLIGHT = 64
"""Answers may overtake each other: within so many requests, the lower remaining number is the newer one."""

RESTART_SEEN_S = 86_400.0
"""A period that began anew between two answers so close together did so on the day of the later one, or just before."""

DAY_S = 86_400

MAX_DIGITS = 15
"""Of a number in a header; more are no count of requests, and Python refuses to read thousands of them."""


class Quota(msgspec.Struct, frozen=True):
    """Tier, monthly cap and requests left as last seen at `seen_at` (seconds since the epoch).

    `used_here` counts the requests this installation spent in the current UTC month. `restarts_on` is the day of the
    month (UTC) on which the service was last seen to begin anew, None where that was not seen.
    """

    tier: str
    cap: int
    remaining: int
    seen_at: float
    used_here: int = 0
    restarts_on: int | None = None

    @property
    def is_free(self) -> bool:
        """Return whether the key is on the Free tier, for which the service locks the wire."""
        return self.tier.casefold().split()[:1] == ["free"]

    def to_frame(self) -> pd.DataFrame:
        """One row with a column a field."""
        import pandas as pd

        names = ("tier", "cap", "remaining", "used_here", "seen_at")
        return pd.DataFrame([{name: getattr(self, name) for name in names}])


def quota_in(headers: Mapping[str, str], now: float) -> Quota | None:
    """The quota in the headers of an answer; None where they are missing, unreadable, or of no key (401)."""
    tier, cap = headers.get("x-service-tier", "").strip(), _count(headers.get("x-service-ratelimit-cap"))
    if not tier or not cap:
        return None
    remaining = _count(headers.get("x-service-ratelimit-remaining"), name="remaining")
    return None if remaining is None else Quota(tier, cap, remaining, now)


def remaining_in(headers: Mapping[str, str]) -> int | None:
    """The requests left as the headers of an answer tell them; None where they do not.

    Of a cap of nought nothing can be left: it stands for one that nobody counts.
    """
    if _count(headers.get("x-service-ratelimit-cap")) == 0:
        return None
    return _count(headers.get("x-service-ratelimit-remaining"), name="remaining")


def newer(known: Quota | None, seen: Quota) -> Quota:
    """Return what holds after `seen` arrived: of answers that were under way together, the lower remaining number."""
    if known is None:
        return seen
    is_same = (known.tier, known.cap) == (seen.tier, seen.cap)
    is_overtaken = is_same and known.remaining < seen.remaining <= known.remaining + IN_FLIGHT
    if is_overtaken and month_of(known.seen_at) == month_of(seen.seen_at):
        return known
    began_anew = is_same and seen.remaining > known.remaining + IN_FLIGHT
    was_seen = began_anew and seen.seen_at - known.seen_at <= RESTART_SEEN_S
    restarts_on = utc_day(seen.seen_at).day if was_seen else known.restarts_on
    return seen if restarts_on is None else msgspec.structs.replace(seen, restarts_on=restarts_on)


def requests_at_once(known: Quota | None, now: float, *, most: int) -> int:
    """Return how many requests may be under way together: no more than are left this month, and one to find out."""
    if known is None or known.remaining >= most or month_of(known.seen_at) != month_of(now):
        return most
    return max(1, known.remaining)


def month_of(seconds: float) -> str:
    """The UTC calendar month of a time, as 2026-08."""
    return _month_of_day(seconds // DAY_S)


@lru_cache(maxsize=2)  # asked several times a request, of today
def _month_of_day(days: float) -> str:
    return utc_day(days * DAY_S).isoformat()[:7]


def _count(text: str | None, *, name: str = "") -> int | None:
    """The number that a header tells in one of the usual forms; None where it tells none, or several.

    >>> [_count(text) for text in ("50000", "50,000", "50000;w=month", "50000.0", "50000 requests", "7/9")]
    [50000, 50000, 50000, 50000, 50000, None]
    """
    text = (text or "").strip()
    if text.isdecimal() and text.isascii() and len(text) <= MAX_DIGITS:
        return int(text)  # as nearly all tell it
    if text.lower() in UNLIMITED_WORDS:
        return UNLIMITED
    text = _of_month(text)
    if of_all := _OF_ALL.fullmatch(text):
        text = of_all[1] if name else ""
    named = _NAMED.findall(text)
    if named:
        values = {key.lower(): value for key, value in named}
        text = next((values[key] for key in (*(_LEFT_NAMES if name else ()), *_CAP_NAMES) if key in values), "")
    found = _FORM.fullmatch(text)
    digits = re.sub(r"[,_ ]", "", found[1]) if found else ""
    return int(digits) if digits and len(digits) <= MAX_DIGITS else None


def _of_month(text: str) -> str:
    """Of several counts, each with the time that it is for, the one of a month; empty where there is none, or two.

    >>> _of_month("60;w=60, 1000000;w=2592000")
    '1000000;w=2592000'
    """
    items = [item.strip() for item in _ITEM.findall(text) if _WINDOW.search(item)]
    found = [item for item in items if (_window_s(item) or 0) >= SHORTEST_MONTH_S]
    if not items or (len(items) == 1 and _window_s(items[0]) is None):
        return text
    return found[0] if len(found) == 1 else ""


def _window_s(item: str) -> int | None:
    """The seconds that a count is for; None where it does not tell them."""
    told = _WINDOW.search(item)
    word = told[1].lower() if told else ""
    return int(word) if word.isdecimal() and len(word) <= MAX_DIGITS else WINDOWS_S.get(word.removesuffix("s"))
