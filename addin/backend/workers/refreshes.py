"""Refreshes that all processes know which share a store: a press of the button counts for every worker and machine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

import msgspec

from dataservice.stores import Entry, ResilientStore

WAIT_S = 1.0
"""How long a batch waits to learn of a refresh in another process: a store on a busy machine answers within that."""

WAIT_WHILE_SLOW_S = 0.05
"""How long it waits once the store has not answered in time: what was known before holds until it does again."""

NO_KEY = "none"
"""In place of the key's hash, where there is no key."""

ATTEMPTS = 5
"""Who wants to write while others do tries again; each attempt that fails is another's success."""


MAX_PURGED = 1_000
"""Signals whose purge is remembered: whoever asks for nothing while so many more are purged has old answers left."""


class Refreshed(msgspec.Struct, frozen=True):
    """The last refresh of a key: its generation, when it began, and when the last forced one began.

    `purged` tells of signals until when their answers are to be forgotten. Times are seconds since 1970.
    """

    generation: int
    began_at: float
    forced_at: float | None = None
    purged: dict[str, float] = {}

    def purged_since(self, before: Refreshed | None) -> dict[str, float]:
        """Return what was purged since an earlier refresh, or ever."""
        known = {} if before is None else before.purged
        return {slug: at for slug, at in self.purged.items() if known.get(slug) != at}


class SharedRefreshes:
    """The last refresh of each key, kept in `store` beside the key's answers."""

    def __init__(self, store: ResilientStore, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self._is_slow = False

    async def latest(self, scope: str | None, known: Refreshed | None) -> Refreshed:
        """The last refresh of the key that `scope` names; `known`, or a first one, while the store does not answer."""
        if known is None:
            return await self._kept(scope) or await self._written(scope, self._first)
        looking = asyncio.ensure_future(self._kept(scope))
        done, _ = await asyncio.wait({looking}, timeout=WAIT_WHILE_SLOW_S if self._is_slow else WAIT_S)
        self._is_slow = not done
        if not done:
            return known
        kept = looking.result()
        if kept is None or kept.generation < known.generation:  # a store that began again, without what it held
            return await self._written(scope, lambda _: known)
        return kept

    async def add(
        self, scope: str | None, began_at: float, *, force: bool = False, purge: Sequence[str] = ()
    ) -> Refreshed:
        """Let a refresh that began here at `began_at` be one for all; its generation is higher than any before.

        The signals of `purge` are forgotten by whoever joins.
        """
        return await self._written(scope, lambda kept: _next(kept, began_at, force=force, purge=purge))

    def _first(self, kept: Refreshed | None) -> Refreshed:
        return kept or _next(None, self._clock())

    async def _kept(self, scope: str | None) -> Refreshed | None:
        entry = await self._store.get_shared(_name(scope))
        try:
            return None if entry is None else msgspec.json.decode(entry.payload, type=Refreshed)
        except msgspec.MsgspecError:
            return None

    async def _written(self, scope: str | None, change: Callable[[Refreshed | None], Refreshed]) -> Refreshed:
        """Return what `change` makes of what is kept, once it is kept; a store that fails has nobody who disagrees."""
        for _ in range(ATTEMPTS):
            kept = await self._kept(scope)
            new = change(kept)
            if kept is not None and kept.generation >= new.generation:
                return kept
            entry = Entry(msgspec.json.encode(new), float(new.generation))
            if await self._store.replace(_name(scope), entry, float(kept.generation) if kept else None):
                break
        return new


def _next(kept: Refreshed | None, began_at: float, *, force: bool = False, purge: Sequence[str] = ()) -> Refreshed:
    generation = max(int(1000 * began_at), kept.generation + 1 if kept else 0)
    purged = {**(kept.purged if kept else {}), **dict.fromkeys(purge, began_at)}
    newest = sorted(purged.items(), key=lambda each: each[1])[-MAX_PURGED:]
    return Refreshed(generation, began_at, began_at if force else kept.forced_at if kept else None, dict(newest))


def _name(scope: str | None) -> str:
    return f"{scope or NO_KEY}/refresh"
