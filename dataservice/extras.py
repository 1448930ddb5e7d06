"""How this program was installed, and the commands that add to it or remove it from there.

The messages that miss a package name the command that works here: with pip, uv, pipx, or as a tool of uv. All name the
packages and not ours, which is installed from a checkout or a wheel and is on no index.
"""

from __future__ import annotations

import json
import shlex
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution, requires
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PRODUCT = "dataservice-addin"


class MissingPackagesError(ImportError):
    """The packages of an extra are not installed; the message says how to add them."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment a program runs in, as far as it decides how to install into it."""

    prefix: Path
    python: str
    has_pip: bool = True
    is_editable: bool = False
    """Whether the program runs from a checkout."""
    windows: bool = False

    @property
    def _receipt(self) -> Mapping[str, Any] | None:
        """Return what uv wrote about the tool that it made this environment for."""
        try:
            text = (self.prefix / "uv-receipt.toml").read_text(encoding="utf-8")
            return tomllib.loads(text).get("tool", {})  # type: ignore[no-any-return]
        except (OSError, ValueError):
            return None

    @property
    def _is_of_pipx(self) -> bool:
        return (self.prefix / "pipx_metadata.json").exists()

    def install(self, packages: Sequence[str]) -> str:
        """The command that adds `packages`."""
        wanted = " ".join(f'"{package}"' for package in packages)
        if self._receipt is not None:
            return self._with_uv_tool(self._receipt, packages)
        if self._is_of_pipx:
            return f"pipx inject {self._quoted(self.prefix.name)} {wanted}"
        if self.has_pip:
            return f"{self._program(self.python)} -m pip install {wanted}"
        return f"uv pip install --python {self._quoted(self.python)} {wanted}"

    def uninstall(self) -> str:
        """Return what removes the program itself: a command, or the folder to delete."""
        if self._receipt is not None:
            return f"uv tool uninstall {PRODUCT}"
        if self._is_of_pipx:
            return f"pipx uninstall {self._quoted(self.prefix.name)}"
        if self.is_editable:
            return f"delete the environment {self.prefix} and the checkout"
        if self.has_pip:
            return f"{self._program(self.python)} -m pip uninstall {PRODUCT}"
        return f"uv pip uninstall --python {self._quoted(self.python)} {PRODUCT}"

    def _with_uv_tool(self, receipt: Mapping[str, Any], packages: Sequence[str]) -> str:
        """`uv tool install` again with what it has and `packages`: what is added otherwise is lost with an upgrade."""
        required = receipt.get("requirements", [])
        own: Mapping[str, Any] = next((each for each in required if each.get("name") == PRODUCT), {})
        others = [f"{each['name']}{each.get('specifier', '')}" for each in required if each is not own]
        wanted = " ".join(f'--with "{package}"' for package in dict.fromkeys([*others, *packages]))
        if source := own.get("editable"):
            return f"uv tool install {wanted} --editable {self._quoted(source)}"
        source = own.get("directory") or own.get("path") or own.get("url") or own.get("git") or PRODUCT
        return f"uv tool install {wanted} {self._quoted(source)}"

    def _quoted(self, text: str) -> str:
        if not self.windows:
            return shlex.quote(text)
        return f'"{text}"' if not text.replace("\\", "").replace(":", "").isalnum() else text

    def _program(self, path: str) -> str:
        """The path as the first word of a command line; PowerShell needs a sign before a quoted one."""
        quoted = self._quoted(path) if " " in path or not self.windows else path
        return f"& {quoted}" if self.windows and quoted != path else quoted


def this_environment() -> Environment:
    """The environment that this process runs in."""
    return Environment(
        prefix=Path(sys.prefix),
        python=sys.executable,
        has_pip=find_spec("pip") is not None,
        is_editable=_is_editable(),
        windows=sys.platform == "win32",
    )


def install_command(extra: str) -> str:
    """The command that adds the packages of an extra to where this program is installed."""
    return this_environment().install(_packages(extra))


def installed() -> Distribution | None:
    """Return what the installer noted about this program; None where it runs from files that were never installed."""
    try:
        return distribution(PRODUCT)
    except PackageNotFoundError:
        return None


def _is_editable() -> bool:
    found = installed()
    note = found.read_text("direct_url.json") if found else None
    return found is None or bool(json.loads(note or "{}").get("dir_info", {}).get("editable"))


def _packages(extra: str) -> list[str]:
    """The requirements of an extra; its own name where this runs from files that were never installed."""
    try:
        lines = requires(PRODUCT) or []
    except PackageNotFoundError:
        lines = []
    split = (line.partition(";") for line in lines)
    found = [name.strip() for name, _, marker in split if marker.replace('"', "'").strip() == f"extra == '{extra}'"]
    return found or [extra]
