"""The pages and files that Excel asks the backend for."""

from __future__ import annotations

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
from addin.excel.assets import STATIC, excel_assets, static_answer
from addin.excel.help_pages import function_page, list_page, missing_page
from addin.excel.manifest import manifest, shortcuts
from addin.excel.metadata import functions_metadata
from addin.excel.scripts import functions_script, refresh_script
from udfs import REGISTRY

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

READ_BY_EXCEL_ON_THE_WEB = frozenset({"/functions.json", "/functions.js", "/shortcuts.json"})
"""Excel on the web reads these from its own origin. They hold nothing but our published functions."""

SCRIPTS = ("functions/page.js", "workbook/main.js", "taskpane/data/excel.js")
"""Modules that the task pane loads besides its own, or later."""

MAX_ADDRESSES = 16
"""A backend has a few names, but a caller could make up a port for each request."""


def routes(settings: Settings) -> list[BaseRoute]:
    """The routes of Excel's pages, included by the backend's application."""
    functions, namespace = list(REGISTRY.values()), settings.namespace
    assets = excel_assets()
    pane = assets.page((STATIC / "taskpane.html").read_text(encoding="utf-8"), "taskpane/main.js", *SCRIPTS)
    made: dict[str, Callable[[str], str | bytes]] = {
        "/functions.json": lambda base: orjson.dumps(functions_metadata(functions, base_url=base, namespace=namespace)),
        "/functions.js": lambda _: functions_script(functions, settings),
        "/refresh.js": lambda _: refresh_script(),
        "/manifest.xml": lambda base: manifest(base_url=f"https://{base.partition('://')[2]}", namespace=namespace),
        "/shortcuts.json": lambda _: orjson.dumps(shortcuts()),
        "/taskpane.html": lambda _: pane,
        "/help": lambda _: list_page(functions, namespace=namespace),
    }
    return [
        *(Route(path, _made(path, make, settings)) for path, make in made.items()),
        Route("/help/{function}", _help(namespace)),
        assets.route(),
        *(Route(f"/{name}", _file(path)) for name, path in _static_files().items()),
    ]


def _made(path: str, make: Callable[[str], str | bytes], settings: Settings) -> Endpoint:
    """An endpoint whose content is made once for each address by which the backend is asked."""
    content = lru_cache(MAX_ADDRESSES)(make)
    headers = {"access-control-allow-origin": "*"} if path in READ_BY_EXCEL_ON_THE_WEB else {}

    async def endpoint(request: Request) -> Response:
        # The Host header can be trusted: a request with a name that is not the backend's own never gets here.
        base = settings.public_url or f"{request.url.scheme}://{request.headers['host']}"
        return await static_answer(request, content(base.rstrip("/")), PurePosixPath(path).suffix or ".html", headers)

    return endpoint


def _help(namespace: str) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        function = REGISTRY.get(request.path_params["function"].upper())
        if function is None:
            return await static_answer(request, missing_page(), ".html", status=404)
        return await static_answer(request, function_page(function, namespace=namespace), ".html")

    return endpoint


def _file(path: Path) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return await static_answer(request, await to_thread.run_sync(path.read_bytes), path.suffix)

    return endpoint


def _static_files() -> dict[str, Path]:
    """The files that are served as they are, by address: a fixed set, so that no request can name any other."""
    served = [STATIC / "help.css", *(STATIC / "icons").glob("*.png")]
    return {path.relative_to(STATIC).as_posix(): path for path in sorted(served)}
