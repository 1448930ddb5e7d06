"""Sessions for tests: on an embedded service over real HTTP, and on answers that no real service gives."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from dataservice.client import AsyncClient
from tests.embedded import EmbeddedService
from udfs.cells import Grid, cells_of
from udfs.engine.session import Call, Session

KEY = "ds_" + 40 * "0"


@asynccontextmanager
async def session_on(service: EmbeddedService, *, tier: str = "pro", **settings: Any) -> AsyncIterator[Session]:
    """Yield a session whose client begins with an empty cache."""
    key = service.key if tier == "pro" else service.free_key
    clock = {"clock": settings["clock"]} if "clock" in settings else {}
    async with AsyncClient(service.url, key, **settings) as client:
        yield Session(client, **clock)


@dataclass
class Canned:
    """A session on given answers: JSON by path, or a status number to refuse with."""

    answers: Mapping[str, Any]
    tier: str = "pro"
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        client = AsyncClient("https://data.example", KEY, transport=httpx.MockTransport(self._answer))
        self.session = Session(client)

    async def __call__(self, function_id: str, *args: Any) -> Any:
        """Return the result of one call as a host sees it: a scalar, a `CellError` or rows."""
        return await cells(self.session, function_id, *args)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request.url.raw_path.decode())
        headers = {
            "X-Service-Tier": self.tier,
            "X-Service-RateLimit-Cap": "1000",
            "X-Service-RateLimit-Remaining": "990",
        }
        found = self.answers.get(request.url.path, 404)
        if isinstance(found, int):
            return httpx.Response(found, headers=headers, json={"error": "no"})
        return httpx.Response(200, headers=headers, json=self._body(found))

    def _body(self, found: Any) -> dict[str, Any]:
        return {"data": found}


def records(folder: Path, name: str) -> dict[str, dict[str, Any]]:
    """Return the records in a JSON or JSON-lines file of a data set, by slug or id."""
    text = (folder / name).read_text(encoding="utf-8")
    found = [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)
    return {record.get("slug") or record["id"]: record for record in found}


async def cells(session: Session, function_id: str, *args: Any) -> Any:
    """Return what a host would show: a scalar or `CellError`, or the rows of a table, its header first."""
    (outcome,) = await session.answer([Call(function_id, args)])
    shown = cells_of(outcome.result)
    return list(shown.rows()) if isinstance(shown, Grid) else shown
