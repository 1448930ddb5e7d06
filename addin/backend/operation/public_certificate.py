"""The end of the certificate that users see, which may be a proxy's."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

LOOK_EVERY_S = 60.0
"""How often the certificate is looked at: who has renewed it wants to see that."""

LOOK_S = 3.0


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
