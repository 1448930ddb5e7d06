"""What a recalculation may spend without asking, by the settings; and what hosts that cannot ask say instead."""

from __future__ import annotations

import time

from addin.config.settings import PREFIX, Settings
from addin.protocol.consent import Consent
from dataservice.client import AsyncClient, Quota


def consent_for(client: AsyncClient, settings: Settings) -> Consent:
    """The consent that requests of `client` need."""
    return Consent(settings.ask_above, lambda: spendable(client.quota_now, settings), timer=time.monotonic)


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
