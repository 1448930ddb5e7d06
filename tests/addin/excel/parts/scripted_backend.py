"""A backend that serves the real scripts and answers batches as a test tells it to, well or badly."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from addin.backend.serving import running
from addin.config.settings import Settings
from addin.excel.assets import excel_assets
from addin.excel.pages import functions_script, module_of
from addin.formulas.open_book import OpenFormulas
from addin.protocol.messages import OpenBook, encode
from tests.addin.backends import usual_listener
from tests.project.files import PROJECT
from udfs import REGISTRY

# Microsoft's engine; it starts only under its own name.
ENGINE = PROJECT / "tests/node/node_modules/@microsoft/office-js/dist/custom-functions-runtime.debug.js"

# What an Excel page offers, as small as it can be: the functions are kept by id, errors carry code and message.
HOST = """
globalThis.functions = {};
globalThis.CustomFunctions = {
  ErrorCode: { invalidValue: "#VALUE!", notAvailable: "#N/A" },
  Error: class extends Error { constructor(code, message) { super(message); this.code = code; } },
  associate(id, body) { functions[id] = body; },
};
globalThis.call = (id, ...values) =>
  functions[id](...values, { functionName: id }).then(
    (value) => ({ value }),
    (error) => ({ error: error.code, message: error.message }),
  );
"""
PAGE = f"<!doctype html><title>page</title><script>{HOST}</script><script type='module' src='/functions.js'></script>"


def fresh(value: Any, **members: Any) -> dict[str, Any]:
    return {"value": value, "fresh_s": 900, **members}


def echo(call: list[Any]) -> dict[str, Any]:
    """The first argument as the value."""
    return fresh(call[1] if len(call) > 1 else None)


@dataclass
class ScriptedBackend:
    """Set `answer` for good answers, or `reply` to answer a whole batch otherwise."""

    answer: Callable[[list[Any]], dict[str, Any]] = echo
    reply: Callable[[Request], Awaitable[Response]] | None = None
    settings: Settings = field(default_factory=Settings)
    generation: int = 1
    requests_per_batch: int = 1
    others_spent: int = 0
    url: str = ""
    batches: list[list[list[Any]]] = field(default_factory=list)
    requests: list[tuple[str, Any]] = field(default_factory=list)
    key_headers: list[str | None] = field(default_factory=list)

    async def call(self, request: Request) -> Response:
        calls = (await request.json())["calls"]
        self.batches.append(calls)
        self.key_headers.append(request.headers.get("x-data-service-key"))
        if self.reply is not None:
            return await self.reply(request)
        return JSONResponse(self.replied([self.answer(call) for call in calls]))

    def replied(self, answers: list[dict[str, Any]]) -> dict[str, Any]:
        return {"answers": answers, "requests": self.requests_per_batch, "quota": None, "generation": self.generation}

    async def scripts(self, request: Request) -> Response:
        if request.url.path == "/refresh.js":
            return Response(module_of("workbook/main.js"), media_type="text/javascript")
        script = functions_script(list(REGISTRY.values()), self.settings)
        return Response(script, media_type="text/javascript")

    async def told(self, request: Request) -> Response:
        body = await request.json() if request.method == "POST" else None
        self.requests.append((request.url.path, body))
        spent = {
            "requests_total": len(self.batches) * self.requests_per_batch + self.others_spent,
            "quota": {"remaining": 412, "cap": 1000},
        }
        return JSONResponse({"generation": self.generation, **spent})


async def expected_calls(request: Request) -> Response:
    formulas = OpenFormulas(msgspec.json.decode(await request.body(), type=OpenBook), "DS")
    await formulas.read()
    return Response(encode(await formulas.expected()), media_type="application/json")


async def engine(_: Request) -> Response:
    return FileResponse(ENGINE)


async def blank(_: Request) -> Response:
    return HTMLResponse("<!doctype html><title>blank</title>")


async def page(_: Request) -> Response:
    return HTMLResponse(PAGE)


@dataclass
class Stage:
    """A server that lasts for all tests of a session; each test has its own backend on it."""

    url: str = ""
    backend: ScriptedBackend = field(default_factory=ScriptedBackend)

    def routes(self) -> list[Route]:
        return [
            Route("/page", page),
            Route("/blank", blank),
            Route(f"/{ENGINE.name}", engine),
            Route("/functions/book", expected_calls, methods=["POST"]),
            Route("/functions.js", self._played("scripts")),
            Route("/refresh.js", self._played("scripts")),
            excel_assets().route(),
            Route("/health", self._played("told")),
            Route("/functions/call", self._played("call"), methods=["POST"]),
            Route("/functions/drop", self._played("told"), methods=["POST"]),
            Route("/functions/consent", self._played("told"), methods=["POST"]),
            Route("/status", self._played("told")),
            Route("/refresh", self._played("told"), methods=["POST"]),
        ]

    def await_what_was_sent(self) -> None:
        """Return when all that pages sent before has reached its backend: requests are taken in the order they come."""
        with closing(HTTPConnection(urlsplit(self.url).netloc)) as connection:
            for _ in range(2):  # the first may be read together with one that came on a new connection
                connection.request("GET", "/blank")
                connection.getresponse().read()

    def _played(self, part: str) -> Callable[[Request], Awaitable[Response]]:
        """The part of whichever backend is on when the request comes."""

        async def endpoint(request: Request) -> Response:
            return await getattr(self.backend, part)(request)

        return endpoint


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """Return a running server without a play."""
    stage = Stage()
    with running(Starlette(routes=stage.routes()), usual_listener()) as stage.url:
        yield stage


@pytest.fixture
def scripted(stage: Stage) -> ScriptedBackend:
    """Return a backend that answers as this test alone tells it to."""
    stage.await_what_was_sent()
    stage.backend = ScriptedBackend(url=stage.url)
    return stage.backend
