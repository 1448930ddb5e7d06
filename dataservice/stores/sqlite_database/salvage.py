"""What is readable of a damaged SQLite file: its logs and its salt, page by page, without the help of SQLite.

Answers can be asked for again; what was known when cannot. Every part carries a checksum, so what is read is right.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dataservice.stores.sqlite_database.statements import BROKEN, is_intact

HEADER_BYTES = 100
MAGIC = b"SQLite format 3\0"
LEAF = 0x0D
"""The kind of a page that holds rows of a table."""

USUAL_PAGE_BYTES = 4_096
SALT_BYTES = 16
LONGEST_ROW = 2**28
WAL_HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24

_NUMBER = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Salvaged:
    """The salt, where it could be read, and parts of logs as they were kept, oldest first."""

    salt: bytes | None
    parts: tuple[tuple[str, bytes], ...]


def salvaged(path: Path) -> Salvaged:
    """Return what a damaged file still holds. Behind the parts of a log that may lack some is one marked so."""
    pages = _Pages(path)
    salt, parts = None, dict[int, tuple[str, bytes]]()
    for number, values in pages.rows():
        match values:
            case [None, bytes(found)] if number == 1 and len(found) == SALT_BYTES:
                salt = found
            case [None, str(log), bytes(payload)] if not payload or is_intact(payload, log):
                parts[number] = log, payload
    known = _numbers(path)
    whole = {log for log, numbers in known.items() if numbers <= parts.keys()}
    broken = ((log, BROKEN) for log in sorted({log for log, _ in parts.values()} | known.keys()) if log not in whole)
    return Salvaged(salt, (*(parts[number] for number in sorted(parts)), *broken))


def _numbers(path: Path) -> Mapping[str, set[int]]:
    """Return which parts each log had, by the index of them; nothing where that cannot be read as a whole."""
    found: dict[str, set[int]] = {}
    address = f"file:{quote(str(path))}?mode=ro"
    with suppress(sqlite3.Error, UnicodeDecodeError), closing(sqlite3.connect(address, uri=True)) as db:
        for log, number in db.execute("SELECT log, number FROM parts INDEXED BY parts_by_log"):
            found.setdefault(log, set()).add(number)
        return found
    return {}


class _Pages:
    """The pages of a file, with those that its write-ahead log has in their place."""

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        self._page_bytes, reserved = USUAL_PAGE_BYTES, 0
        if content.startswith(MAGIC) and len(content) >= HEADER_BYTES:
            self._page_bytes = int.from_bytes(content[16:18], "big")
            self._page_bytes = 65_536 if self._page_bytes == 1 else self._page_bytes or USUAL_PAGE_BYTES
            reserved = content[20]
        self._usable = self._page_bytes - reserved
        self._content = content
        self._ahead = _ahead(path.with_name(path.name + "-wal"), self._page_bytes)
        self._free = self._free_pages()

    def rows(self) -> Iterator[tuple[int, list[Any]]]:
        """The rows of all tables that can be read, each with its number."""
        for number in range(1, max(len(self._content) // self._page_bytes, *self._ahead, 0) + 1):
            page, begin = self._page(number), HEADER_BYTES if number == 1 else 0
            if number in self._free or not page or page[begin] != LEAF:
                continue
            for at in range(begin + 8, begin + 8 + 2 * int.from_bytes(page[begin + 3 : begin + 5], "big"), 2):
                with suppress(IndexError, ValueError, struct.error, UnicodeDecodeError):
                    yield self._row(page, int.from_bytes(page[at : at + 2], "big"))

    def _page(self, number: int) -> bytes:
        """One page; empty where it is missing, or cut."""
        begin = (number - 1) * self._page_bytes
        page = self._ahead.get(number) or self._content[begin : begin + self._page_bytes]
        return page if number > 0 and len(page) == self._page_bytes else b""

    def _row(self, page: bytes, at: int) -> tuple[int, list[Any]]:
        length, at = _varint(page, at)
        number, at = _varint(page, at)
        if length > LONGEST_ROW:
            raise ValueError("no row is so long")
        return number, _values(self._payload(page, at, length))

    def _payload(self, page: bytes, at: int, length: int) -> bytes:
        """The bytes of a row; long ones go on in pages of their own."""
        usable = self._usable
        if length <= usable - 35:
            return page[at : at + length]
        least = (usable - 12) * 32 // 255 - 23
        local = least + (length - least) % (usable - 4)
        local = local if local <= usable - 35 else least
        found, behind = [page[at : at + local]], _NUMBER.unpack_from(page, at + local)[0]
        left = length - local
        while left > 0:
            rest = self._page(behind)
            if not rest:
                raise ValueError("a page is missing")
            found.append(rest[4 : 4 + min(left, usable - 4)])
            left -= len(found[-1])
            behind = _NUMBER.unpack_from(rest)[0]
        return b"".join(found)

    def _free_pages(self) -> set[int]:
        """Pages of what was deleted: that was done on purpose."""
        first = self._page(1)
        free: set[int] = set()
        trunk = _NUMBER.unpack_from(first, 32)[0] if first else 0
        while trunk and trunk not in free:
            free.add(trunk)
            page = self._page(trunk)
            if not page:
                break
            trunk, count = struct.unpack_from(">II", page)
            count = min(count, self._page_bytes // 4 - 2)
            free.update(struct.unpack_from(f">{count}I", page, 8))
        return free


def _ahead(path: Path, page_bytes: int) -> dict[int, bytes]:
    """The pages in a write-ahead log, the newest of each."""
    if not path.is_file():
        return {}
    content, pages, written = path.read_bytes(), dict[int, bytes](), dict[int, bytes]()
    frame_bytes = FRAME_HEADER_BYTES + page_bytes
    for at in range(WAL_HEADER_BYTES, len(content) - frame_bytes + 1, frame_bytes):
        number, commits = struct.unpack_from(">II", content, at)
        if content[at + 8 : at + 16] != content[16:24]:
            break  # of an earlier log
        written[number] = content[at + FRAME_HEADER_BYTES : at + frame_bytes]
        if commits:
            pages |= written
            written = {}
    return pages


def _values(payload: bytes) -> list[Any]:
    """The columns of a row."""
    header, at = _varint(payload, 0)
    if header > len(payload):
        raise ValueError("no header is so long")
    kinds: list[int] = []
    while at < header:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values: list[Any] = []
    for kind in kinds:
        length = _length(kind)
        found = payload[at : at + length]
        if len(found) < length:
            raise ValueError("a value is cut")
        values.append(None if kind == 0 else found.decode() if kind >= 13 and kind % 2 else found)
        at += length
    return values


def _length(kind: int) -> int:
    """Return how many bytes a value of this kind takes."""
    return (kind - 12) // 2 if kind >= 12 else (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)[kind]


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """A number of 1 to 9 bytes, and where it ends."""
    number = 0
    for place in range(8):
        byte = content[at + place]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at + place + 1
    return number << 8 | content[at + 8], at + 9
