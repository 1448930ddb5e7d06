"""The file of signed lines: blocks are appended whole, under a lock, and what broke off is cut away."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from addin.config.settings import config_dir, write_private
from addin.workbook.audit.chain import START, Chain, hash_in, is_begin, is_end, read_chain
from addin.workbook.audit.keys import is_signed
from addin.workbook.ooxml.errors import WorkbookError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_LOCKED_AT = 2**40
"""The byte that Windows locks: far behind the end, so that others may read the file meanwhile."""


class AuditError(WorkbookError):
    """The file of signed lines cannot be read or written; the message says why and what to do."""


class AuditFile:
    """A file to which blocks of signed lines are appended; it may not exist yet."""

    def __init__(self, path: Path, *, seals: Path | None = None) -> None:
        self.path = path
        self._seals = seals or config_dir() / "seals"
        self._end: tuple[int, str, str] | None = None
        """Size, last hash and id of the file after our last look or block, so that it is not read again for each."""

    @contextmanager
    def appended(self, lines_after: Callable[[str, str], Sequence[bytes]]) -> Iterator[None]:
        """Append a block, and keep it only if what is done inside of this succeeds.

        `lines_after` makes its lines from the file's id and the hash of the line before. Raises `AuditError`.
        """
        with self._locked() as stream:
            end, previous, audit_id = self._whole_end(stream)
            lines = lines_after(audit_id, previous)
            try:
                _write(stream, end, b"".join(line + b"\n" for line in lines))
            except OSError as error:
                _cut(stream, end)
                raise AuditError(
                    f"{self.path} could not be written ({error.strerror}); the book is unchanged"
                ) from None
            try:
                yield
            except BaseException:
                _cut(stream, end)
                raise
            self._end = stream.seek(0, os.SEEK_END), hash_in(lines[-1]), audit_id
        self._remember(audit_id, hash_in(lines[-1]))

    def check(self) -> None:
        """Raise `AuditError` where nothing could be appended."""
        if self.path.exists():
            with self._locked() as stream:
                self._whole_end(stream)
        elif not os.access(self.path.parent, os.W_OK):
            raise AuditError(f"{self.path} cannot be written: there is no folder {self.path.parent} to write to")

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        if self.path.exists() and not self.path.is_file():
            raise AuditError(f"{self.path} is no regular file; name another one for the signed numbers")
        try:
            stream = os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644), "r+b")
        except (OSError, ValueError) as error:
            raise AuditError(
                f"{self.path} cannot be written ({getattr(error, 'strerror', None) or error}); nothing was done"
            ) from None
        with stream:
            _lock(stream)
            try:
                yield stream
            finally:
                _unlock(stream)

    def _whole_end(self, stream: BinaryIO) -> tuple[int, str, str]:
        """Where the last whole block ends, its hash, and the file's id; lines after it broke off and will be cut."""
        if self._end is not None and stream.seek(0, os.SEEK_END) == self._end[0]:
            return self._end
        stream.seek(0)
        end, previous, audit_id = 0, START, ""
        at = 0
        for line in stream:
            if not at and not is_begin(line):
                raise AuditError(f"{self.path} holds something else than signed numbers; name another file")
            audit_id = audit_id or _id_in(line)
            at += len(line)
            if is_end(line) and line.endswith(b"\n"):
                end, previous = at, hash_in(line.rstrip())
        return end, previous, audit_id if end else secrets.token_hex(8)

    def _remember(self, audit_id: str, seal: str) -> None:
        """Remember the last seal, by which it is noticed when whole blocks are removed from the end."""
        with suppress(OSError):
            write_private(self._seals / audit_id, seal.encode())


def read_audit(
    path: Path, wanted: Callable[[dict[str, object]], bool] = lambda _: True, *, seals: Path | None = None
) -> Chain:
    """The blocks in the file whose begin is `wanted`, and what is wrong with it; raises `AuditError`."""
    seals = seals or config_dir() / "seals"
    audit_id = ""
    try:
        with path.open("rb") as stream:
            first = stream.readline()
            if not is_begin(first):
                raise AuditError(f"{path} does not begin like a file of signed numbers")
            audit_id = _id_in(first)
            stream.seek(0)
            chain = read_chain(stream, is_signed=is_signed, wanted=wanted)  # type: ignore[arg-type]
    except (OSError, ValueError) as error:
        raise AuditError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error})") from None
    with suppress(OSError):
        known = (seals / audit_id).read_text("ascii") if audit_id else ""
        if known and known not in chain.seals:
            chain.problems.append(f"lines at its end were removed: the last seal, {known[:16]}…, is missing")
    return chain


def _id_in(line: bytes) -> str:
    """The file's id in its first line; empty for a line that was altered into anything else."""
    marker = b'"audit":"'
    at = line.find(marker)
    found = line[at + len(marker) : at + len(marker) + 16].decode("ascii", "replace") if at >= 0 else ""
    return found if len(found) == 16 and set(found) <= set("0123456789abcdef") else ""


def _write(stream: BinaryIO, end: int, content: bytes) -> None:
    stream.seek(end)
    stream.truncate()
    stream.write(content)
    stream.flush()
    os.fsync(stream.fileno())


def _cut(stream: BinaryIO, end: int) -> None:
    with suppress(OSError):
        stream.seek(end)
        stream.truncate()


def _lock(stream: BinaryIO) -> None:
    """Wait until no other process appends."""
    if sys.platform == "win32":
        stream.seek(_LOCKED_AT)
        msvcrt.locking(stream.fileno(), msvcrt.LK_LOCK, 1)
    else:
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX)


def _unlock(stream: BinaryIO) -> None:
    if sys.platform == "win32":
        stream.seek(_LOCKED_AT)
        msvcrt.locking(stream.fileno(), msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(stream.fileno(), fcntl.LOCK_UN)
