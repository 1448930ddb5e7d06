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

from addin.formulas import Area, Unworkable, mentions, parse
from addin.sheet.formulas import file_form
from addin.sheet.opened import LINK_BREAKER
from addin.sheet.origin import with_origin
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import WorkbookError, any_failure_explained
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import spot_of
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import MAIN
from addin.workbook.ooxml.target import Target
from addin.workbook.ooxml.xmlpart import xml_bytes
from udfs import REGISTRY
from udfs.cells import Scalar
from udfs.errors import CellError, ErrorCode

_T = f"{{{MAIN}}}t"
_PART = re.compile(r"[\w.\[\]/ -]{1,200}\.(?:xml|rels)")


Value: TypeAlias = bool | int | float | str | None

_SINGLE = (bool, int, float, str, type(None))

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
    for file in files:
        if not _PART.fullmatch(file.path):
            raise WorkbookError(f"{file.path[:60]!r} is no part of a workbook that can be written")
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in with_origin({file.path: file.content for file in files}).items():
            package.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def _finish(sheet: Sheet, spilled: Mapping[str, Value], namespace: str) -> None:
    """Write formulas as files have them: what may spill as dynamic arrays, all else as plain ones."""
    for spot, formula in list(sheet.formulas()):
        value = sheet.value(spot)
        sheet.write(spot, "" if value is None else _in_file(value))
        if formula.is_array and formula.area.is_cell and not _may_spill(formula.text, namespace):
            sheet.make_plain(spot)
    sheet.rewrite_formulas(lambda text: file_form(text, namespace))
    for cell, value in spilled.items():
        if value != "":  # a blank of a table: an empty text would count as content
            sheet.write(spot_of(cell, sheet.part), _in_file(value))


def _may_spill(formula: str, namespace: str) -> bool:
    """Whether a formula of ours can have more than one value, now or later.

    One that cannot is stored plainly, because Calc without the extension keeps the saved values of such formulas only.
    """
    if not mentions(formula, namespace):
        return False
    try:
        call = parse(formula, namespace)
    except Unworkable:
        return True
    function = REGISTRY.get(call.function_id)
    single = all(each.is_cell if isinstance(each, Area) else isinstance(each, _SINGLE) for each in call.args)
    return function is None or function.shape != "value" or not single


def _in_file(value: Scalar) -> Scalar:
    """The value as a file has it: an error is no text there, and text needs no mark."""
    if isinstance(value, str) and _ERROR.fullmatch(value):
        return CellError(ErrorCode.VALUE if value == "#VALUE!" else ErrorCode.NA, value)
    return value.removeprefix(LINK_BREAKER) if isinstance(value, str) else value


def _plain_texts(package: Package) -> dict[str, bytes]:
    """The shared strings without the apostrophe that marks text in the component."""
    part = "xl/sharedStrings.xml"
    if part not in package:
        return {}
    root = package.xml(part)
    for text in root.iter(_T):
        if text.text and text.text.startswith("'"):
            text.text = text.text[1:].removeprefix(LINK_BREAKER)
            _keep_spaces(text)
    return {part: xml_bytes(root)}


def _keep_spaces(text: etree._Element) -> None:
    if text.text and text.text != text.text.strip():
        text.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
