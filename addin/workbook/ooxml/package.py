"""A workbook file as a package of parts: checked when it is opened, and written so that nothing can be lost.

A file is refused if it is not a workbook, is encrypted, would unpack to an unreasonable size, or names parts outside
of itself. A package is written to a new file beside the target, which then replaces the target.
"""

from __future__ import annotations

import os
import posixpath
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from lxml import etree

from addin.errors import AddinError

MAX_BYTES = 2 * 1024**3
"""What all parts together may unpack to."""

MAX_PART_BYTES = 512 * 1024**2
"""What one part may unpack to: a sheet of a million rows has some 200 MB."""

MAX_PARTS = 10_000

MAX_RATIO = 400
"""How many times its packed size a large part may unpack to; the XML of a full sheet unpacks to about ten times."""

RATIO_FREE_BYTES = 16 * 1024**2
"""Parts up to this size may have any ratio."""

_OLE_MAGIC = b"\xd0\xcf\x11\xe0"


class WorkbookError(AddinError):
    """The file cannot be used as a workbook; the message says why and what to do."""


class Package:
    """The parts of a workbook file, read as they are needed; a context manager that closes the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise WorkbookError(f"{path}: there is no such file") from None
        except IsADirectoryError:
            raise WorkbookError(f"{path} is a folder, not a workbook") from None
        except PermissionError:
            raise WorkbookError(f"{path} cannot be opened; is it open in another program?") from None
        except (zipfile.BadZipFile, OSError, ValueError):
            raise WorkbookError(f"{path} is not an .xlsx or .xlsm workbook, or it is damaged{_hint(path)}") from None
        try:
            _check(self._zip.infolist(), path)
            self._names = {name.casefold(): name for name in self._zip.namelist()}
            if "[content_types].xml" not in self._names or "xl/workbook.xml" not in self._names:
                raise WorkbookError(f"{path} is a zip file, but no workbook")
        except WorkbookError:
            self._zip.close()
            raise

    def __contains__(self, part: str) -> bool:
        return part.casefold() in self._names

    def read(self, part: str) -> bytes:
        """The bytes of a part; its name's case does not matter."""
        try:
            return self._zip.read(self._names[part.casefold()])
        except KeyError:
            raise WorkbookError(f"{self.path} is damaged: the part {part} is missing") from None
        except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, EOFError) as error:
            raise WorkbookError(f"{self.path} is damaged: the part {part} cannot be read ({error})") from None

    def xml(self, part: str) -> etree._Element:
        """The root element of an XML part."""
        try:
            return parse_xml(self.read(part))
        except etree.XMLSyntaxError as error:
            raise WorkbookError(f"{self.path} is damaged: {part} is not well-formed ({error})") from None

    def related(self, part: str) -> Iterator[tuple[str, str, str]]:
        """The relationships of a part: id, type, and the part they lead to (links to the outside are skipped)."""
        folder, name = posixpath.split(part)
        rels = posixpath.join(folder, "_rels", f"{name}.rels")
        if rels not in self:
            return
        for relation in self.xml(rels):
            if relation.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", ""))).lstrip("/")
                yield relation.get("Id", ""), relation.get("Type", ""), target

    def write(self, target: Path, changed: Mapping[str, bytes]) -> None:
        """Write the package to `target` with the `changed` parts, and close it.

        Every other part keeps its bytes, order and date.
        """
        changed = {self._names.get(name.casefold(), name): content for name, content in changed.items()}
        try:
            handle, temporary = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent)
        except OSError as error:
            raise WorkbookError(f"nothing can be written beside {target}: {error.strerror}") from None
        try:
            with os.fdopen(handle, "wb") as stream:
                self._copy(stream, changed)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(self.path.stat().st_mode & 0o777)
            self.close()  # Windows replaces no file that is open, and the target may be the book itself
            Path(temporary).replace(target)
        except PermissionError:
            raise WorkbookError(f"{target} cannot be replaced; close it in the other program first") from None
        finally:
            Path(temporary).unlink(missing_ok=True)

    def _copy(self, stream: object, changed: Mapping[str, bytes]) -> None:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as out:  # type: ignore[call-overload]
            for info in self._zip.infolist():
                content = changed.get(info.filename)
                out.writestr(info, self.read(info.filename) if content is None else content)
            for name in changed:
                if name not in self:
                    # A fixed date, so that the same content makes the same file.
                    out.writestr(zipfile.ZipInfo(name), changed[name], zipfile.ZIP_DEFLATED)

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def parse_xml(content: bytes) -> etree._Element:
    """The root of untrusted XML: no entities, no external files, no network; a document type is refused."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    root = etree.fromstring(content, parser)
    if root.getroottree().docinfo.internalDTD is not None:
        raise WorkbookError("the workbook declares a document type, which no spreadsheet program writes; it is refused")
    return root


def xml_bytes(root: etree._Element) -> bytes:
    """The content of an XML part."""
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))


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
        suspicious = info.file_size > RATIO_FREE_BYTES and info.file_size > MAX_RATIO * max(1, info.compress_size)
        if info.file_size > MAX_PART_BYTES or suspicious:
            raise WorkbookError(f"{path} would unpack to more than a workbook can hold; it is refused")


def _hint(path: Path) -> str:
    with suppress(OSError), path.open("rb") as stream:
        if stream.read(4) == _OLE_MAGIC:
            return "; it is an .xls file or has a password: save it as .xlsx without one"
    return ""
