"""What Excel and LibreOffice were given: the sideloaded manifest, and the extension for Calc."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import platformdirs

from addin.calc.configuration import Names
from addin.calc.soffice import clean_environment, find_soffice
from addin.cli.uninstall.installed_item import InstalledItem, item_of_files
from addin.config.settings import config_dir
from addin.config.windows_registry import WindowsRegistry
from addin.errors import AddinError
from addin.excel.manifest import ADDIN_ID
from addin.excel.sideload import DEVELOPER_KEY, MAC_FOLDER, into_registry

TIMEOUT_S = 120

_IDENTIFIER = re.compile(re.escape(Names("").identifier.encode()) + rb"[a-z0-9]+")
"""Our extension under any prefix of functions."""


def excel_items(home: Path) -> Iterator[InstalledItem]:
    """The manifest on this machine, and what makes Excel load it."""
    if sys.platform == "win32" and WindowsRegistry().value(DEVELOPER_KEY, ADDIN_ID) is not None:
        place = f"HKEY_CURRENT_USER\\{DEVELOPER_KEY}"
        yield InstalledItem("the add-in in Excel", place, lambda: into_registry(WindowsRegistry(), None))
    files = [home / MAC_FOLDER / f"{ADDIN_ID}.xml", config_dir() / "manifest.xml"]
    yield from item_of_files("the manifest for Excel", files)


def calc_items(home: Path) -> Iterator[InstalledItem]:
    """The extension, under each prefix of functions for which it was installed by this user."""
    for identifier in sorted(_extensions(home)):
        yield InstalledItem("the extension in LibreOffice", identifier, partial(_remove, identifier))


def _extensions(home: Path) -> set[str]:
    """Our extensions in LibreOffice's own list of what the user installed: asking it would take seconds."""
    lists = (folder / "user/uno_packages/cache/uno_packages.pmap" for folder in _profiles(home))
    return {found.decode() for file in lists if file.is_file() for found in _IDENTIFIER.findall(file.read_bytes())}


def _profiles(home: Path) -> Iterator[Path]:
    """Return where LibreOffice keeps what a user installed."""
    for name in ("libreoffice", "LibreOffice"):
        for root in {platformdirs.user_config_path(name, appauthor=False, roaming=True), home / ".config" / name}:
            yield root / "4"
    yield home / "Library" / "Application Support" / "LibreOffice" / "4"


def _remove(identifier: str) -> None:
    """Let LibreOffice remove its extension; raises `AddinError` where that fails."""
    name = "unopkg.exe" if sys.platform == "win32" else "unopkg"
    beside = find_soffice().resolve().with_name(name)
    program = str(beside) if beside.exists() else shutil.which("unopkg")
    if program is None:
        raise AddinError(f"there is no unopkg beside LibreOffice; in Calc: Tools, Extensions, remove {identifier}")
    done = subprocess.run(  # noqa: S603 - LibreOffice's own program
        [program, "remove", identifier],
        env=clean_environment(os.environ), capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
    )  # fmt: skip
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())
        raise AddinError(f"{said[:300] or 'unopkg failed'}; close LibreOffice and try again")
