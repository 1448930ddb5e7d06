"""A workbook as the sheet in the browser exports it, made into a file whose formulas work in Excel and Calc."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import msgspec
from lxml import etree

from addin.formulas import mentions
from addin.sheet.formulas import file_form
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import WorkbookError, any_failure_explained
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import spot_of
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import MAIN
from addin.workbook.ooxml.target import Target
from addin.workbook.ooxml.xmlpart import xml_bytes
from udfs.cells import Scalar
from udfs.errors import CellError, ErrorCode

_T = f"{{{MAIN}}}t"
_PART = re.compile(r"[\w.\[\]/ -]{1,200}\.(?:xml|rels)")


Value: TypeAlias = bool | int | float | str | None

_ERROR = re.compile(r"#(N/A|VALUE!|REF!?|DIV/0!|NUM!|NAME\?|NULL!|SPILL!|ERROR|CYCLE|BAD_EXPR)|Loading…")
"""What the component exports as the text of an error."""


class ExportedFile(msgspec.Struct):
    """A part as the component writes it."""

    path: str
    content: str = ""


class Exported(msgspec.Struct):
    """What the page sends: the component's parts, and by sheet and cell the values into which formulas spill."""

    files: list[ExportedFile]
    values: dict[str, dict[str, Value]] = {}


def saved_book(exported: Exported, *, namespace: str = "DS") -> bytes:
    """The bytes of an .xlsx; raises `WorkbookError` where the page sent no workbook."""
    with TemporaryDirectory(prefix="addin-sheet-") as folder:
        draft, done = Path(folder) / "draft.xlsx", Path(folder) / "done.xlsx"
        draft.write_bytes(_zipped(exported.files))
        with any_failure_explained(draft), Package(draft) as package:
            book = Book(package)
            for name in book.sheet_names:
                _finish(book.sheet(name), exported.values.get(name, {}), namespace)
            changed = {**book.changed_parts(), **_plain_texts(package)}
            package.write(Target(done), changed)
        return done.read_bytes()


def _zipped(files: list[ExportedFile]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        for file in files:
            if not _PART.fullmatch(file.path):
                raise WorkbookError(f"{file.path[:60]!r} is no part of a workbook that can be written")
            package.writestr(zipfile.ZipInfo(file.path), file.content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def _finish(sheet: Sheet, spilled: Mapping[str, Value], namespace: str) -> None:
    """Write formulas as files have them: ours and those that spill as dynamic arrays, all others as plain ones."""
    for spot, formula in list(sheet.formulas()):
        sheet.write(spot, _in_file(sheet.value(spot)))
        if formula.is_array and formula.area.is_cell and not mentions(formula.text, namespace):
            sheet.make_plain(spot)
    sheet.rewrite_formulas(lambda text: file_form(text, namespace))
    for cell, value in spilled.items():
        if value != "":  # a blank of a table: an empty text would count as content
            sheet.write(spot_of(cell, sheet.part), _in_file(value))


def _in_file(value: Scalar) -> Scalar:
    """The value as a file has it: an error is no text there."""
    if isinstance(value, str) and _ERROR.fullmatch(value):
        return CellError(ErrorCode.VALUE if value == "#VALUE!" else ErrorCode.NA, value)
    return value


def _plain_texts(package: Package) -> dict[str, bytes]:
    """The shared strings without the apostrophe that marks text in the component."""
    part = "xl/sharedStrings.xml"
    if part not in package:
        return {}
    root = package.xml(part)
    for text in root.iter(_T):
        if text.text and text.text.startswith("'"):
            text.text = text.text[1:]
            _keep_spaces(text)
    return {part: xml_bytes(root)}


def _keep_spaces(text: etree._Element) -> None:
    if text.text and text.text != text.text.strip():
        text.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
