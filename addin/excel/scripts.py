"""The scripts of Excel's page: small files joined into one classic script each, with the server's settings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

from addin.config.settings import Settings
from udfs.engine.registry import Udf

STATIC = Path(__file__).parent / "static"
"""The files that are served as they are, and the parts of the joined scripts."""

FUNCTIONS_PARTS = (
    "functions/arguments",
    "functions/results",
    "functions/result_cache",
    "taskpane/data/exchange",
    "functions/batches",
    "functions/loading",
    "functions/question",
    "functions/rate_limiter",
    "functions/functions",
)
REFRESH_PARTS = ("refresh/formulas", "refresh/repair", "refresh/refresh", "refresh/triggers")

CALLS_PER_BATCH = 10_000
"""Larger recalculations go out as several batches, so that the page decodes one while the backend answers the next."""

GRACE_S = 10.0
"""How much longer than the backend the page waits: the backend's own timeout has the better message."""


def functions_script(functions: Iterable[Udf], settings: Settings, *, base_url: str) -> str:
    """`/functions.js`: one script that associates every function with its id; it needs `CustomFunctions` only."""
    configuration = {
        "version": version("dataservice-addin"),
        "namespace": settings.namespace,
        "base": f"{base_url}/",
        "functions": [function.id for function in functions],
        "maxCalls": min(CALLS_PER_BATCH, settings.max_calls),
        "maxBytes": settings.max_body_bytes,
        "deadlineMs": round(1000 * (settings.deadline_s + GRACE_S)),
    }
    head = f"const CONFIGURATION = {json.dumps(configuration, indent=2)};\n"
    return _script(FUNCTIONS_PARTS, head)


def refresh_script() -> str:
    """`/refresh.js`: the refresh and what starts it; it needs `functions.js` and office.js."""
    return _script(REFRESH_PARTS, "")


def _script(parts: tuple[str, ...], head: str) -> str:
    """The parts inside one function, so that a page sees only what they export."""
    body = "\n".join(_part(part) for part in parts)
    return f'(() => {{\n"use strict";\n{head}\n{body}}})();\n'


@cache
def _part(name: str) -> str:
    """A part without what only the type checker and the task pane's modules need."""
    lines = (STATIC / f"{name}.js").read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line.removeprefix("export ") for line in lines if not line.startswith("/// <reference"))
