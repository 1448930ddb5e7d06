"""One thing that the add-in put on this machine, and how to remove it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Part(StrEnum):
    """The part of the add-in that an item belongs to, for those who want to keep part of it."""

    PROGRAM = "program"
    CACHE = "cache"
    SETTINGS = "settings"
    DATA = "data"


@dataclass(frozen=True, slots=True)
class InstalledItem:
    """One thing with its place; `remove` raises whatever keeps it there."""

    what: str
    where: str
    remove: Callable[[], object]
    part: Part = Part.PROGRAM
    note: str = ""
    """What is lost with it for good."""


def item_of_files(what: str, files: Iterable[Path], part: Part = Part.PROGRAM, note: str = "") -> list[InstalledItem]:
    """The item for those of the files that exist, none if none do; folders that are empty afterwards go with them."""
    there = [path for path in files if path.exists() or path.is_symlink()]
    if not there:
        return []

    def remove() -> None:
        for path in there:
            _delete(path)

    folders = {path.parent for path in there}
    where = str(there[0]) if len(there) == 1 else f"{len(there)} files in {', '.join(sorted(map(str, folders)))}"
    return [InstalledItem(what, where, remove, part, note)]


def remove_if_empty(folder: Path) -> None:
    """Delete a folder of ours in which nothing is left."""
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
