"""Whether the backend can do its work: its stores can be written, the service answers, people can sign in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import httpx

from addin.backend.operation.service_watch import ServiceWatch
from dataservice.ledger import LedgerAwayError
from dataservice.stores import Entry, Store, StoreAwayError

CHECK_S = 3.0
"""How long each part may take: a load balancer asks every few seconds."""

CHECKED_FOR_S = 5.0
"""An answer holds so long, so that probes cost the service little."""

ANSWERED_S = 5.0
"""An answer of the service so recently says more than a question without a key; an outage is seen within 15 seconds."""

RECENT_S = 60.0
"""What the store gives back may have been written so long before by another process."""

OK = "ok"

PROOF = "ready"
"""The entry that is written and read again."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """The state of each part: "ok", or what is wrong."""

    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def ready(self) -> bool:
        """Return whether all of them work."""
        return all(state == OK for state in self.parts.values())

    def members(self) -> dict[str, object]:
        """As JSON."""
        return {"ready": self.ready, **self.parts}


class ReadinessCheck:
    """Looks at every part, at most every few seconds. It sends no key, so it costs no request of the month."""

    def __init__(
        self,
        store: Store,
        service_url: str,
        connections: httpx.AsyncBaseTransport,
        watch: ServiceWatch,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._url = f"{service_url}/v1/indices"
        self._connections = connections
        self._watch = watch
        self._clock = clock
        self._lock = asyncio.Lock()
        self._last: Readiness | None = None
        self._checked_at = 0.0
        self._asks: dict[str, Callable[[], Awaitable[object]]] = {
            "store": self._ask_store,
            "service": self._ask_service,
        }

    def add(self, part: str, ask: Callable[[], Awaitable[object]]) -> None:
        """Look at one part more; `ask` raises where it does not work."""
        self._asks[part] = ask

    async def now(self) -> Readiness:
        """The state now, or at the last look if that is not long ago."""
        async with self._lock:
            if self._last is None or self._clock() - self._checked_at > CHECKED_FOR_S:
                states = await asyncio.gather(*map(_outcome, self._asks.values()))
                self._last = Readiness(dict(zip(self._asks, states, strict=True)))
                self._checked_at = self._clock()
            return self._last

    async def _ask_store(self) -> None:
        await self._store.add(PROOF, 0)  # of counters no copy stands in for the store itself
        entry = Entry(str(time.time()).encode(), time.time())
        await self._store.put(PROOF, entry)
        found = await self._store.get(PROOF)
        if found is None or found.fetched_at < entry.fetched_at - RECENT_S:  # another process may have written it
            raise StoreAwayError("what is written cannot be read again")

    async def _ask_service(self) -> None:
        if self._watch.is_away:
            raise StoreAwayError(f"{self._watch.problem}, several times in a row")
        if self._watch.was_told_within(ANSWERED_S) and not self._watch.is_in_doubt:
            return
        # Without a key the service refuses (401) at no cost, which proves that it is there.
        async with httpx.AsyncClient(transport=self._connections, timeout=CHECK_S) as http:
            response = await http.get(self._url)
        if response.is_server_error:
            response.raise_for_status()


async def _outcome(ask: Callable[[], Awaitable[object]]) -> str:
    try:
        async with asyncio.timeout(CHECK_S):
            await ask()
    except TimeoutError:
        return f"no answer within {CHECK_S:g} s"
    except (StoreAwayError, LedgerAwayError) as error:
        return f"failing: {error}"
    except Exception as error:  # noqa: BLE001 - each store fails in its own way; only the kind of error is told
        return f"failing ({type(error).__name__})"
    return OK
