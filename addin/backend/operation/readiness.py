"""Whether the backend can do its work: its store answers, and the service can be reached."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

from dataservice.stores import Store, StoreAwayError

CHECK_S = 3.0
"""How long each part may take: a load balancer asks every few seconds."""

CHECKED_FOR_S = 10.0
"""An answer holds so long, so that probes cost the service little."""

OK = "ok"


@dataclass(frozen=True, slots=True)
class Readiness:
    """The state of the store and of the service: "ok", or what is wrong."""

    store: str
    service: str

    @property
    def ready(self) -> bool:
        """Whether both work."""
        return self.store == self.service == OK

    def members(self) -> dict[str, object]:
        """As JSON."""
        return {"ready": self.ready, "store": self.store, "service": self.service}


class ReadinessCheck:
    """Looks at store and service, at most every ten seconds. It sends no key, so it costs no request of the month."""

    def __init__(
        self,
        store: Store,
        service_url: str,
        connections: httpx.AsyncBaseTransport,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._url = f"{service_url}/v1/indices"
        self._connections = connections
        self._clock = clock
        self._lock = asyncio.Lock()
        self._last: Readiness | None = None
        self._checked_at = 0.0

    async def now(self) -> Readiness:
        """The state now, or at the last look if that is not long ago."""
        async with self._lock:
            if self._last is None or self._clock() - self._checked_at > CHECKED_FOR_S:
                store, service = await asyncio.gather(_outcome(self._ask_store), _outcome(self._ask_service))
                self._last = Readiness(store, service)
                self._checked_at = self._clock()
            return self._last

    async def _ask_store(self) -> None:
        await self._store.add("ready", 0)  # of counters no copy stands in for the store itself

    async def _ask_service(self) -> None:
        # Without a key the service refuses (401) at no cost, which proves that it is there.
        async with httpx.AsyncClient(transport=self._connections, timeout=CHECK_S) as http:
            response = await http.get(self._url)
        if response.is_server_error:
            response.raise_for_status()


async def _outcome(ask: Callable[[], Awaitable[None]]) -> str:
    try:
        async with asyncio.timeout(CHECK_S):
            await ask()
    except TimeoutError:
        return f"no answer within {CHECK_S:g} s"
    except StoreAwayError as error:
        return f"failing: {error}"
    except Exception as error:  # noqa: BLE001 - each store fails in its own way; only the kind of error is told
        return f"failing ({type(error).__name__})"
    return OK
