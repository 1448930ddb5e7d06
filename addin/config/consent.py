"""What a recalculation may spend without asking, by the settings; and what hosts that cannot ask say instead."""

from __future__ import annotations

import time
from collections.abc import Callable

from addin.config.settings import PREFIX, Settings
from addin.protocol.consent import Consent
from dataservice.client import AsyncClient, Quota
from dataservice.client.contract import utc_day


def consent_for(
    client: AsyncClient, settings: Settings, *, since: float = 0.0, clock: Callable[[], float] = time.time
) -> Consent:
    """The consent that requests of `client` need; what was told of the quota before `since`, or on another day, is old.

    Nobody is to be asked by what was left before a month began, or before somebody bought more and started anew.
    """

    def is_old() -> bool:
        quota = client.quota_now
        return quota is not None and (quota.seen_at < since or utc_day(quota.seen_at) != utc_day(clock()))

    return Consent(
        settings.ask_above, lambda: spendable(client.quota_now, settings), timer=time.monotonic, is_old=is_old
    )


def spendable(quota: Quota | None, settings: Settings) -> int | None:
    """Return how many requests may be sent this month; None as long as nobody knows."""
    if quota is None:
        return None
    left = quota.remaining - settings.reserve
    if settings.monthly_budget is not None:
        left = min(left, settings.monthly_budget - quota.used_here)
    return max(0, left)


def how_to_allow(settings: Settings) -> str:
    """Return what to do where nobody can be asked."""
    return f"ask for less, or to allow more than {settings.ask_above:,} at a time, set {PREFIX}ASK_ABOVE"
