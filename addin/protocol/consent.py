"""Whether a recalculation may spend what it needs, or the user is asked first: decided before its first request.

One question at a time stands for all that wait: calls that come in a few batches are one recalculation. A yes allows
what was asked for; a no holds until the next refresh. How many pages a history has is known only once it is read: so
what its pages cost is counted as they come, and the rest of a recalculation is asked for when they are too many.
Nothing here waits or sends.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from addin.protocol.messages import Question
from dataservice.client import Resource
from dataservice.errors import UnconfirmedError

RECALCULATION_S = 3.0
"""Batches that begin so soon after each other belong to one recalculation."""

ALLOWED_S = 900.0
"""How long a yes holds after it was last made use of: as long as an answer stays fresh by default, whatever `ttl_s`."""

_numbers = count(1 + secrets.randbelow(2**32))
"""Processes that share a port must not mean different questions by one number."""


@dataclass(slots=True)
class OpenQuestion:
    """A question to the user: whether to send so many requests; `left` is what the month has, None if not known."""

    number: int
    left: int | None
    limit: int
    grown_at: float
    resources: set[Resource[Any]] = field(default_factory=set)
    each: float = 1.0
    """The requests that one of them takes, as far as was seen."""
    sent: int = 0
    """What the same recalculation took before it came to ask."""

    @property
    def requests(self) -> int:
        """The requests that it takes: at least so many, or about so many once the pages of some are known."""
        return math.ceil(len(self.resources) * self.each)

    @property
    def needs(self) -> str:
        """Return what it takes, in words."""
        return f"needs {'about ' if self.each > 1 else ''}{_requests(self.requests)}"

    @property
    def beside(self) -> str:
        """Return what was sent already, in words; empty if nothing was."""
        return f" beside the {self.sent:,} sent already" if self.sent else ""

    @property
    def shortfall(self) -> str:
        """That fewer are left, in words; empty if they are not."""
        short = self.left is not None and self.requests > self.left
        return f", and only {self.left:,} are left this month" if short else ""

    @property
    def text(self) -> str:
        """One sentence for the user."""
        if self.shortfall:
            return f"This {self.needs}{self.beside}{self.shortfall}."
        left = "" if self.left is None else f" of the {self.left:,} left this month"
        return f"This {self.needs}{left}{self.beside}; more than {self.limit:,} are sent only after a yes."

    @property
    def message(self) -> Question:
        """The question as hosts get it."""
        return Question(id=self.number, requests=self.requests, left=self.left, text=self.text)


class Consent:
    """The requests that one key's recalculations may spend unasked, and the answer to the question that is open.

    Up to `ask_above` requests are sent without asking. `spendable` tells how many are left, `timer` counts seconds, and
    `is_old` tells whether how many are left was heard so long ago that it may be otherwise by now.
    """

    def __init__(
        self,
        ask_above: int,
        spendable: Callable[[], int | None],
        *,
        timer: Callable[[], float],
        is_old: Callable[[], bool] = lambda: False,
    ) -> None:
        self._ask_above = ask_above
        self._spendable = spendable
        self._is_old = is_old
        self._timer = timer
        self.question: OpenQuestion | None = None
        """The question that waits for an answer."""
        self._declined = 0
        """For how many requests the answer was no."""
        self._allowed = 0
        self._used_at = float("-inf")
        self._unasked: set[Resource[Any]] = set()
        """What the recalculation of this moment may fetch without a question."""
        self._unasked_pages = 0
        """How many requests that has taken beyond one each."""
        self._unasked_at = float("-inf")

    def has_to_find_out(self, resources: Collection[Resource[Any]]) -> bool:
        """Return whether only what was heard long ago speaks against these: then one of them finds out what is left."""
        now, left = self._timer(), self._spendable() if self._is_old() else None
        if not left or self._is_covered(len(resources), now):
            return False
        unasked = self._sent_unasked if now - self._unasked_at <= RECALCULATION_S else 0
        return unasked + len(resources) > left

    def refusal(self, resources: Collection[Resource[Any]], place: str) -> UnconfirmedError | None:
        """Return why these may not be fetched now, None if they may; `place` is where the user can answer."""
        now = self._timer()
        if self._is_allowed(len(resources), now):
            return None
        left = self._spendable()
        if left == 0:
            return None  # nothing can be sent, and the cells say why
        if now - self._unasked_at > RECALCULATION_S:
            self._forget_unasked()
        together = self._unasked.union(resources)
        question = self.question
        is_new = question is None or now - question.grown_at > RECALCULATION_S
        if is_new and len(together) + self._unasked_pages <= self._limit(left):
            self._unasked, self._unasked_at = together, now
            return None
        return self._refused(resources, place, left)

    def covers(self, pages: int) -> bool:
        """Return whether so many more requests than was known may be sent without a question."""
        allowed = self._allowed if self._timer() - self._used_at <= ALLOWED_S else 0
        return pages <= allowed or self._sent_unasked + pages <= self._limit(self._spendable())

    def takes_too_many(self, pages: int) -> bool:
        """Count requests that an answer took beyond its first; whether the rest has to be asked for now."""
        now = self._timer()
        if now - self._used_at <= ALLOWED_S:
            covered = min(pages, self._allowed)
            self._allowed -= covered
            pages -= covered
        if pages == 0:
            return False
        self._unasked_pages += pages
        self._unasked_at = now
        return self._sent_unasked > self._limit(self._spendable())

    @property
    def _sent_unasked(self) -> int:
        """Return what the recalculation of this moment takes without a question, as far as is known."""
        return len(self._unasked) + self._unasked_pages

    def refusal_of_rest(self, resources: Collection[Resource[Any]], each: float, place: str) -> UnconfirmedError | None:
        """Return why the rest of a recalculation may not be fetched, of which one took `each` requests so far."""
        left = self._spendable()
        return None if left == 0 else self._refused(resources, place, left, each)

    def _limit(self, left: int | None) -> int:
        """Return how many requests are sent without a question."""
        return self._ask_above if left is None else min(self._ask_above, left)

    def _refused(
        self, resources: Collection[Resource[Any]], place: str, left: int | None, each: float = 1.0
    ) -> UnconfirmedError:
        """Ask for these, together with what is being asked for already."""
        now, question = self._timer(), self.question
        if self._declined:
            return UnconfirmedError(f"{_requests(self._declined)} were not wanted; Refresh asks again")
        if question is None:
            sent = len(self._unasked.difference(resources)) + self._unasked_pages
            question = self.question = OpenQuestion(next(_numbers), left, self._ask_above, now, sent=sent)
        if not question.resources.issuperset(resources):
            question.grown_at = now
        question.left = left
        question.each = max(question.each, each)
        question.resources.update(resources)
        return UnconfirmedError(f"this {question.needs}{question.beside}{question.shortfall}; {place}")

    def answer(self, number: int, *, yes: bool) -> int | None:
        """Take the user's answer to a question; for how many requests it was, None if it is not open any more."""
        question = self.question
        if question is None or question.number != number:
            return None
        self.learn(question.requests, yes=yes)
        return question.requests

    def learn(self, requests: int, *, yes: bool) -> None:
        """Take the user's answer for so many requests; it may have been given to another process."""
        self.question = None
        self._declined = 0 if yes else requests
        if yes:
            self._allowed = requests + self._ask_above
            self._used_at = self._timer()

    def reset(self) -> None:
        """Ask again from now on, after a no; a yes stays."""
        self._declined = 0
        self.question = None
        self._forget_unasked()

    def _forget_unasked(self) -> None:
        self._unasked.clear()
        self._unasked_pages = 0

    def _is_allowed(self, requests: int, now: float) -> bool:
        if requests == 0:
            return True
        if not self._is_covered(requests, now):
            return False
        self._allowed -= requests
        self._used_at = now
        return True

    def _is_covered(self, requests: int, now: float) -> bool:
        """Return whether a yes allows so many."""
        return requests <= self._allowed and now - self._used_at <= ALLOWED_S


def _requests(number: int) -> str:
    return f"{number:,} {'request' if number == 1 else 'requests'}"
