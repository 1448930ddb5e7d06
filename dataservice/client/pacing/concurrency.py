"""How many requests may be under way: few to begin with, more while answers come as fast as before, fewer when not.

Pure: additive increase, multiplicative decrease, by round (as many answers as may be under way), after TCP Vegas.
"""

from __future__ import annotations

from statistics import median

FIRST_ROUND = 3
"""So few find out whether a limit a second is in the way: what a limit of one a second refuses of them costs little."""

OPENING_SHARE = 5
"""The first rounds grow by a fifth of what waits: if one meets a limit, little is refused for what is to come.

Where much waits, a service far away is used fully after one of them.
"""

STEP = 1 / 8
"""Of the places, each later round: the way back after a cut."""

SLOWER = 3.0
SLACK_S = 0.05
"""A round whose median takes more than three times as long as the fastest, and by this more, has waited in a queue.

It may be one of this very machine, which has other work to do, where fewer requests would only take longer in all: so
the next rounds show whether fewer helped.
"""

LEAST_SHARE = 1 / 4
"""Of all places, however slow the answers are: only refusals and losses leave fewer."""

CUT = 0.75
HALF = 0.5

JUDGED_AT = 0.6
"""When so much is left of the places, answers show whether fewer under way take less time: in a queue, as much less."""

PATIENT_ROUNDS = 20
"""If they do not, slow answers cut nothing for so many rounds: then it is tried again."""

FORGET = 1.01
"""The fastest round counts a little less with every later one: the way to the service may have changed."""


class Concurrency:
    """The number of places for requests under way, 1 to `most`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.places = min(FIRST_ROUND, most)
        self.is_opening = True
        """Whether no limit was met yet, and not all places were tried."""
        self.latency_s = 0.0
        """The median of the last round."""
        self._fastest_s = float("inf")
        self._answers = 0
        self._latencies: list[float] = []
        self._cut_at = float("-inf")
        self._before_cut = (0, 0.0)
        """The places before the first of the cuts that are to be judged, and the longest that answers took since."""
        self._patient = 0
        """Rounds in which slow answers cut nothing."""
        self._overtaken = 0
        """So many answers to come were asked for before a cut: they do not show what it did."""

    def open(self) -> None:
        """Begin with all places: another process has found no limit."""
        self.places, self.is_opening = self.most, False

    def answered(self, latency_s: float | None, *, were_all_taken: bool, waiting: int = 0) -> None:
        """An answer came, `latency_s` after its request was sent, where that can be compared with others.

        So many others are `waiting`: that counts only while it `is_opening`.
        """
        if self._overtaken:
            self._overtaken -= 1
            return
        self._answers += 1
        if latency_s is not None:
            self._latencies.append(latency_s)
        if self._answers >= self.places:
            self._end_round(were_all_taken=were_all_taken, waiting=waiting)

    def troubled(self, sent_at: float, now: float) -> None:
        """A request was refused, or lost: half as many from now on; those that were under way with it count once."""
        self.is_opening = False
        if sent_at > self._cut_at:
            self._cut_at = now
            self._set(self.places * HALF)
        self._answers = 0
        self._latencies.clear()

    def _end_round(self, *, were_all_taken: bool, waiting: int) -> None:
        self._answers = 0
        is_slower = False
        if self._latencies:
            self.latency_s = median(self._latencies)
            self._latencies.clear()
            self._fastest_s = min(self._fastest_s * FORGET, self.latency_s)
            is_slower = self.latency_s > SLOWER * self._fastest_s + SLACK_S
        self._patient = max(0, self._patient - 1)
        if not is_slower:
            self._before_cut = (0, 0.0)
        if is_slower and not self._patient:
            self._cut()
        elif self.is_opening:
            self._set(self.places + max(1, waiting // OPENING_SHARE))
            self.is_opening = self.places < self.most
        elif were_all_taken:
            self._set(self.places + max(1.0, self.places * STEP))

    def _cut(self) -> None:
        """Let fewer be under way, or as many as before the cuts where these have not helped."""
        self.is_opening, places = False, self.places
        before, slow_s = self._before_cut
        if before and places <= JUDGED_AT * before:
            self._before_cut = (0, 0.0)
            if self.latency_s > slow_s * (1 + places / before) / 2:
                self._patient = PATIENT_ROUNDS
                self._set(before)
                return
        self._set(max(places * CUT, min(places, self.most * LEAST_SHARE)))
        if self.places < places:
            self._overtaken = places
            before, slow_s = self._before_cut
            self._before_cut = (before or places, max(slow_s, self.latency_s))

    def _set(self, places: float) -> None:
        self.places = max(1, min(self.most, int(places)))
