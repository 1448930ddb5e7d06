"""Which requests without an answer the service has counted: its remaining number tells, once all others are answered.

A connection that the service had closed before takes a request with it that nobody has read. Pure.
"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class Reckoning(Generic[T]):
    """The requests since the last quiet moment: those answered, and those that may or may not have been counted."""

    def __init__(self) -> None:
        self._base: int | None = None
        """What was left before them."""
        self._lowest: int | None = None
        self._answered = 0
        self._doubtful: list[T] = []
        self._is_sound = True

    @property
    def has_begun(self) -> bool:
        """Return whether an answer told what is left: only what is sent after it can be reckoned."""
        return self._lowest is not None or self._base is not None

    def answered(self, remaining: int | None) -> None:
        """A request was answered and counted; the answer told that so many are left."""
        self._answered += 1
        if remaining is None:
            self._is_sound = False
            return
        self._lowest = remaining if self._lowest is None else min(self._lowest, remaining)
        if self._base is None or remaining >= self._base:  # the first of all, or one that was overtaken
            self._base = remaining + 1

    def lost(self, request: T) -> None:
        """A request, sent after the first answer, ended without one over a connection that had served others."""
        self._doubtful.append(request)

    def settle(self) -> list[T]:
        """No request is under way: those that were not counted. Then it begins anew."""
        doubtful, base, lowest = self._doubtful, self._base, self._lowest
        uncounted: list[T] = []
        if doubtful and self._is_sound and base is not None and lowest is not None:
            counted = max(0, base - lowest - self._answered)  # also by others who use the key
            uncounted = doubtful[counted:]
        self._base = base if lowest is None else lowest
        self._lowest, self._answered, self._doubtful, self._is_sound = None, 0, [], True
        return uncounted
