"""What a monitor is told beside counts: what works, what is left, and when the certificate ends. And who may ask."""

from __future__ import annotations

import asyncio
import hmac
import shutil
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.requests import Request

from addin.backend.http import is_on_this_machine
from addin.backend.sign_in.person import person_in

if TYPE_CHECKING:
    from addin.backend.state import BackendState

LOOK_EVERY_S = 900.0
"""How often the certificate is looked at: it ends on a day, not at a second."""

LOOK_S = 3.0


def has_token(request: Request, token: str) -> bool:
    """Return whether the request carries the token for metrics; never where none is set."""
    sent = request.headers.get("authorization", "").encode()
    return bool(token) and hmac.compare_digest(sent, f"Bearer {token}".encode())


def may_scrape(request: Request, token: str) -> bool:
    """Whether the caller may read the metrics: where a token is set, with it, from this machine, or signed in."""
    return not token or has_token(request, token) or is_on_this_machine(request) or person_in(request) is not None


async def facts_of(backend: BackendState) -> dict[str, float]:
    """The gauges that are known now, by name."""
    settings = backend.settings
    readiness = await backend.readiness.now()
    facts = {f"{part}_up": float(state == "ok") for part, state in readiness.parts.items()}
    facts["started_seconds"] = backend.started_at
    facts["workers_wanted"] = settings.workers
    with suppress(OSError):
        facts["disk_free_bytes"] = shutil.disk_usage(backend.cache_folder).free
    if (quota := backend.own.client.quota_now) is not None:
        spendable = quota.remaining - settings.reserve
        if settings.monthly_budget is not None:
            spendable = min(spendable, settings.monthly_budget - quota.used_here)
        facts |= {"quota_remaining": quota.remaining, "quota_cap": quota.cap, "budget_remaining": max(0, spendable)}
    if (ends := await backend.certificate.ends_at()) is not None:
        facts["certificate_end_seconds"] = ends
    return facts


class PublicCertificate:
    """The certificate that users see at the public address, looked at now and then."""

    def __init__(self, public_url: str | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        parts = urlsplit(public_url or "")
        self._address = (parts.hostname or "", parts.port or 443) if parts.scheme == "https" else None
        self._clock = clock
        self._looked_at = float("-inf")
        self._ends_at: float | None = None

    async def ends_at(self) -> float | None:
        """Return when it ends, in seconds since 1970; None where that is not known."""
        if self._address is not None and self._clock() - self._looked_at > LOOK_EVERY_S:
            self._looked_at = self._clock()
            with suppress(OSError, ValueError):
                self._ends_at = await asyncio.to_thread(_end_of, self._address)
        return self._ends_at


def _end_of(address: tuple[str, int]) -> float:
    from cryptography.x509 import load_pem_x509_certificate  # takes a while to load

    text = ssl.get_server_certificate(address, timeout=LOOK_S)
    return load_pem_x509_certificate(text.encode("ascii")).not_valid_after_utc.timestamp()
