"""How many unknown keys one address may send: each takes memory and a request to the service until it is proven."""

from __future__ import annotations

from dataclasses import dataclass

from cachetools import LRUCache

MAX_ADDRESSES = 10_000
"""Addresses remembered; the least recently seen are dropped first, and begin again with a full allowance."""


@dataclass(slots=True)
class _Allowance:
    left: float
    at: float


class NewKeys:
    """An allowance of `per_minute` unknown keys for each address; a key that the service accepts is given back.

    >>> keys = NewKeys(per_minute=1)
    >>> keys.wait_s("10.0.0.1", now=0.0), keys.wait_s("10.0.0.1", now=0.0), keys.wait_s("10.0.0.2", now=0.0)
    (0.0, 60.0, 0.0)
    """

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._allowances: LRUCache[str, _Allowance] = LRUCache(MAX_ADDRESSES)

    def wait_s(self, address: str, now: float) -> float:
        """0 if `address` may send one more unknown key at `now`, which counts it; else the seconds to wait."""
        allowance = self._renewed(address, now)
        if allowance.left < 1:
            return (1 - allowance.left) * 60 / self._per_minute
        allowance.left -= 1
        return 0.0

    def proven(self, address: str, now: float) -> None:
        """Give back one key of `address`: a whole office may come from one."""
        allowance = self._renewed(address, now)
        allowance.left = min(self._per_minute, allowance.left + 1)

    def _renewed(self, address: str, now: float) -> _Allowance:
        allowance = self._allowances.get(address)
        if allowance is None:
            allowance = self._allowances[address] = _Allowance(self._per_minute, now)
        passed_s = max(0.0, now - allowance.at)
        allowance.left = min(self._per_minute, allowance.left + passed_s * self._per_minute / 60)
        allowance.at = now
        return allowance
