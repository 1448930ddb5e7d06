"""The pages and files that Excel asks the backend for."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import orjson
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from addin.config.settings import Settings
from addin.excel import help_pages
from addin.excel.manifest import manifest, shortcuts
from addin.excel.metadata import functions_metadata
from addin.excel.scripts import STATIC, functions_script, refresh_script
from udfs import REGISTRY
from udfs.engine.registry import Udf

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".xml": "application/xml",
}

READ_BY_EXCEL_ON_THE_WEB = {"access-control-allow-origin": "*"}
"""Excel on the web reads these from its own origin. They hold nothing but our published functions."""


MOST_ADDRESSES = 16
"""A backend has a few names; a caller could make up a port for each request."""


def routes(settings: Settings) -> list[BaseRoute]:
    """The routes of Excel's pages, included by the backend's application."""
    made: dict[str, tuple[Callable[[str], str | bytes], dict[str, str]]] = {
        "/functions.json": (lambda base: _metadata(settings, base), READ_BY_EXCEL_ON_THE_WEB),
        "/functions.js": (lambda base: _script(settings, base), READ_BY_EXCEL_ON_THE_WEB),
        "/refresh.js": (lambda _: refresh_script(), {}),
        "/manifest.xml": (lambda base: manifest(base_url=_secure(base), namespace=settings.namespace), {}),
        "/shortcuts.json": (lambda _: orjson.dumps(shortcuts()), READ_BY_EXCEL_ON_THE_WEB),
        "/help": (lambda _: help_pages.list_page(_functions(), namespace=settings.namespace), {}),
    }
    return [
        *(Route(path, _made(path, make, headers, settings)) for path, (make, headers) in made.items()),
        Route("/help/{function}", _help(settings)),
        *(Route(f"/{name}", _file(path)) for name, path in _whole_files().items()),
    ]


def _made(path: str, make: Callable[[str], str | bytes], headers: dict[str, str], settings: Settings) -> Endpoint:
    """An endpoint whose content is made once for each address that the backend is known by."""
    made: dict[str, bytes] = {}

    async def endpoint(request: Request) -> Response:
        base = _base_url(request, settings)
        if base not in made:
            if len(made) == MOST_ADDRESSES:
                made.clear()
            content = make(base)
            made[base] = content.encode() if isinstance(content, str) else content
        suffix = path[path.rfind(".") :] if "." in path else ".html"
        return _answer(request, made[base], suffix, headers)

    return endpoint


def _help(settings: Settings) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        function = REGISTRY.get(request.path_params["function"].upper())
        if function is None:
            return _answer(request, help_pages.missing_page().encode(), ".html", {}, status=404)
        page = help_pages.function_page(function, namespace=settings.namespace)
        return _answer(request, page.encode(), ".html", {})

    return endpoint


def _file(path: Path) -> Endpoint:
    """An endpoint that gives a file of ours as it is."""

    async def endpoint(request: Request) -> Response:
        return _answer(request, await to_thread.run_sync(path.read_bytes), path.suffix, {})

    return endpoint


def _whole_files() -> dict[str, Path]:
    """The files that are served as they are, by their address: a fixed set, so that no request names a path."""
    served = [*STATIC.iterdir(), *(STATIC / "icons").iterdir(), *(STATIC / "taskpane").rglob("*")]
    files = [path for path in served if path.suffix in MEDIA_TYPES and path.name != "manifest.xml"]
    return {path.relative_to(STATIC).as_posix(): path for path in sorted(files)}


def _answer(request: Request, content: bytes, suffix: str, headers: dict[str, str], *, status: int = 200) -> Response:
    """The content, or that it is the one the browser has."""
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": "no-cache", **headers}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, status, media_type=MEDIA_TYPES[suffix], headers=headers)


def _metadata(settings: Settings, base: str) -> bytes:
    return orjson.dumps(functions_metadata(_functions(), base_url=base, namespace=settings.namespace))


def _script(settings: Settings, base: str) -> str:
    return functions_script(_functions(), settings, base_url=base)


def _functions() -> list[Udf]:
    return list(REGISTRY.values())


def _base_url(request: Request, settings: Settings) -> str:
    """The address users reach the backend by. The Host header can be trusted: only its own names come this far."""
    return (settings.public_url or f"{request.url.scheme}://{request.headers['host']}").rstrip("/")


def _secure(base: str) -> str:
    """The same address by https, the only way Excel goes."""
    return f"https://{base.partition('://')[2]}"
