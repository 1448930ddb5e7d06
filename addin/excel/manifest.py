"""The manifest: the file that tells Excel the add-in's identity, the addresses of its pages and its ribbon."""

from __future__ import annotations

from string import Template
from typing import Any
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from addin.config.settings import Settings
from addin.errors import AddinError
from addin.excel.assets import STATIC
from dataservice.version import office_version

ADDIN_ID = "a0fc5f4c-6a5b-4d8e-9a47-0d5e8f6b3c21"
"""The add-in's id in Excel. It must never change, because workbooks store it."""


def manifest(*, base_url: str, namespace: str = "DS") -> str:
    """The add-in-only manifest for a backend at `base_url`; raises `AddinError` for an address that is not https.

    >>> manifest(base_url="https://localhost:8765").count("https://localhost:8765/functions.json")
    1
    """
    parts = urlsplit(base_url)
    if parts.scheme != "https" or not parts.hostname:
        raise AddinError(f"Excel loads add-ins over https only, not from {base_url!r}; see `addin certs install`")
    values = {
        "id": ADDIN_ID,
        "version": office_version(),
        "provider": "Data Service add-in",
        "name": "Data Service",
        "description": "Signals, indices, currents, research and the wire as formulas. One request answers many cells.",
        "base": base_url.rstrip("/"),
        "origin": f"https://{parts.netloc}",
        "namespace": namespace,
    }
    escaped = {name: escape(value, {'"': "&quot;"}) for name, value in values.items()}
    return Template((STATIC / "manifest.xml").read_text(encoding="utf-8")).substitute(escaped)


def local_url(settings: Settings) -> str:
    """The https address at which users of `settings` reach the backend."""
    return (settings.public_url or f"https://localhost:{settings.port}").rstrip("/")


def shortcuts() -> dict[str, Any]:
    """The content of `/shortcuts.json`: the keys that start a refresh."""
    return {
        "actions": [{"id": "refreshWorkbook", "type": "ExecuteFunction", "name": "Refresh the workbook's data"}],
        "shortcuts": [{"action": "refreshWorkbook", "key": {"default": "Ctrl+Shift+Alt+R"}}],
    }
