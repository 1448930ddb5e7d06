"""The connections to the service: through the system's proxy, trusting whom the settings trust.

All clients of a backend share them, bounded in all and closed when idle.
"""

from __future__ import annotations

import ssl
from functools import cached_property
from pathlib import Path

import httpx

from addin.errors import SettingsError

IDLE_S = 30.0
"""An idle connection is closed after half a minute: within a workbook's recalculations it is used again."""


class ServiceConnections(httpx.AsyncBaseTransport):
    """A transport over one pool. A client that is closed leaves the pool open for the others: `close_all` ends it.

    Each client puts its own key on its requests, so a connection knows no key.
    """

    def __init__(self, base_url: str, max_connections: int, ca_file: Path | None = None) -> None:
        self._verify = trusted(ca_file)
        self._http2 = base_url.startswith("https:")
        self._limits = httpx.Limits(
            max_connections=max_connections, max_keepalive_connections=max_connections, keepalive_expiry=IDLE_S
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The response of the service, its body still to be read."""
        response = await self._http.send(request, stream=True)
        self._http.cookies.clear()  # nothing of one user's answer is kept for another
        return response

    async def close_all(self) -> None:
        """Close every connection."""
        if "_http" in self.__dict__:
            await self._http.aclose()

    @cached_property
    def _http(self) -> httpx.AsyncClient:
        # A client and not a transport, because only a client finds the system's proxies.
        return httpx.AsyncClient(http2=self._http2, limits=self._limits, follow_redirects=False, verify=self._verify)


class OwnConnections(ServiceConnections):
    """Connections of one client, which are closed with it."""

    async def aclose(self) -> None:
        """Close every connection."""
        await self.close_all()


def trusted(ca_file: Path | None) -> ssl.SSLContext | bool:
    """Whom https trusts: the usual authorities, or those in SSL_CERT_FILE or SSL_CERT_DIR; and those in `ca_file`.

    Raises `SettingsError` if the file cannot be read or holds no certificate.
    """
    if ca_file is None:
        return True
    context = httpx.create_ssl_context()
    try:
        context.load_verify_locations(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        why = "holds no certificate in PEM form" if isinstance(error, ssl.SSLError) else error.strerror
        raise SettingsError(f"the setting ca_file cannot be used: {ca_file} {why}") from None
    return context
