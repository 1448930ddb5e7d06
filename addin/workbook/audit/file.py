"""The file of signed lines: blocks are appended whole, under a lock, and what broke off is cut away."""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import orjson

from addin.config.settings import config_dir, write_private
from addin.workbook.audit.chain import START, Chain, hash_in, is_begin, is_end, read_chain
from addin.workbook.audit.keys import fingerprint, is_signed
from addin.workbook.audit.trusted import trust_of
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

    def __init__(
        self, path: Path, *, seals: Path | None = None, is_accepted: Callable[[str, str], bool] | None = None
    ) -> None:
        self.path = path
        self._seals = Seals(seals or config_dir() / "seals")
        self._is_accepted = is_accepted or _is_trusted
        self._end: _End | None = None
        """Where the file ended after our last block, so that it is not read again for each."""

    @contextmanager
    def appended(self, lines_after: Callable[[str, str, Mapping[str, str]], Sequence[bytes]]) -> Iterator[None]:
        """Append a block, and keep it only if what is done inside of this succeeds.

        `lines_after` makes its lines from the file's id, the hash of the line before, and what the file replaced.
        Raises `AuditError`, also where lines were removed that were there before, where the block would be older than
        the one before it, and where somebody signed in the file whose key is not trusted.
        """
        with self._locked() as stream:
            end = self._whole_end(stream)
            replaced = {} if end.size else self._seals.replaced(self.path, end.audit_id)
            lines = lines_after(end.audit_id, end.previous, replaced)
            begin = orjson.loads(lines[0])
            if str(begin.get("at", "~")) < end.at:
                raise AuditError(
                    f"{self.path} ends with lines of {end.at}, and it is {begin['at']} by this machine's clock: set "
                    "the clock right; the book is unchanged"
                )
            try:
                _write(stream, end.size, b"".join(line + b"\n" for line in lines))
            except OSError as error:
                _cut(stream, end.size)
                raise AuditError(
                    f"{self.path} could not be written ({error.strerror}); the book is unchanged"
                ) from None
            try:
                yield
            except BaseException:
                _cut(stream, end.size)
                raise
            seal = hash_in(lines[-1])
            self._end = _End(stream.seek(0, os.SEEK_END), seal, end.audit_id, str(begin.get("at", "")))
        self._seals.remember(self.path, end.audit_id, seal)

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

    def _whole_end(self, stream: BinaryIO) -> _End:
        """Return where the last whole block ends; lines after it broke off and will be cut."""
        if self._end is not None and stream.seek(0, os.SEEK_END) == self._end.size:
            return self._end
        stream.seek(0)
        found, audit_id, at, seals = _End(), "", 0, set[str]()
        begun = ""
        for line in stream:
            if not at and not is_begin(line):
                raise AuditError(f"{self.path} holds something else than signed numbers; name another file")
            audit_id = audit_id or _id_in(line)
            at += len(line)
            if is_begin(line):
                begun = _text_in(line, "at")
            if is_end(line) and line.endswith(b"\n"):
                found = _End(at, hash_in(line.rstrip()), audit_id, begun)
                seals.add(found.previous)
                self._refuse_stranger(_text_in(line, "public_key"), begun)
        known = self._seals.of(audit_id)
        if known and known not in seals:
            raise AuditError(
                f"lines at the end of {self.path} are missing that this machine signed (seal {known[:16]}…): restore "
                "the file, or name a new one for what follows; the book is unchanged"
            )
        return found if found.size else replace(found, audit_id=secrets.token_hex(8))

    def _refuse_stranger(self, key: str, at: str) -> None:
        if not self._is_accepted(key, at):
            raise AuditError(
                f"{self.path} holds lines signed with {fingerprint(key)}, which is not a key that you trust; name "
                "another file, or trust the key: addin signer trust"
            )


@dataclass(frozen=True, slots=True)
class _End:
    """The end of a file's whole blocks: the bytes they take, the last hash, the file's id, the last time."""

    size: int = 0
    previous: str = START
    audit_id: str = ""
    at: str = ""


class Seals:
    """The files that this machine has signed: the last seal of each, and which file was where."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, audit_id: str) -> str:
        """The last seal of a file; empty where this machine knows none."""
        return self._read(audit_id) if audit_id else ""

    def replaced(self, path: Path, audit_id: str) -> dict[str, str]:
        """Return which other file of lines was at this place before; empty where there was none."""
        before, _, seal = self._read(self._place(path)).partition(" ")
        return {"audit": before, "seal": seal} if before and before != audit_id else {}

    def remember(self, path: Path, audit_id: str, seal: str) -> None:
        """Remember the last seal, by which it is noticed when whole blocks are removed from the end."""
        with suppress(OSError):
            write_private(self._folder / audit_id, seal.encode())
            write_private(self._folder / self._place(path), f"{audit_id} {seal}".encode())

    def _read(self, name: str) -> str:
        try:
            return (self._folder / name).read_text("ascii").strip()
        except (OSError, ValueError):
            return ""

    @staticmethod
    def _place(path: Path) -> str:
        return f"place-{hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:16]}"


def _is_trusted(public_key: str, at: str) -> bool:
    return trust_of(public_key, at).is_accepted


def read_audit(
    path: Path, wanted: Callable[[dict[str, object]], bool] = lambda _: True, *, seals: Path | None = None
) -> Chain:
    """The blocks in the file whose begin is `wanted`, and what is wrong with it; raises `AuditError`."""
    remembered = Seals(seals or config_dir() / "seals")
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
    known = remembered.of(audit_id)
    if known and known not in chain.seals:
        chain.problems.append(f"lines at its end were removed: the last seal, {known[:16]}…, is missing")
    if replaced := remembered.replaced(path, audit_id):
        chain.notes.append(f"another file of signed lines was here before, with the seal {replaced['seal'][:16]}…")
    return chain


def _id_in(line: bytes) -> str:
    """The file's id in its first line; empty for a line that was altered into anything else."""
    found = _text_in(line, "audit")
    return found if len(found) == 16 and set(found) <= set("0123456789abcdef") else ""


def _text_in(line: bytes, name: str) -> str:
    """A short text in a line, found without reading the whole of it; empty where there is none."""
    marker = f'"{name}":"'.encode()
    at = line.find(marker)
    end = line.find(b'"', at + len(marker)) if at >= 0 else -1
    return line[at + len(marker) : end].decode("ascii", "replace") if end >= 0 else ""


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
