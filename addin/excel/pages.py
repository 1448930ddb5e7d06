"""The pages and files that Excel asks the backend for."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TypeAlias

import orjson
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from addin.config.settings import Settings
from addin.excel.help_pages import function_page, list_page, missing_page
from addin.excel.manifest import manifest, shortcuts
from addin.excel.metadata import functions_metadata
from addin.excel.scripts import STATIC, functions_script, refresh_script
from udfs import REGISTRY

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".txt": "text/plain",
    ".xml": "application/xml",
}

READ_BY_EXCEL_ON_THE_WEB = frozenset({"/functions.json", "/functions.js", "/shortcuts.json"})
"""Excel on the web reads these from its own origin. They hold nothing but our published functions."""

MAX_ADDRESSES = 16
"""A backend has a few names, but a caller could make up a port for each request."""


def routes(settings: Settings) -> list[BaseRoute]:
    """The routes of Excel's pages, included by the backend's application."""
    functions, namespace = list(REGISTRY.values()), settings.namespace
    made: dict[str, Callable[[str], str | bytes]] = {
        "/functions.json": lambda base: orjson.dumps(functions_metadata(functions, base_url=base, namespace=namespace)),
        "/functions.js": lambda base: functions_script(functions, settings, base_url=base),
        "/refresh.js": lambda _: refresh_script(),
        "/manifest.xml": lambda base: manifest(base_url=f"https://{base.partition('://')[2]}", namespace=namespace),
        "/shortcuts.json": lambda _: orjson.dumps(shortcuts()),
        "/help": lambda _: list_page(functions, namespace=namespace),
    }
    return [
        *(Route(path, _made(path, make, settings)) for path, make in made.items()),
        Route("/help/{function}", _help(namespace)),
        *(Route(f"/{name}", _file(path)) for name, path in _static_files().items()),
    ]


def _made(path: str, make: Callable[[str], str | bytes], settings: Settings) -> Endpoint:
    """An endpoint whose content is made once for each address by which the backend is asked."""
    content = lru_cache(MAX_ADDRESSES)(make)
    headers = {"access-control-allow-origin": "*"} if path in READ_BY_EXCEL_ON_THE_WEB else {}

    async def endpoint(request: Request) -> Response:
        # The Host header can be trusted: a request with a name that is not the backend's own never gets here.
        base = settings.public_url or f"{request.url.scheme}://{request.headers['host']}"
        return static_answer(request, content(base.rstrip("/")), PurePosixPath(path).suffix or ".html", headers)

    return endpoint


def _help(namespace: str) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        function = REGISTRY.get(request.path_params["function"].upper())
        if function is None:
            return static_answer(request, missing_page(), ".html", status=404)
        return static_answer(request, function_page(function, namespace=namespace), ".html")

    return endpoint


def _file(path: Path) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return static_answer(request, await to_thread.run_sync(path.read_bytes), path.suffix)

    return endpoint


def _static_files() -> dict[str, Path]:
    """The files that are served as they are, by address: a fixed set, so that no request can name any other."""
    served = [*STATIC.iterdir(), *(STATIC / "icons").iterdir(), *(STATIC / "taskpane").rglob("*")]
    files = [path for path in served if path.suffix in MEDIA_TYPES and path.name != "manifest.xml"]
    return {path.relative_to(STATIC).as_posix(): path for path in sorted(files)}


def static_answer(
    request: Request, text: str | bytes, suffix: str, headers: dict[str, str] | None = None, *, status: int = 200
) -> Response:
    """The content as the type that `suffix` stands for, or that the browser's copy is still right."""
    content = text.encode() if isinstance(text, str) else text
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": "no-cache", **(headers or {})}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, status, media_type=MEDIA_TYPES[suffix], headers=headers)
