"""A service for rare answers: it says whatever a test wants, and notes what it was asked."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import httpx

from dataservice.client import AsyncClient
from tests.dataservice.client.parts.clocks import Clock

KEY = "ds_" + "0123456789abcdef" * 2 + "01234567"
URL = "https://data.example"
PAGE = 1_000

Handler = Callable[[httpx.Request], httpx.Response | Awaitable[httpx.Response]]


def answer(data: Any, *, status: int = 200, tier: str = "pro", remaining: int = 900, **envelope: Any) -> httpx.Response:
    """An answer in the contract's envelope with its quota headers."""
    return httpx.Response(status, json={"data": data, **envelope}, headers=quota(tier, remaining))


def page(rows: Sequence[Any]) -> httpx.Response:
    """The first thousand of the rows of a window, and how many there are in all."""
    shown = list(rows[:PAGE])
    return answer(shown, pagination={"limit": PAGE, "offset": 0, "total": len(rows)})


def refusal(status: int, *, tier: str = "pro", remaining: int = 900, **headers: str) -> httpx.Response:
    """A refusal with the contract's error body and headers."""
    return httpx.Response(status, json={"error": "no"}, headers={**quota(tier, remaining), **headers})


def quota(tier: str = "pro", remaining: int = 900) -> dict[str, str]:
    cap = "1000" if tier == "free" else "50000"
    return {"X-Service-Tier": tier, "X-Service-RateLimit-Cap": cap, "X-Service-RateLimit-Remaining": str(remaining)}


def signal(slug: str = "us-cpi", value: float = 1.0) -> dict[str, Any]:
    latest = {"observed_at": "2026-08-01T00:00:00Z", "value": value}
    return {"slug": slug, "name": slug, "category": "prices", "latest": latest, "history": [latest]}


class Scripted:
    """Answers with the handler's answers, and notes every request."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.requests: list[httpx.Request] = []

    @classmethod
    def saying(cls, responses: Iterable[httpx.Response | Exception]) -> Scripted:
        """A service that gives these answers one after another, and then the last one again and again."""
        script = list(responses)

        def handle(request: httpx.Request) -> httpx.Response:
            said = script.pop(0) if len(script) > 1 else script[0]
            if isinstance(said, Exception):
                raise said
            return httpx.Response(said.status_code, headers=said.headers, content=said.content)

        return cls(handle)

    @property
    def targets(self) -> list[str]:
        """Path and query of each request."""
        return [request.url.raw_path.decode() for request in self.requests]

    def client(self, clock: Clock | None = None, **options: Any) -> AsyncClient:
        """A client of this service, in time that passes only when told."""
        clock = clock or Clock()
        defaults: dict[str, Any] = {"clock": clock, "sleep": clock.sleep, "jitter": lambda: 0.5}
        return AsyncClient(URL, KEY, transport=httpx.MockTransport(self._handle), **{**defaults, **options})

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        response = self.handler(request)
        return await response if inspect.isawaitable(response) else response
