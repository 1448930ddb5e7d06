"""A workbook file as a package of parts: checked when it is opened, and written so that nothing can be lost.

A file is refused if it is not a workbook, is encrypted, would unpack to an unreasonable size, or names parts outside
of itself. A package is written to a new file beside the target, which then replaces the target.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import posixpath
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, Self
from urllib.parse import unquote

from lxml import etree

from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.ooxml.strict.archive import check_archive
from addin.workbook.ooxml.strict.lexical import check_text
from addin.workbook.ooxml.strict.parts import (
    Relation,
    check_book_relations,
    check_parts,
    relations_in,
    the_book,
)
from addin.workbook.ooxml.target import Target, stamp
from addin.workbook.ooxml.xmlpart import MAX_TREE_BYTES, parse_xml, tree_bytes, utf8

MAX_BYTES = 2 * 1024**3
"""What all parts together may unpack to; they are copied piece by piece."""

MAX_PART_BYTES = 128 * 1024**2
"""What a part that is read as a whole may unpack to: a sheet of half a million cells has some 40 MB."""

MAX_PARTS = 10_000

MAX_RATIO = 400
"""How many times its packed size a large part may unpack to; the XML of a full sheet unpacks to about ten times."""

RATIO_FREE_BYTES = 16 * 1024**2
"""Parts up to this size may have any ratio."""

_TYPES = "[Content_Types].xml"
_DIGITAL_SIGNATURE = "http://schemas.openxmlformats.org/package/2006/relationships/digital-signature/origin"
_OLE_MAGIC = b"\xd0\xcf\x11\xe0"
_BROKEN_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    OSError,
    RuntimeError,
    EOFError,
    ValueError,
)
"""What the standard library raises for a damaged or unknown kind of zip file."""


class Package:
    """The parts of a workbook file, read as they are needed; a context manager that closes the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream = _opened(path)
        try:
            self._zip = _zip_of(self._stream, path)
            self._opened_as = os.fstat(self._stream.fileno())
            self._held_bytes = 0
            self._names = {name.casefold(): name for name in self._zip.namelist()}
            if "[content_types].xml" not in self._names:
                is_open_document = "mimetype" in self._names
                what = (
                    "an OpenDocument file: save it as .xlsx first"
                    if is_open_document
                    else "a zip file, but no workbook"
                )
                raise WorkbookError(f"{path} is {what}")
            self.workbook = self._workbook_part()
            self._check_parts()
        except WorkbookError:
            self._stream.close()
            raise

    def __contains__(self, part: str) -> bool:
        return part.casefold() in self._names

    def parts(self) -> Iterator[str]:
        """The names of all parts, in their order."""
        yield from self._names.values()

    def read(self, part: str) -> bytes:
        """The bytes of a part; its name's case does not matter."""
        name = self._names.get(part.casefold())
        if name is None:
            raise WorkbookError(f"{self.path} is damaged: the part {part} is missing")
        if self._zip.getinfo(name).file_size > MAX_PART_BYTES:
            raise WorkbookError(f"{self.path} is too large to be read: its part {part} unpacks to more than 128 MB")
        with self._reading(part):
            return self._zip.read(name)

    def digest(self, part: str) -> str:
        """The SHA-256 of a part's bytes, read piece by piece."""
        found = hashlib.sha256()
        with self._reading(part), self._zip.open(self._names[part.casefold()]) as content:
            while piece := content.read(shutil.COPY_BUFSIZE):  # type: ignore[attr-defined]  # there since 3.8
                found.update(piece)
        return found.hexdigest()

    def text(self, part: str) -> bytes:
        """The XML of a part in UTF-8."""
        return utf8(self.read(part), part)

    def xml(self, part: str) -> etree._Element:
        """The root element of an XML part. Raises `WorkbookError` where it is damaged, or the book has too many."""
        content = self.text(part)
        self._held_bytes += tree_bytes(content)
        if self._held_bytes > MAX_TREE_BYTES:
            raise WorkbookError(
                f"{self.path} is too large: with {part}, its sheets would take more than "
                f"{MAX_TREE_BYTES // 1024**2:,} MB of memory; split the book"
            )
        root: etree._Element = parse_xml(content, part)
        return root

    def strict_xml(self, part: str) -> etree._Element:
        """As `xml`, of a part that programs must not read in two ways."""
        check_text(self.read(part), part)
        return self.xml(part)

    def related(self, part: str) -> Iterator[tuple[str, str, str]]:
        """The relationships of a part: id, type, and the part they lead to (links to the outside are skipped)."""
        for relation in self._relations(part):
            if not relation.is_outside:
                target = relation.part if relation.part in self else unquote(relation.part)
                yield relation.key, relation.kind, target

    def _relations(self, part: str) -> list[Relation]:
        folder, name = posixpath.split(part)
        rels = posixpath.join(folder, "_rels", f"{name}.rels")
        return relations_in(self.strict_xml(rels), part, rels) if rels in self else []

    def write(
        self,
        target: Target,
        changed: Mapping[str, bytes],
        removed: Collection[str] = (),
        *,
        mode: int | None = None,
        around: AbstractContextManager[object] | None = None,
    ) -> None:
        """Write the package to `target` with the `changed` parts and without the `removed` ones, and close it.

        Every other part keeps its bytes, order and date. A new file gets `mode`, else that of this package; it is put
        in its place inside of `around`.
        """
        if any(kind == _DIGITAL_SIGNATURE for _, kind, _ in self.related("")):
            raise WorkbookError(
                f"{self.path} has a digital signature, which any change would break; remove it in Excel first, "
                "or work on a copy without it"
            )
        changed = {self._names.get(name.casefold(), name): content for name, content in changed.items()}
        left_out = {name.casefold() for name in removed}

        def copy(stream: BinaryIO) -> None:
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as out:
                for info in self._zip.infolist():
                    if info.filename.casefold() not in left_out:
                        self._copy(info, changed.get(info.filename), out)
                for name in changed:
                    if name not in self:
                        # A fixed date, so that the same content makes the same file.
                        out.writestr(zipfile.ZipInfo(name), changed[name], zipfile.ZIP_DEFLATED)
            self._refuse_if_changed()
            self.close()  # Windows replaces no file that is open, and the target may be the book itself

        target.replace(copy, mode=self._opened_as.st_mode if mode is None else mode, around=around)

    def _copy(self, info: zipfile.ZipInfo, content: bytes | None, out: zipfile.ZipFile) -> None:
        """Copy one part, or its new content, piece by piece."""
        kept = zipfile.ZipInfo(info.filename, info.date_time)
        kept.compress_type = info.compress_type
        kept.external_attr, kept.create_system, kept.comment = info.external_attr, info.create_system, info.comment
        if content is not None:
            out.writestr(kept, content)
            return
        kept.file_size = info.file_size
        with self._reading(info.filename):
            source = self._zip.open(info)
        with source, out.open(kept, "w") as copied:
            while True:
                with self._reading(info.filename):
                    piece = source.read(shutil.COPY_BUFSIZE)  # type: ignore[attr-defined]  # there since 3.8
                if not piece:
                    return
                copied.write(piece)

    @contextmanager
    def _reading(self, part: str) -> Iterator[None]:
        try:
            yield
        except _BROKEN_ZIP as error:
            self._refuse_if_changed()
            raise WorkbookError(f"{self.path} is damaged: the part {part} cannot be read ({error})") from None

    def _refuse_if_changed(self) -> None:
        if stamp(os.fstat(self._stream.fileno())) != stamp(self._opened_as):
            raise WorkbookError(f"{self.path} was changed by someone else in the meantime; run this again")

    def _workbook_part(self) -> str:
        """The part that names the sheets: where the package says it is, else where it usually is."""
        part = the_book(self._relations("")) or "xl/workbook.xml"
        if part.casefold().endswith(".bin"):
            raise WorkbookError(f"{self.path} is a binary workbook (.xlsb): save it as .xlsx or .xlsm first")
        if part not in self:
            raise WorkbookError(f"{self.path} is a zip file, but no workbook")
        return part

    def _check_parts(self) -> None:
        """Refuse what only some programs take for the workbook, or for a part of it."""
        relations = self._relations(self.workbook)
        check_book_relations(relations, self.workbook)
        check_parts(self.parts(), self.workbook, relations, self.strict_xml(_TYPES), _TYPES)

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _opened(path: Path) -> BinaryIO:
    """The regular file at `path`, opened for reading; a pipe or a device is refused without waiting for it."""
    try:
        if stat.S_ISDIR(kind := path.stat().st_mode):
            raise WorkbookError(f"{path} is a folder, not a workbook")
        if not stat.S_ISREG(kind):
            raise WorkbookError(f"{path} is no regular file, and so no workbook")
        return path.open("rb")
    except FileNotFoundError:
        raise WorkbookError(f"{path}: there is no such file") from None
    except PermissionError:
        raise WorkbookError(f"{path} cannot be opened; is it open in another program?") from None
    except (OSError, ValueError) as error:
        raise WorkbookError(f"{path} cannot be opened ({getattr(error, 'strerror', None) or error})") from None


def _zip_of(stream: BinaryIO, path: Path) -> zipfile.ZipFile:
    try:
        opened = zipfile.ZipFile(stream)
    except _BROKEN_ZIP:
        stream.seek(0)
        is_old = stream.read(4) == _OLE_MAGIC
        hint = "; it is an .xls file or has a password: save it as .xlsx without one" if is_old else ""
        raise WorkbookError(f"{path} is not an .xlsx or .xlsm workbook, or it is damaged{hint}") from None
    _check(opened.infolist(), path)
    check_archive(opened, stream, path)
    return opened


def _check(infos: list[zipfile.ZipInfo], path: Path) -> None:
    if len(infos) > MAX_PARTS or sum(info.file_size for info in infos) > MAX_BYTES:
        raise WorkbookError(f"{path} would unpack to more than a workbook can hold; it is refused")
    names = set()
    for info in infos:
        name = info.filename.replace("\\", "/")
        if name.startswith("/") or ".." in name.split("/") or name.casefold() in names:
            raise WorkbookError(f"{path} is refused: it holds a part with the name {info.filename!r}")
        names.add(name.casefold())
        if info.flag_bits & 1:
            raise WorkbookError(f"{path} is encrypted; save it without a password first")
        if info.file_size > RATIO_FREE_BYTES and info.file_size > MAX_RATIO * max(1, info.compress_size):
            raise WorkbookError(f"{path} would unpack to more than a workbook can hold; it is refused")
