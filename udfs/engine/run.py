"""One function under way, and what it learns from the replies to its questions."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import Any

import msgspec

from dataservice.client import Answer, Catalogue, Page, Resource
from dataservice.client.contract import Collection
from dataservice.errors import (
    DataServiceError,
    InvalidRequestError,
    NotFoundError,
    PartialAnswerError,
    TierError,
)
from udfs.engine.effects import EVER, Asking, Question, Reply
from udfs.errors import UdfError

SETTLED = (NotFoundError, TierError, InvalidRequestError)
"""Refusals that stay true for a while: what rests on one of them is as good as it can be."""


class Resolved(msgspec.Struct, frozen=True, eq=False):
    """The reply to a question, and what it means for every function that goes on with it."""

    replies: tuple[Reply]
    fresh_until: float = EVER
    """Until when the answer counts as fresh; one that was accepted at any age, up to that age."""
    stale: Answer[Any] | None = None
    """The answer, where it is a last known value in place of a fresh one."""
    failed: DataServiceError | None = None
    """What kept an answer away, unless asking again would change nothing."""
    is_lacking: bool = False
    """Whether one of these two is there."""

    @classmethod
    def of(cls, question: Question, reply: Reply) -> Resolved:
        """Return what a function learns that asked `question`."""
        if isinstance(reply, Answer):
            max_age_s, fresh_until = question.cached_max_age_s, reply.fresh_until
            if max_age_s:
                fresh_until = max(fresh_until, reply.fetched_at + max_age_s)
            elif max_age_s is None and reply.stale_because is not None:
                return cls((reply,), fresh_until, stale=reply, is_lacking=True)
            is_list = question.records and isinstance(reply.value, Catalogue | Collection | Page)
            if is_list and (why := reply.value.lacks(question.records)):
                return cls((reply,), fresh_until, failed=PartialAnswerError(why), is_lacking=True)
            return cls((reply,), fresh_until)
        if isinstance(reply, DataServiceError) and not isinstance(reply, SETTLED):
            return cls((reply,), failed=reply, is_lacking=True)
        return cls((reply,))


class Run(msgspec.Struct, eq=False):
    """One function under way: what it asks now, what its result rests on so far, and how it ended."""

    asking: Asking[Any] | None
    """The function; None once it has ended, because its frame is larger than all else here."""
    result: Any = None
    error: BaseException | None = None
    questions: Sequence[Question] = ()
    fresh_until: float = EVER
    """Until when all its answers count as fresh; one that was accepted at any age, up to that age."""
    stale: Answer[Any] | None = None
    """The oldest last known value that it received in place of a fresh one."""
    failed: DataServiceError | None = None
    """Why a part of what it asked for is missing now and may come later."""
    requests: int = 0
    """Requests that were made for this function, answered or not; those of what several functions share are charged to
    the first that used it."""
    used: dict[Resource[Any], Answer[Any]] | None = None
    """The answers that went into its result; None where nobody wants to know them."""
    given_up: bool = False
    """Whether it was ended because nobody wanted its result any more."""
    sought: Resource[Any] | None = None
    """What it has said that it will fetch if nothing at hand is enough."""
    within: Run | None = None
    """The function that began it as one of its parts."""
    open_parts: int = 0
    """How many of its own parts have not ended."""

    @property
    def is_looking(self) -> bool:
        """Return whether it asks for what is at hand, and fetches nothing yet."""
        questions = self.questions
        return bool(questions) and all(question.cached_max_age_s is not None for question in questions)

    @property
    def whole(self) -> Run:
        """The call that it is a part of: itself, or the one that began it."""
        return self if self.within is None else self.within.whole

    def take(self, part: Run) -> None:
        """Count what one of its parts rests on and has spent as its own."""
        self.open_parts -= 1
        self.requests += part.requests
        self.fresh_until = min(self.fresh_until, part.fresh_until)
        self.failed = part.failed or self.failed
        self._note_stale(part.stale)
        if self.used is not None and part.used:
            self.used |= part.used

    def fail(self, error: BaseException) -> None:
        """Keep what ended the function, without the frames that it came through; whatever it is but the user's Ctrl-C.

        They hold this run, and with it all that the function has read: memory that only a full collection would find,
        which a backend seldom makes. Whoever reports an error of our own still learns where it was raised.
        """
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise error
        if not isinstance(error, (UdfError, DataServiceError)):
            error.add_note("".join(traceback.format_tb(error.__traceback__)))
        self.error = error
        behind: list[BaseException] = [error]  # an error may stand behind another that stands behind it
        for each in behind:
            each.__traceback__ = None
            behind += [
                other for other in (each.__cause__, each.__context__) if other is not None and other not in behind
            ]

    def note(self, learned: Resolved) -> None:
        """Note until when what the function goes on with is fresh, and what is old or missing in it."""
        if learned.fresh_until < self.fresh_until:
            self.fresh_until = learned.fresh_until
        if not learned.is_lacking:
            return
        self._note_stale(learned.stale)
        if learned.failed is not None:
            self.failed = learned.failed

    def _note_stale(self, stale: Answer[Any] | None) -> None:
        if stale is not None and (self.stale is None or stale.fetched_at < self.stale.fetched_at):
            self.stale = stale

    def close(self) -> None:
        """End the function where it stands, whatever it says to that."""
        asking, self.asking, self.questions = self.asking, None, ()
        try:
            if asking is not None:
                asking.close()
        except Exception:  # noqa: BLE001 - nobody waits for it any more
            return
