"""The XML of a workbook, its texts and its styles: each thing once, under one name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from addin.workbook.ooxml.errors import damaged
from addin.workbook.ooxml.strict.sheet import MAIN, check_text_item

_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_ONCE = ("workbookPr", "sheets", "definedNames", "calcPr")
_INSIDE = {"sheet": "sheets", "definedName": "definedNames"}
_YES_NO = ("0", "1", "true", "false")
_PLAIN_NUMBER = re.compile("0|[1-9][0-9]{0,8}")


def check_workbook(root: Any, part: str) -> None:
    """Raise `WorkbookError` for a workbook that lists a sheet, a name or a setting twice, or in an unusual place."""
    for element in root.iter():
        _check_place(element, root, part)
    for tag in _ONCE:
        if len(root.findall(f"{{{MAIN}}}{tag}")) > 1:
            raise damaged(part, f"it holds <{tag}> twice")
    sheets = list(root.iter(f"{{{MAIN}}}sheet"))
    for name in root.iter(f"{{{MAIN}}}definedName"):
        owner = name.get("localSheetId", "0")
        if not _PLAIN_NUMBER.fullmatch(owner) or int(owner) >= len(sheets):
            raise damaged(part, f"the name {name.get('name', '')[:60]!r} belongs to the sheet {owner[:20]!r}")
    for what, values in (
        ("name", [sheet.get("name", "").casefold() for sheet in sheets]),
        ("relationship", [sheet.get(_ID, "") for sheet in sheets]),
        ("id", [sheet.get("sheetId", "") for sheet in sheets]),
    ):
        if (twice := _twice(values)) is not None:
            raise damaged(part, f"two sheets have the {what} {twice[:60]!r}")
    names = [
        (element.get("name", "").casefold(), element.get("localSheetId"))
        for element in root.iter(f"{{{MAIN}}}definedName")
        if element.get("hidden") not in ("1", "true") or not element.get("name", "").startswith("_xlnm.")
    ]
    if (twice_named := _twice(names)) is not None:
        raise damaged(part, f"the name {twice_named[0][:60]!r} is defined twice")


def _check_place(element: Any, root: Any, part: str) -> None:
    local = str(element.tag).rpartition("}")[2]
    parent = element.getparent()
    is_main = element.tag == f"{{{MAIN}}}{local}"
    if local in _INSIDE:
        above = parent.tag if parent is not None else ""
        if not is_main or above != f"{{{MAIN}}}{_INSIDE[local]}":
            raise damaged(part, f"<{local}> stands where not every program looks for it")
    elif local in _ONCE and is_main and parent is not root:
        raise damaged(part, f"<{local}> stands where not every program looks for it")
    elif local in ("sheets", "definedNames") and not is_main:
        raise damaged(part, f"<{local}> is of an unusual kind")
    for name, value in element.items():
        if name.rpartition("}")[2] == "date1904" and (local != "workbookPr" or not is_main or value not in _YES_NO):
            raise damaged(part, "its date system is given in an unusual way")
        if name == "fullPrecision" and value not in _YES_NO:
            raise damaged(part, "its precision is given in an unusual way")


def check_strings(root: Any, part: str) -> None:
    """Raise `WorkbookError` for a list of texts that programs may count differently."""
    for item in root:
        local = str(item.tag).rpartition("}")[2]
        if item.tag == f"{{{MAIN}}}si":
            check_text_item(item, part)
        elif local != "extLst" or any(str(inner.tag).rpartition("}")[2] == "si" for inner in item.iter()):
            raise damaged(part, f"<{local}> stands among its texts")


def check_styles(root: Any, part: str) -> None:
    """Raise `WorkbookError` for styles in which a number format, or a list of cell styles, stands twice."""
    for tag in ("numFmts", "cellXfs", "cellStyleXfs"):
        found = [element for element in root.iter() if str(element.tag).rpartition("}")[2] == tag]
        if len(found) > 1 or any(each.tag != f"{{{MAIN}}}{tag}" or each.getparent() is not root for each in found):
            raise damaged(part, f"it holds <{tag}> twice, or in an unusual place")
        for element in found:
            inner = {"numFmts": "numFmt"}.get(tag, "xf")
            if any(child.tag != f"{{{MAIN}}}{inner}" for child in element):
                raise damaged(part, f"<{tag}> holds something else than <{inner}>")
    if len(root.findall(f"{{{MAIN}}}dxfs")) > 1:
        raise damaged(part, "it holds <dxfs> twice")
    formats = [each.get("numFmtId", "") for each in root.iterfind(f"{{{MAIN}}}numFmts/{{{MAIN}}}numFmt")]
    if (twice := _twice(formats)) is not None:
        raise damaged(part, f"the number format {twice[:20]} is defined twice")
    used = (each.get("numFmtId", "0") for each in root.iterfind(f"{{{MAIN}}}cellXfs/{{{MAIN}}}xf"))
    if (odd := next((each for each in (*formats, *used) if not _PLAIN_NUMBER.fullmatch(each)), None)) is not None:
        raise damaged(part, f"a number format has the number {odd[:20]!r}")


def _twice(values: Iterable[Any]) -> Any:
    """A value that is there twice; None where there is none."""
    return next((value for value, count in Counter(values).items() if count > 1), None)
