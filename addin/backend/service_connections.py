"""The connections to the service that all clients of a backend share, bounded in all and closed when idle."""

from __future__ import annotations

from dataservice.client.network.connections import Connections


class ServiceConnections(Connections):
    """A transport over one set of connections. A client that is closed leaves it open for the others: `close_all`
    ends it.

    Each client puts its own key on its requests, so a connection knows no key.
    """

    async def aclose(self) -> None:
        """Nothing: others go on."""

    async def close_all(self) -> None:
        """Close every connection."""
        await super().aclose()
