"""What a host puts before the client: a deadline for all reads of a batch, and the consent to what they spend.

What has not arrived in time, or may not be fetched, is answered with the last known value. Where cells load, the
deadline counts only the time in which the service answered nothing.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from addin.protocol.pending_batch import PendingBatch
from dataservice.client import Answer, CatalogueCheck, Meter, Miss, Resource
from dataservice.errors import DataServiceError, DeadlineExceededError, UnavailableError
from dataservice.fair_timeout import FairTimeout
from udfs.engine import Reader

T = TypeVar("T")

START_GRACE_S = 0.5
"""Reads begin up to so long after the deadline, to continue behind it; a hundred thousand later ones would take longer
to begin than the whole batch may take."""

STORE_GRACE_S = 3.0
"""Stores are looked into for last known values up to so long after the deadline: about ten thousand of them."""


class LastAnswered:
    """The moment at which the service last answered anything."""

    def __init__(self) -> None:
        self.at = -math.inf


class WithinDeadline:
    """Reads through another reader for at most `deadline_s` seconds in all, over any number of rounds.

    With `last_answered`, for at most so many seconds in which no read got an answer. `late` counts the requests that
    reads spend after their batch has ended.
    """

    def __init__(
        self,
        reader: Reader,
        *,
        deadline_s: float,
        timer: Callable[[], float] | None = None,
        late: Meter | None = None,
        last_answered: LastAnswered | None = None,
    ) -> None:
        self._reader = reader
        self.peek = reader.peek
        self._timer = timer or asyncio.get_running_loop().time
        self._began = self._timer()
        self._last_answered = last_answered
        self._deadline_s = deadline_s
        self._late = Meter() if late is None else late

    async def last_known(self, resource: Resource[T]) -> Answer[T] | None:
        """The answer in any cache."""
        return await self._reader.last_known(resource)

    async def catalogue_check(self, names: int) -> CatalogueCheck:
        """How so many names are to be tried: as the reader behind says."""
        return await self._reader.catalogue_check(names)

    async def read(
        self, resource: Resource[T], *, known_miss: Miss[T] | None = None, meter: Meter | None = None
    ) -> Answer[T]:
        """The answer; when time is up the last known one, marked stale, or `DeadlineExceededError`.

        A late read continues in the background, so that the next batch finds its answer in the cache.
        """
        left_s = self._left_s()
        if left_s > -START_GRACE_S:
            meter = Meter() if meter is None else meter
            reading = asyncio.ensure_future(self._reader.read(resource, known_miss=known_miss, meter=meter))
            try:
                if await self._is_done(reading, left_s):
                    return reading.result()
            except asyncio.CancelledError:  # its caller left, and the read goes on: somebody has to tell its requests
                self._late.add(meter.take())
                self._goes_on(reading, meter)
                raise
            self._goes_on(reading, meter)
        late = DeadlineExceededError(f"no answer within {self._deadline_s:g} s")
        if left_s <= -STORE_GRACE_S:  # the deadline has long passed: no store is looked into, so that all cells end
            known_miss = known_miss or Miss(None)
        return await _last_known(self._reader, resource, known_miss, late)

    def _goes_on(self, reading: asyncio.Future[Answer[Any]], meter: Meter) -> None:
        reading.add_done_callback(_retrieve_failure)
        meter.pass_to(self._late)

    def _left_s(self) -> float:
        since = self._began if self._last_answered is None else max(self._began, self._last_answered.at)
        return since + self._deadline_s - self._timer()

    async def _is_done(self, reading: asyncio.Future[Answer[T]], left_s: float) -> bool:
        """Return whether the read ends in time, which others that get answers prolong."""
        await _ended(reading, left_s)
        if self._last_answered is None:
            return reading.done()
        while not reading.done() and (left_s := self._left_s()) > 0:
            await _ended(reading, left_s)
        if reading.done() and _is_answered(reading):
            self._last_answered.at = self._timer()
        return reading.done()


class GuardedReader:
    """Reads through another reader what a batch may fetch, and counts what that spends as soon as it is known.

    What may not be fetched is answered with the last known value.
    """

    def __init__(self, reader: WithinDeadline, batch: PendingBatch) -> None:
        self._reader = reader
        self._batch = batch
        self.peek = reader.peek
        self.last_known = reader.last_known

    async def gate(self, resources: Sequence[Resource[Any]]) -> None:
        """Find out whether what is to be fetched next may be fetched."""
        if (first := self._batch.first_to_find_out(resources)) is not None:
            with suppress(DataServiceError):  # whoever reads it is told
                await self._counted(first)
        self._batch.ask_for(resources)

    async def catalogue_check(self, names: int) -> CatalogueCheck:
        """How so many names are to be tried: as they are where nothing may be fetched."""
        return CatalogueCheck.NONE if self._batch.refused else await self._reader.catalogue_check(names)

    async def read(
        self,
        resource: Resource[T],
        *,
        known_miss: Miss[T] | None = None,
        meter: Meter | None = None,
    ) -> Answer[T]:
        """The answer; `UnconfirmedError` where nothing may be fetched and nothing is known."""
        if self._batch.refused is None:
            await self._batch.begin(resource)
        if self._batch.refused is not None:
            return await _last_known(self._reader, resource, known_miss, self._batch.refused.afresh())
        return await self._counted(resource, known_miss=known_miss, meter=meter)

    async def _counted(
        self, resource: Resource[T], *, known_miss: Miss[T] | None = None, meter: Meter | None = None
    ) -> Answer[T]:
        spent = Meter(self._batch.bound)
        try:
            return await self._reader.read(resource, known_miss=known_miss, meter=spent)
        finally:
            requests = spent.take()
            self._batch.end(resource, requests)
            if meter is not None:
                meter.add(requests)


def guarded(
    client: Reader,
    batch: PendingBatch,
    *,
    deadline_s: float,
    late: Meter | None = None,
    last_answered: LastAnswered | None = None,
) -> GuardedReader:
    """A reader that answers `batch` within its deadline and the consent; the rest as for `WithinDeadline`."""
    return GuardedReader(WithinDeadline(client, deadline_s=deadline_s, late=late, last_answered=last_answered), batch)


async def _last_known(
    reader: Reader, resource: Resource[T], known_miss: Miss[T] | None, because: DataServiceError
) -> Answer[T]:
    """The last known answer, marked with why there is no fresh one; raises that where nothing is known."""
    known = reader.peek(resource, max_age_s=math.inf) or (
        known_miss.last_known if known_miss else await reader.last_known(resource)
    )
    if known is None:
        raise because
    return known.stale(because)


async def _ended(reading: asyncio.Future[Any], left_s: float) -> None:
    """Wait until the read ends, for so long at most."""
    with suppress(TimeoutError), FairTimeout(max(0.0, left_s)):
        await asyncio.wait({reading})


def _is_answered(reading: asyncio.Future[Answer[Any]]) -> bool:
    """Return whether the service, or a cache, gave an answer, which may be a refusal."""
    error = reading.exception() or reading.result().stale_because
    return not isinstance(error, UnavailableError)


def _retrieve_failure(reading: asyncio.Future[Any]) -> None:
    """Retrieve a late failure, which nobody awaits any more, so that asyncio does not report it."""
    if not reading.cancelled():
        reading.exception()
