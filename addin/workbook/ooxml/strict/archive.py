"""The zip file itself: one directory, one name for each part, and nothing that only some programs unpack."""

from __future__ import annotations

import re
import struct
import zipfile
from typing import BinaryIO

from addin.workbook.ooxml.errors import WorkbookError

_END = b"PK\x05\x06"
_END_SIZE = 22
_HEADER_SIZE, _LENGTHS_AT = 30, 26
"""What comes before a part beside its name and extra fields, and where the lengths of these stand in it."""
_DESCRIPTOR_SIZE = 24
"""The most that may follow a part: its checksum and sizes, where they were not known before."""
_UNICODE_PATH = 0x7075
"""An extra field with a second name for a part, which some programs go by."""

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_PLAIN_NAME = re.compile(r"(?:[^/\\:%?#*\x00-\x1f]+/)*[^/\\:%?#*\x00-\x1f]*")


def check_archive(archive: zipfile.ZipFile, stream: BinaryIO, path: object) -> None:
    """Raise `WorkbookError` for a zip file whose parts programs may find in different places or under other names."""
    why = _second_reading(archive, stream)
    if why:
        raise WorkbookError(f"{path} is refused: {why}, so programs may read different books in it")


def _second_reading(archive: zipfile.ZipFile, stream: BinaryIO) -> str:
    infos = archive.infolist()
    if min((info.header_offset for info in infos), default=0):
        return "something stands before its first part"
    stream.seek(0, 2)
    size = stream.tell()
    stream.seek(max(0, size - _END_SIZE - 0xFFFF))
    tail = stream.read()
    if tail.rfind(_END) != len(tail) - _END_SIZE:
        return "something stands behind its directory of parts"
    for info in infos:
        if info.compress_type not in _METHODS and info.filename.casefold().endswith((".xml", ".rels")):
            return f"its part {info.filename!r} is packed in an unusual way"
        if not _PLAIN_NAME.fullmatch(info.orig_filename) or info.filename != info.orig_filename:
            return f"it holds a part with the name {info.orig_filename!r}"
        if _UNICODE_PATH in _extra_fields(info.extra):
            return f"its part {info.filename!r} has a second name"
    return _between(sorted(infos, key=lambda info: info.header_offset), archive.start_dir, stream)


def _between(infos: list[zipfile.ZipInfo], end: int, stream: BinaryIO) -> str:
    """Return what is between the parts: some programs read them one after the other, and find more than are listed."""
    ends = [*(info.header_offset for info in infos[1:]), end]
    for info, following in zip(infos, ends, strict=False):
        stream.seek(info.header_offset + _LENGTHS_AT)
        lengths = stream.read(4)
        if len(lengths) == 4:
            size = _HEADER_SIZE + sum(struct.unpack("<HH", lengths)) + info.compress_size
            if not 0 <= following - info.header_offset - size <= _DESCRIPTOR_SIZE:
                return f"something stands behind its part {info.filename!r}"
    return ""


def _extra_fields(extra: bytes) -> set[int]:
    """The kinds of the extra fields of a part."""
    found = set()
    while len(extra) >= 4:
        kind, length = struct.unpack("<HH", extra[:4])
        found.add(kind)
        extra = extra[4 + length :]
    return found
