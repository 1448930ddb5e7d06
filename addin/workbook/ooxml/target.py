"""Where a workbook is written: a regular file that nobody else has open, replaced as a whole or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias

from addin.workbook.ooxml.errors import WorkbookError

Stamp: TypeAlias = tuple[int, ...]
"""What changes with every save of a file: its identity, size and times."""

_PERMISSIONS = 0o777

_PREFIX, _SUFFIX = ".addin-", ".tmp"
"""The name of what is being written, beside the file that it will replace."""

LEFT_OVER_S = 3_600.0
"""After so long, a file that was being written belongs to a program that was killed."""


class Target:
    """The file at `path`, or the one that a link at `path` leads to; it may not exist yet.

    Raises `WorkbookError` where it could not be replaced: no regular file, read-only, open in another program; and
    where its ending is not that of the book that it is to be `like`, because no program would open it.
    """

    def __init__(self, path: Path, *, like: Path | None = None) -> None:
        self.path = path
        if like is not None and path.suffix.lower() != like.suffix.lower() and not _is_special(path):
            if like.suffix.lower() not in (".xlsx", ".xlsm"):
                raise WorkbookError(f"{like} is not an .xlsx or .xlsm workbook")
            raise WorkbookError(f"{path}: the copy of {like.name} must end in {like.suffix or 'nothing'} too")
        self._place = Path(os.path.realpath(path))
        before = _status(self._place, path)
        self._before = stamp(before) if before else None
        self._mode = stat.S_IMODE(before.st_mode) & _PERMISSIONS if before else None
        self._owner = (before.st_uid, before.st_gid) if before else None
        self._has_other_names = before is not None and before.st_nlink > 1
        if before and (not before.st_mode & 0o222 or not os.access(self._place, os.W_OK)):
            raise WorkbookError(f"{path} is read-only; write to another file with -o, or allow writing first")
        if not self._place.parent.is_dir():
            raise WorkbookError(f"{path} cannot be written: there is no folder {self._place.parent}")
        if not os.access(self._place.parent, os.W_OK):
            raise WorkbookError(f"nothing can be written beside {path}: the folder is read-only")
        self._refuse_if_open()

    def is_same_file(self, path: Path) -> bool:
        """Return whether `path` leads to this file."""
        try:
            return self._place.samefile(path)
        except OSError:
            return False

    def replace(
        self, write: Callable[[BinaryIO], None], *, mode: int, around: AbstractContextManager[object] | None = None
    ) -> None:
        """Replace the file by what `write` writes; a new file gets `mode`, another one keeps its mode and owner.

        The content is written beside the file first, so that a failure loses nothing; it is put in its place inside of
        `around`. A file with other names (hard links) gets the content in place, so that it shows under all of them.
        Raises `WorkbookError` where writing fails, and where the file has changed since this object was made.
        """
        temporary = None
        try:
            handle, name = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=self._place.parent)
            temporary = Path(name)
            with os.fdopen(handle, "wb") as stream:
                write(stream)
                stream.flush()
                os.fsync(stream.fileno())
            self._dress(temporary, mode)
            self._refuse_if_changed()
            with around or nullcontext():
                if self._has_other_names:
                    self._overwrite(temporary)
                else:
                    temporary.replace(self._place)
        except PermissionError:
            raise WorkbookError(f"{self.path} cannot be replaced; close it in the other program first") from None
        except OSError as error:
            raise WorkbookError(f"{self.path} could not be written ({error.strerror or error})") from None
        finally:
            if temporary is not None:
                temporary.unlink(missing_ok=True)

    def _overwrite(self, temporary: Path) -> None:
        """Copy the new content into the file itself; if that breaks off, the whole content is kept beside it."""
        try:
            with temporary.open("rb") as source, self._place.open("r+b") as target:
                shutil.copyfileobj(source, target)
                target.truncate()
                target.flush()
                os.fsync(target.fileno())
        except OSError as error:
            kept = temporary.rename(temporary.with_name(f"rescued-{self._place.name}"))
            raise WorkbookError(
                f"{self.path} could not be written ({error.strerror or error}); its new content is in {kept}"
            ) from None

    def _dress(self, temporary: Path, mode: int) -> None:
        """Give the new file the owner and mode of the one that it replaces."""
        if self._owner is not None and hasattr(os, "chown"):
            with suppress(OSError):  # only root may give files away; then the writer owns the new file
                os.chown(temporary, *self._owner)
        temporary.chmod(mode & _PERMISSIONS | stat.S_IWUSR if self._mode is None else self._mode)

    def _refuse_if_changed(self) -> None:
        self._refuse_if_open()
        now = _status(self._place, self.path)
        if (stamp(now) if now else None) != self._before:
            raise WorkbookError(
                f"{self.path} was changed by someone else in the meantime; it is left as it is now. Run this again"
            )

    def _refuse_if_open(self) -> None:
        """Excel and Calc write an owner file beside a book that they have open."""
        for book in {self.path, self._place}:
            for owner in (book.with_name(f"~${book.name}"), book.with_name(f".~lock.{book.name}#")):
                if os.path.lexists(owner):
                    raise WorkbookError(
                        f"{self.path} is open in another program; close it there first (or delete {owner.name})"
                    )


def remove_leftovers(folder: Path, *, now: float) -> None:
    """Remove what killed programs left half-written in a folder; `now` is in seconds since the epoch."""
    with suppress(OSError):
        for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
            if path.stat().st_mtime < now - LEFT_OVER_S:
                path.unlink(missing_ok=True)


def stamp(status: os.stat_result) -> Stamp:
    """The stamp of a file with this status."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _is_special(path: Path) -> bool:
    """Return whether something other than a regular file is at `path`, which has a better reason to be refused."""
    try:
        return path.exists() and not path.is_file()
    except (OSError, ValueError):
        return True


def _status(place: Path, path: Path) -> os.stat_result | None:
    """The status of a regular file, None where there is none yet; raises `WorkbookError` for anything else."""
    try:
        found = place.stat()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise WorkbookError(f"{path} cannot be written ({getattr(error, 'strerror', None) or error})") from None
    if stat.S_ISDIR(found.st_mode):
        raise WorkbookError(f"{path} is a folder, not a workbook")
    if not stat.S_ISREG(found.st_mode):
        raise WorkbookError(f"{path} is no regular file; a workbook cannot be written there")
    return found
