"""What `addin doctor --report` writes: a description of this machine for whoever helps, without a key in it."""

from __future__ import annotations

import datetime as dt
import os
import platform
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from addin.config.api_key import redacted
from addin.config.settings import PREFIX, Settings
from dataservice.version import product_version

if TYPE_CHECKING:
    from addin.findings import Finding

_USER_INFO = re.compile(r"(?<=://)[^\s\"']+@")
_PASSWORD = re.compile(r"(password=)[^&\s\"']+", re.IGNORECASE)
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


def report(findings: Sequence[Finding], settings: Settings, environ: Mapping[str, str], now: dt.datetime) -> str:
    """The report as Markdown, which reads well as plain text too."""
    sections = [
        ("What the doctor found", [[f.state, f.topic, f.text, f.advice] for f in findings]),
        ("This machine", list(_machine())),
        ("Settings that are not the defaults", list(_settings(settings))),
        ("Environment", list(_environment(environ))),
        ("Packages", _packages()),
    ]
    lines = [f"# addin {product_version()}, {now:%Y-%m-%d %H:%M} UTC"]
    for title, rows in sections:
        lines += ["", f"## {title}", "", *(f"- {_line(row)}" for row in rows or [["none"]])]
    return private("\n".join(lines) + "\n", Path.home())


def private(text: str, home: Path) -> str:
    """The text without keys, passwords in addresses, and the name of the user's folder.

    >>> private("redis://me:secret@cache/0 in /folder/of/me/x", Path("/folder/of/me"))
    'redis://…@cache/0 in ~/x'
    """
    without_secrets = _PASSWORD.sub(r"\1…", _USER_INFO.sub("…@", redacted(text)))
    return without_secrets.replace(str(home), "~") if home != Path(home.anchor) else without_secrets


def _line(row: Sequence[str]) -> str:
    return " · ".join(" ".join(str(cell).split()) for cell in row if cell)


def _machine() -> list[list[str]]:
    return [
        ["system", platform.platform()],
        ["processor", platform.machine(), f"{os.cpu_count()} cores"],
        ["Python", platform.python_version(), platform.python_implementation()],
    ]


def _settings(settings: Settings) -> list[list[str]]:
    defaults = Settings()
    names = (name for name in Settings.__struct_fields__ if getattr(settings, name) != getattr(defaults, name))
    return [[name, msgspec.json.encode(getattr(settings, name), enc_hook=str).decode()] for name in names]


def _environment(environ: Mapping[str, str]) -> list[list[str]]:
    """Return which variables are set; only those that say how the network is reached are shown with their values."""
    ours = [[name, "is set"] for name in sorted(environ) if name.startswith(PREFIX)]
    shown = [[name, environ[name]] for name in sorted(environ) if name.upper() in PROXIES and environ[name]]
    return ours + shown


def _packages() -> list[list[str]]:
    return sorted(
        {each.name.lower(): [each.name.lower(), each.version] for each in distributions() if each.name}.values()
    )
