"""How to install what only some parts need, for the messages that miss it."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, requires


def install_command(extra: str) -> str:
    """The command that adds the packages of an extra to this very Python.

    It names those packages and not ours, which is installed from a checkout or a wheel and is on no index.
    """
    packages = " ".join(f'"{package}"' for package in _packages(extra))
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f"{python} -m pip install {packages}"


def _packages(extra: str) -> list[str]:
    """The requirements of an extra; its own name where this runs from files that were never installed."""
    try:
        lines = requires("dataservice-addin") or []
    except PackageNotFoundError:
        lines = []
    split = (line.partition(";") for line in lines)
    found = [name.strip() for name, _, marker in split if marker.replace('"', "'").strip() == f"extra == '{extra}'"]
    return found or [extra]
