"""Whether to ask for the catalogue before names that may not exist: it settles them all at once."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from dataservice.client.cache.answer_cache import AnswerCache
from dataservice.client.contract.requests import CATALOGUE_LIMIT
from dataservice.client.contract.resources import CatalogueResource
from dataservice.client.contract.windows import utc_day
from dataservice.stores import ResilientStore

MANY_NAMES = 4
"""For fewer names the catalogue is not asked: it costs a request, too, and they likely exist."""


class CatalogueCheck(Enum):
    """Whether names that nothing at hand vouches for exist: asked for as they are, a few first, or looked up first."""

    NONE = "none"
    PROBE = "probe"
    LOAD = "load"


class UnknownNames:
    """Counts the names that turned out not to exist today, together with the processes that share the store."""

    def __init__(self, cache: AnswerCache, store: ResilientStore, *, clock: Callable[[], float]) -> None:
        self._cache = cache
        self._store = store
        self._clock = clock
        self._here = 0
        self._day = ""

    async def note(self) -> None:
        """Count one more."""
        await self._count(1)

    async def catalogue_check(self, names: int) -> CatalogueCheck:
        """Return how doubtful `names` names are that nothing at hand vouches for.

        They are looked up if one did not exist today, and the catalogue, as large as it was last seen, costs no more
        than asking for all of that kind.
        """
        unknown = await self._count(0)
        if names + unknown < MANY_NAMES:
            return CatalogueCheck.NONE
        known = self._cache.in_memory(CatalogueResource())
        pages = 1 if known is None else -(-len(known.value) // CATALOGUE_LIMIT)
        if names + unknown < pages:
            return CatalogueCheck.NONE
        return CatalogueCheck.LOAD if unknown else CatalogueCheck.PROBE

    async def _count(self, names: int) -> int:
        day = str(utc_day(self._clock()))
        self._here = (self._here if day == self._day else 0) + names
        self._day = day
        if self._cache.scope is None:
            return self._here
        shared = await self._store.add(f"{self._cache.scope}/unknown/{day}", names)
        return max(self._here, shared or 0)
