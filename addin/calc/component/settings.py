"""What the extension was built with, and what the environment says instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Mapping, NamedTuple

from .backend import Address

URL = "DATA_SERVICE_ADDIN_URL"
"""The backend's address, in place of the one the extension was built with."""

CA_FILE = "DATA_SERVICE_ADDIN_CA"
"""A file with the certificate authority of an https backend, in place of the one in the extension."""

FIT = "DATA_SERVICE_ADDIN_FIT"
"""`yes`: where no screen is, a document's tables are fitted to their results as soon as it is loaded."""


class Built(NamedTuple):
    """The extension's own data."""

    namespace: str
    interface: str
    protocol: str
    commands: str
    address: Address
    fit: bool
    functions: list[dict[str, Any]]


def read_built(folder: Path, environ: Mapping[str, str]) -> Built:
    """The data in `built.json` of this folder, and what `environ` changes."""
    built = json.loads((folder / "built.json").read_text(encoding="utf-8"))
    ca_file = environ.get(CA_FILE) or (str(folder / "ca.pem") if (folder / "ca.pem").exists() else None)
    return Built(
        namespace=built["namespace"],
        interface=built["interface"],
        protocol=built["protocol"],
        commands=built["commands"],
        address=Address((environ.get(URL) or built["url"]).rstrip("/"), ca_file),
        fit=environ.get(FIT, "").lower() in ("1", "yes", "true"),
        functions=built["functions"],
    )
