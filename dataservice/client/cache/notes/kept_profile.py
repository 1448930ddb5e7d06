"""The profile of a service as it is kept for a key: what a probe found, and what answers have shown since."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import msgspec

from dataservice.client.contract.completeness.evidence import Evidence
from dataservice.client.contract.profile import Profile, decode, encode, profile_name
from dataservice.stores import Entry, ResilientStore


class KeptProfile:
    """The entry of one key; `scope` names it, None before the store is open."""

    def __init__(self, store: ResilientStore, scope: Callable[[], str | None], clock: Callable[[], float]) -> None:
        self._store = store
        self._scope = scope
        self._clock = clock
        self._learning = asyncio.Lock()

    async def get(self, version: str, *, even_old: bool = False) -> Profile | None:
        """The profile, where it still holds and is of the `version` that the service says; None where it says none.

        `even_old`: whether it holds or not.
        """
        for name in dict.fromkeys((profile_name(version), profile_name())):
            found = await self._entry(name)
            if found is not None and found.is_of(version) and (even_old or found.holds(self._clock())):
                return found
        return None

    async def _entry(self, name: str) -> Profile | None:
        scope = self._scope()
        kept = None if scope is None else await self._store.get(scope + name)
        try:
            return None if kept is None else decode(kept.payload)
        except (msgspec.MsgspecError, ValueError):
            return None

    async def put(self, profile: Profile) -> None:
        """Keep what a probe found, as the last one, and for the version that the service says."""
        if (scope := self._scope()) is not None:
            for name in {profile_name(), profile_name(profile.evidence.version)}:
                await self._store.put(scope + name, Entry(encode(profile), profile.made_at))

    async def learn(self, seen: Evidence) -> None:
        """Keep what answers have shown: other processes, and later ones, need not find it out again."""
        async with self._learning:  # what was seen last is kept last
            before = await self.get(seen.version)
            findings, requests = (before.findings, before.requests) if before else ((), 0)
            made_at = before.made_at if before and before.findings else self._clock()
            await self.put(Profile(made_at, requests, findings, evidence=replace(seen, claims_are_idle=False)))
