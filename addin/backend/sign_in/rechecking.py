"""The provider is asked again about people who are signed in: who has left a group is out within some minutes.

One process of all that share the store asks at a time, because a provider may take a refresh token once only.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from secrets import token_hex

import msgspec
from starlette.exceptions import HTTPException

from addin.backend.sign_in.people import Grant, People
from addin.backend.sign_in.person import person_of
from addin.backend.sign_in.provider import NoLongerError, Provider
from addin.config.settings import Settings
from dataservice.stores import Store

LEASE = "people-recheck"
LEASE_S = 60.0
"""Longer than one question to the provider may take."""

ROUNDS = 5
"""Within `recheck_minutes` is looked so often for whom it is time to ask about."""

_log = logging.getLogger("addin.people")


@dataclass
class Rechecking:
    """Asks again about people, of whom `people` keeps the grants."""

    settings: Settings
    provider: Provider
    people: People
    store: Store
    clock: Callable[[], float] = time.time
    _owner: str = field(default_factory=lambda: token_hex(8))
    _next_at: float = float("-inf")

    async def round(self) -> None:
        """Ask about all for whom it is time, unless another process does, or it is too early for a round.

        Raises `LedgerAwayError`, and what the store raises. While the provider is away, sessions last, for at most
        `session_hours`.
        """
        now = self.clock()
        every_s = 60.0 * self.settings.recheck_minutes
        if self._next_at - every_s <= now < self._next_at or not await self._is_first():
            return
        self._next_at = now + every_s / ROUNDS
        try:
            for person_id, grant in (await self.people.grants()).items():
                if is_over(grant, now, lasts_s=3_600.0 * self.settings.session_hours):
                    await self.people.keep_grant(person_id, None)
                elif is_due(grant, now, every_s=every_s):
                    if not await self._is_first():
                        return
                    try:
                        await self._ask(person_id, grant)
                    except HTTPException as error:
                        _log.warning("whether %s may still be here is not known: %s", person_id, error.detail)
                        if error.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
                            return
        finally:
            await self.store.release(LEASE, self._owner)

    async def _is_first(self) -> bool:
        return await self.store.lease(LEASE, self._owner, LEASE_S)

    async def _ask(self, person_id: str, seen: Grant) -> None:
        grant = await self.people.grant(person_id)
        if grant != seen:
            return  # they have signed in again, or out
        try:
            known = await self.provider.ask_again(grant.refresh_token)
        except NoLongerError:
            await self.people.end_sessions(person_id, by="the provider")
            return
        person = person_of(known.claims, users=self.settings.oidc_users, admins=self.settings.oidc_admins)
        if person is None or await self.people.id_of(person.subject) != person_id:
            await self.people.end_sessions(person_id, by="another role at the provider")
        elif not await self.people.compare(person_id, person) and await self.people.grant(person_id) == seen:
            renewed = msgspec.structs.replace(grant, refresh_token=known.refresh_token, asked_at=self.clock())
            await self.people.keep_grant(person_id, renewed)


def is_due(grant: Grant, now: float, *, every_s: float) -> bool:
    """Return whether the provider is to be asked: early enough that the next round is not too late.

    >>> [is_due(Grant("", 0.0, 0.0), now, every_s=900.0) for now in (719.0, 721.0)]
    [False, True]
    """
    return not 0.0 <= now - grant.asked_at < every_s * (1 - 1 / ROUNDS)


def is_over(grant: Grant, now: float, *, lasts_s: float) -> bool:
    """Return whether every session that began with the grant has ended.

    >>> is_over(Grant("", 0.0, 30_000.0), 36_001.0, lasts_s=36_000.0)
    True
    """
    return now - grant.signed_in_at > lasts_s
