"""The pages and files that Excel asks the backend for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from html import escape
from pathlib import Path, PurePosixPath

import orjson
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from addin.config.settings import Settings
from addin.excel.assets import STATIC, excel_assets
from addin.excel.manifest import manifest, shortcuts
from addin.excel.metadata import functions_metadata, in_namespace
from addin.web import Endpoint, static_answer
from dataservice.version import product_version
from udfs import REGISTRY
from udfs.arguments import Choice, Kind, Options, Parameter
from udfs.engine import Udf

READ_BY_EXCEL_ON_THE_WEB = frozenset({"/functions.json", "/functions.js", "/shortcuts.json"})
"""Excel on the web reads these from its own origin. They hold nothing but our published functions."""

SCRIPTS = ("functions/page.js", "workbook/main.js", "taskpane/data/excel.js")
"""Modules that the task pane loads besides its own, or later."""

MAX_ADDRESSES = 16
"""A backend has a few names, but a caller could make up a port for each request."""


def routes(settings: Settings) -> list[BaseRoute]:
    """The routes of Excel's pages, for `create_app`."""
    functions, namespace = list(REGISTRY.values()), settings.namespace
    assets = excel_assets()
    pane = assets.page((STATIC / "taskpane.html").read_text(encoding="utf-8"), "taskpane/main.js", *SCRIPTS)
    made: dict[str, Callable[[str], str | bytes]] = {
        "/functions.json": lambda base: orjson.dumps(functions_metadata(functions, base_url=base, namespace=namespace)),
        "/functions.js": lambda _: functions_script(functions, settings),
        "/refresh.js": lambda _: module_of("workbook/main.js"),
        "/signed-in.js": lambda _: module_of("taskpane/views/signed_in.js"),
        "/manifest.xml": lambda base: manifest(base_url=f"https://{base.partition('://')[2]}", namespace=namespace),
        "/shortcuts.json": lambda _: orjson.dumps(shortcuts()),
        "/taskpane.html": lambda _: pane,
        "/help": lambda _: list_page(functions, namespace=namespace),
    }
    return [
        *(Route(path, _made(path, make, settings)) for path, make in made.items()),
        Route("/", _start),
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


async def _start(request: Request) -> Response:
    """Lead who opens the backend's bare address to the page for people: the sheet where it is served, else the pane."""
    served = {getattr(route, "path", "") for route in request.app.routes}
    return RedirectResponse("sheet" if "/sheet" in served else "taskpane.html")


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


CALLS_PER_BATCH = 10_000
"""Larger recalculations go out as several batches, so that the page decodes one while the backend answers the next."""

GRACE_S = 10.0
"""How much longer than the backend the page waits: the backend's own timeout has the better message."""


def functions_script(functions: Iterable[Udf], settings: Settings) -> str:
    """`/functions.js`: a module that associates every function with its id; it needs `CustomFunctions` only."""
    configuration = {
        "version": product_version(),
        "namespace": settings.namespace,
        "functions": [function.id for function in functions],
        "maxCalls": min(CALLS_PER_BATCH, settings.max_calls),
        "maxBytes": settings.max_body_bytes,
        "maxValues": settings.max_values,
        "maxCells": settings.max_cells,
        "deadlineMs": round(1000 * (settings.deadline_s + GRACE_S)),
    }
    address = f"./{excel_assets().prefix}functions/page.js"
    return (
        f'import {{ offer }} from "{address}";\n\n'
        f'offer({json.dumps(configuration, indent=2)}, new URL(".", import.meta.url).href);\n'
    )


def module_of(name: str) -> str:
    """A module at an address that stays, which loads one of Excel's scripts, such as the refresh."""
    return f'import "./{excel_assets().prefix}{name}";\n'


BACKQUOTED = re.compile("`+([^`]+)`+")
CODE = r"<code>\1</code>"

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="{root}icons/signal-32.png">
<link rel="stylesheet" href="{root}help.css">
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def function_page(function: Udf, *, namespace: str) -> str:
    """The page of one function: what it returns, its arguments, its options and examples."""
    name = f"{namespace}.{function.id}"
    options = [option for p in function.parameters if isinstance(p.kind, Options) for option in p.kind.allowed]
    parts = [
        '<nav><a href="../help">All functions</a></nav>',
        f"<h1>{escape(name)}</h1>",
        f'<p class="summary">{escape(function.summary)}</p>',
        f"<pre><code>={escape(_signature(function, name))}</code></pre>",
        _table("Arguments", ((p.name, p.kind, _left_out(p)) for p in function.parameters)),
        _table("Options", ((f"{option.name}=", option.kind, "") for option in options)),
        _examples(function.examples),
        _prose(function.details),
    ]
    body = "\n".join(part for part in parts if part)
    return PAGE.format(title=escape(name), root="../", body=in_namespace(body, escape(namespace)))


def list_page(functions: Iterable[Udf], *, namespace: str) -> str:
    """The list of all functions by group."""
    parts = ["<h1>Functions</h1>"]
    groups: dict[str, list[Udf]] = {}
    for function in functions:
        groups.setdefault(function.group, []).append(function)
    for group, members in groups.items():
        rows = "".join(
            f'<tr><th scope="row"><a href="help/{f.id}">{escape(namespace)}.{f.id}</a></th>'
            f"<td>{escape(f.summary)}</td></tr>"
            for f in members
        )
        parts.append(f"<h2>{escape(group)}</h2>\n<table>{rows}</table>")
    return PAGE.format(title="Functions", root="", body="\n".join(parts))


def missing_page() -> str:
    """The page for a name that no function has."""
    body = '<h1>No such function</h1>\n<p class="summary">See <a href="../help">all functions</a>.</p>'
    return PAGE.format(title="No such function", root="../", body=body)


def _signature(function: Udf, name: str) -> str:
    shown = [p.name if p.required else f"[{p.name}]" for p in function.parameters]
    return f"{name}({', '.join(shown)})"


def _table(title: str, entries: Iterable[tuple[str, Kind, str]]) -> str:
    """A table of names with their help, a note and their choices; empty without entries."""
    rows = "".join(
        f'<tr><th scope="row"><code>{escape(name)}</code></th>'
        f"<td>{escape(kind.help)}{note}{_choices(kind.choices)}</td></tr>"
        for name, kind, note in entries
    )
    return f"<h2>{title}</h2>\n<table>{rows}</table>" if rows else ""


def _left_out(parameter: Parameter) -> str:
    if parameter.required:
        return '<p class="note">required</p>'
    default = "" if parameter.default is None else f"; left out: <code>{escape(str(parameter.default))}</code>"
    return f'<p class="note">optional{default}</p>'


def _choices(choices: Sequence[Choice]) -> str:
    items = "".join(f"<dt><code>{escape(c.value)}</code></dt><dd>{escape(c.help)}</dd>" for c in choices)
    return f"<dl>{items}</dl>" if items else ""


def _examples(examples: Sequence[str]) -> str:
    lines = "\n".join(map(escape, examples))
    return f"<h2>Examples</h2>\n<pre><code>{lines}</code></pre>" if lines else ""


def _prose(text: str) -> str:
    """The paragraphs of a docstring, with text in backquotes as code."""
    paragraphs = [escape(" ".join(part.split())) for part in text.split("\n\n") if part.strip()]
    return "\n".join(f"<p>{BACKQUOTED.sub(CODE, paragraph)}</p>" for paragraph in paragraphs)
