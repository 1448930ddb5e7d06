"""What calls that are evaluated together may fetch and have spent, within the consent of their key."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any, TypeVar

from addin.protocol.consent import Consent, OpenQuestion
from dataservice.client import Bound, HistoryResource, Meter, Resource
from dataservice.errors import UnconfirmedError

T = TypeVar("T")

PROBES = 4
"""So many histories are read first where more than twice as many are to come: their pages tell what all will take."""


class PendingBatch:
    """Calls that are evaluated together: what they may fetch, what they spent, and what nobody was told of that."""

    def __init__(self, consent: Consent, where: str, bound: Bound | None = None) -> None:
        self._consent = consent
        self.bound = bound
        """The most that it may send, in requests; None where only the consent bounds it."""
        self._where = where
        self._allowed: set[Resource[Any]] = set()
        self._to_come: set[Resource[Any]] = set()
        """What may be fetched and was not begun."""
        self._histories_begun = 0
        self._histories_ended = 0
        self._is_probed = asyncio.Event()
        self._answers = 0
        self._spent = 0
        self.refused: UnconfirmedError | None = None
        """Why it fetches nothing more."""
        self._question: OpenQuestion | None = None
        self.untold = Meter()

    @property
    def is_answered(self) -> bool:
        """Return whether it was refused for a question that is not open any more."""
        return self._question is not None and self._consent.question is not self._question

    def first_to_find_out(self, resources: Sequence[Resource[Any]]) -> Resource[Any] | None:
        """Return which is to be read first, because its answer tells how many requests are left; None for none."""
        new = [each for each in resources if each not in self._allowed]
        if not new or self.refused is not None or not self._consent.has_to_find_out(set(new)):
            return None
        return min(new, key=_is_history)  # a history may take several requests

    def ask_for(self, resources: Sequence[Resource[Any]]) -> None:
        """Decide whether what is to be fetched next may be fetched."""
        new = set(resources).difference(self._allowed)
        if new and self.refused is None:
            self.refused = self._consent.refusal(new, self._where)
            self._question = self._consent.question if self.refused is not None else None
        if self.refused is None:
            self._allowed |= new
            self._to_come |= new

    async def begin(self, resource: Resource[Any]) -> None:
        """Count a resource as being fetched; of many histories all but a few wait until it is known what those take."""
        if isinstance(resource, HistoryResource):
            if not self._histories_begun and sum(map(_is_history, self._to_come)) <= 2 * PROBES:
                self._is_probed.set()
            self._histories_begun += 1
            if self._histories_begun > PROBES:
                await self._is_probed.wait()
        self._to_come.discard(resource)

    def end(self, resource: Resource[Any], requests: int) -> None:
        """Count what an answer has cost; if the rest will cost too much, it is asked for before it is fetched."""
        self.untold.add(requests)
        self._answers += requests > 0
        self._spent += requests
        is_too_much = requests > 1 and self._consent.takes_too_many(requests - 1)
        if isinstance(resource, HistoryResource):
            self._histories_ended += 1
            if self._histories_ended == PROBES and not self._is_probed.is_set():
                more = math.ceil(sum(map(_is_history, self._to_come)) * (self._each - 1))
                is_too_much = is_too_much or not self._consent.covers(more)
                self._is_probed.set()
        if is_too_much and self._to_come and self.refused is None:
            self.refused = self._consent.refusal_of_rest(self._to_come, self._each, self._where)
            self._question = self._consent.question if self.refused is not None else None

    @property
    def _each(self) -> float:
        """The requests that one answer took."""
        return self._spent / self._answers if self._answers else 1.0


def _is_history(resource: Resource[Any]) -> bool:
    return isinstance(resource, HistoryResource)
