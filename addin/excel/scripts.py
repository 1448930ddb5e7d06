"""The scripts that Excel's page begins with: short modules with the server's settings, which load the others."""

from __future__ import annotations

import json
from collections.abc import Iterable

from addin.config.settings import Settings
from addin.excel.assets import excel_assets
from dataservice.version import product_version
from udfs.engine.registry import Udf

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


def refresh_script() -> str:
    """`/refresh.js`: a module with the refresh and what starts it; it needs `functions.js` and office.js."""
    return f'import "./{excel_assets().prefix}workbook/main.js";\n'
