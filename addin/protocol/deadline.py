"""A reader with a deadline: what has not arrived by then is answered with the last known value.

The deadline of a load counts only the time in which the service answered nothing.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from dataservice.client import Answer, CatalogueCheck, Meter, Miss, Resource
from dataservice.errors import DeadlineExceededError, UnavailableError
from dataservice.fair_timeout import FairTimeout
from udfs.engine import Reader

T = TypeVar("T")

START_GRACE_S = 0.5
"""Reads begin up to so long after the deadline, to continue behind it; a hundred thousand later ones would take longer
to begin than the whole batch may take."""

STORE_GRACE_S = 3.0
"""Stores are looked into for last known values up to so long after the deadline: about ten thousand of them."""


class Progress:
    """The moment at which the service last answered anything."""

    def __init__(self) -> None:
        self.at = -math.inf


class WithinDeadline:
    """Reads through another reader for at most `deadline_s` seconds in all, over any number of rounds.

    With `progress`, for at most so many seconds in which no read got an answer. `late` counts the requests that reads
    spend after their batch has ended.
    """

    def __init__(
        self,
        reader: Reader,
        *,
        deadline_s: float,
        timer: Callable[[], float] | None = None,
        late: Meter | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._reader = reader
        self.peek = reader.peek
        self._timer = timer or asyncio.get_running_loop().time
        self._began = self._timer()
        self._progress = progress
        self._deadline_s = deadline_s
        self._late = Meter() if late is None else late

    async def last_known(self, resource: Resource[T]) -> Answer[T] | None:
        """The answer in any cache."""
        return await self._reader.last_known(resource)

    async def catalogue_check(self, names: int) -> CatalogueCheck:
        """Return whether so many names are to be looked up in the catalogue first."""
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
        known = self._reader.peek(resource, max_age_s=math.inf) or await self._known_late(resource, known_miss, left_s)
        if known is None:
            raise late
        return known.stale(late)

    def _goes_on(self, reading: asyncio.Future[Answer[Any]], meter: Meter) -> None:
        reading.add_done_callback(_retrieve_failure)
        meter.pass_to(self._late)

    def _left_s(self) -> float:
        since = self._began if self._progress is None else max(self._began, self._progress.at)
        return since + self._deadline_s - self._timer()

    async def _is_done(self, reading: asyncio.Future[Answer[T]], left_s: float) -> bool:
        """Return whether the read ends in time, which others that get answers prolong."""
        await _ended(reading, left_s)
        if self._progress is None:
            return reading.done()
        while not reading.done() and (left_s := self._left_s()) > 0:
            await _ended(reading, left_s)
        if reading.done() and _is_answered(reading):
            self._progress.at = self._timer()
        return reading.done()

    async def _known_late(self, resource: Resource[T], known_miss: Miss[T] | None, left_s: float) -> Answer[T] | None:
        """The last known answer; once the deadline has long passed no store is looked into, so that all cells end."""
        if known_miss is not None:
            return known_miss.last_known
        return await self._reader.last_known(resource) if left_s > -STORE_GRACE_S else None


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
