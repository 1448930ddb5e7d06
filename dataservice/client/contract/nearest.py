"""The name most like another one, found in milliseconds among a hundred thousand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from typing import TypeAlias

import numpy as np

COMPARED = 80
"""Characters of a name that are compared: comparing takes time that grows with the square of the length."""

CUTOFF = 0.6
"""How alike two names must be, of 1."""

MOST_COMPARED = 50
"""Names that are compared letter by letter: those that share the most letters with the one that is looked for."""

MOST_PAIRED = 1_000
"""Names whose pairs of letters are counted too: of those with the same letters, they show which is nearest."""

LETTERS = 32
"""Letters are counted by the last five bits of their number, which tells the small ones of the alphabet apart."""

COUNTED_TOGETHER = 20_000
"""Names whose letters are counted in one go: more would take much memory for a moment."""

REMEMBERED = 1_024
"""Answers that are remembered: a hundred cells with one wrong name compare it once."""

SUGGESTING_SHARE, SUGGESTING_BURST_S = 0.05, 0.3
"""How much of the processor suggestions may take over time, and at once: a range of fifty thousand wrong names must
keep nobody waiting. Beyond that a name has none."""


class NearestNames:
    """Names, in which the one most like another is looked up; letters in small or capital form count alike."""

    def __init__(self, names: Iterable[str]) -> None:
        folded: dict[str, str] = {}
        for name in names:
            folded.setdefault(name[:COMPARED].casefold(), name)
        self._names = list(folded.values())
        self._folded = list(folded)
        self._lengths = np.array([len(each) for each in self._folded], dtype=np.int32)
        parts = range(0, len(self._folded), COUNTED_TOGETHER)
        counted = [_letters(self._folded[start : start + COUNTED_TOGETHER]) for start in parts]
        self._letters = np.concatenate(counted) if counted else np.zeros((0, LETTERS), np.uint8)

    def nearest(self, name: str, *, cutoff: float = CUTOFF) -> str | None:
        """The name most like `name`; None where none is at least `cutoff` alike."""
        asked = name[:COMPARED].casefold()
        if not asked or not self._names:
            return None
        shared = np.minimum(self._letters, _letters([asked])).sum(axis=1, dtype=np.int32)
        at_most = 2.0 * shared / (self._lengths + len(asked))  # no two names are more alike than their letters
        places = np.flatnonzero(at_most >= cutoff)
        places = places[np.argsort(-at_most[places], kind="stable")][:MOST_PAIRED]
        pairs = np.minimum(_pairs([self._folded[place] for place in places]), _pairs([asked])).sum(axis=1)
        places = places[np.argsort(-pairs, kind="stable")][:MOST_COMPARED]
        matcher = SequenceMatcher()
        matcher.set_seq2(asked)
        best: tuple[float, str, int] = (0.0, "", -1)
        for place in places.tolist():
            if at_most[place] < best[0]:
                continue
            matcher.set_seq1(self._folded[place])
            best = max(best, (matcher.ratio(), self._folded[place], place))
        return self._names[best[2]] if best[0] >= cutoff else None


Counts: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.uint8]]


def _letters(names: list[str]) -> Counts:
    """Return how often each letter is in each name, one row a name."""
    return _counted(names, _codes(names) % LETTERS, LETTERS)


def _pairs(names: list[str]) -> Counts:
    """The same of letters that stand side by side."""
    codes = _codes(names) % LETTERS
    return _counted(names, codes * LETTERS + np.append(codes[1:], 0)[: len(codes)], LETTERS**2)


def _codes(names: list[str]) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.frombuffer("".join(names).encode("utf-32-le", "surrogatepass"), np.uint32)


def _counted(names: list[str], kinds: np.ndarray[tuple[int], np.dtype[np.uint32]], of: int) -> Counts:
    rows = np.repeat(np.arange(len(names)), [len(name) for name in names])
    return np.bincount(rows * of + kinds, minlength=len(names) * of).reshape(len(names), of).astype(np.uint8)


class Suggestions:
    """Names that are suggested in place of wrong ones, while that takes little of the processor; `timer` tells seconds.

    >>> Suggestions({"us-cpi": "us-cpi", "us consumer prices": "us-cpi"}).suggested("us-cpj")
    'us-cpi'
    """

    def __init__(self, meant: dict[str, str], *, timer: Callable[[], float] = time.perf_counter) -> None:
        self._meant = meant
        self._names = NearestNames(meant)
        self._told: dict[str, str | None] = {}
        self._timer = timer
        self._left_s = SUGGESTING_BURST_S
        self._at = timer()

    def suggested(self, name: str) -> str | None:
        """Return what is meant by the name most like `name`; None where none is near, or too many were asked for."""
        name = name[:COMPARED]
        if name in self._told:
            return self._told[name]
        began = self._timer()
        self._left_s = min(SUGGESTING_BURST_S, self._left_s + SUGGESTING_SHARE * (began - self._at))
        self._at = began
        if self._left_s <= 0:
            return None
        found = self._names.nearest(name)
        if len(self._told) >= REMEMBERED:
            self._told.clear()
        self._told[name] = meant = None if found is None else self._meant[found]
        self._left_s -= self._timer() - began
        return meant
