"""The connections to the service that all clients of a backend share, bounded in all, watched, and closed when idle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter

import httpx

from dataservice.client.network.connections import Arrival, Connections, SendWatch

Observed = Callable[[int | str, float, bool], None]
"""Told of each answer of the service: its status, or the kind of failure; the seconds until it began; and whether it
was asked with a key."""


class ServiceConnections(Connections):
    """A transport over one set of connections. A client that is closed leaves it open for the others: `close_all`
    ends it.

    Each client puts its own key on its requests, so a connection knows no key.
    """

    observed: Observed = staticmethod(lambda *_: None)

    async def get(
        self, target: str, headers: Sequence[tuple[str, str]], *, watch: SendWatch | None, connect_s: float
    ) -> Arrival:
        """As `Connections` has it."""
        with self._timed(has_key=True) as status:
            arrival = await super().get(target, headers, watch=watch, connect_s=connect_s)
            status(arrival.status)
        return arrival

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The same for whoever speaks httpx."""
        with self._timed(has_key="authorization" in request.headers) as status:
            response = await super().handle_async_request(request)
            status(response.status_code)
        return response

    @contextmanager
    def _timed(self, *, has_key: bool) -> Iterator[Callable[[int], None]]:
        """Observe one request; one that its caller gives up tells nothing of the service."""
        began = perf_counter()
        try:
            yield lambda status: self.observed(status, perf_counter() - began, has_key)
        except Exception as error:
            self.observed(type(error).__name__, perf_counter() - began, has_key)
            raise

    async def aclose(self) -> None:
        """Nothing: others go on."""

    async def close_all(self) -> None:
        """Close every connection."""
        await super().aclose()
