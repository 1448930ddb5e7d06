"""The styles of a book: which cells have no number format of their own, and the same styles as dates."""

from __future__ import annotations

from copy import deepcopy

from lxml import etree

from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import whole_number
from addin.workbook.ooxml.stored import MAIN
from addin.workbook.ooxml.xmlpart import xml_bytes

DATE_FORMAT, TIME_FORMAT = "yyyy-mm-dd", "yyyy-mm-dd hh:mm"
"""The formats in which the functions show dates in every host."""

MARK = "FFFFC7CE"
"""The background of a marked cell: the light red that spreadsheet programs offer for bad values."""

_GENERAL = 0
_FIRST_OWN_FORMAT = 164
"""Formats below this number belong to the spreadsheet programs."""


class Styles:
    """The styles part of a book; `content` is None as long as nothing was added."""

    def __init__(self, package: Package, part: str) -> None:
        self.part = part
        self._root = package.xml(part)
        self._cells = self._root.find(f"{{{MAIN}}}cellXfs")
        self._dated: dict[tuple[int, str], int] = {}
        self._marked: dict[int, int] = {}
        self._mark: int | None = None

    @property
    def content(self) -> bytes | None:
        """The part's new bytes."""
        return xml_bytes(self._root) if self._dated or self._marked else None

    def as_date(self, style: int, *, with_time: bool) -> int:
        """The number of the style that is like `style`, but shows dates; `style` itself if it has a format already."""
        if self._cells is None or not 0 <= style < len(self._cells):
            return style
        like = self._cells[style]
        if whole_number(like.get("numFmtId"), self.part, "number format") != _GENERAL:
            return style
        code = TIME_FORMAT if with_time else DATE_FORMAT
        if (style, code) not in self._dated:
            copy = deepcopy(like)
            copy.set("numFmtId", str(self._format(code)))
            copy.set("applyNumberFormat", "1")
            self._cells.append(copy)
            self._cells.set("count", str(len(self._cells)))
            self._dated[style, code] = len(self._cells) - 1
        return self._dated[style, code]

    def marked(self, style: int) -> int:
        """The number of the style that is like `style`, on a background that stands out."""
        fills = self._root.find(f"{{{MAIN}}}fills")
        if self._cells is None or fills is None or not 0 <= style < len(self._cells):
            return style
        if style not in self._marked:
            if self._mark is None:
                self._mark = len(fills)
                pattern = etree.SubElement(
                    etree.SubElement(fills, f"{{{MAIN}}}fill"), f"{{{MAIN}}}patternFill", patternType="solid"
                )
                etree.SubElement(pattern, f"{{{MAIN}}}fgColor", rgb=MARK)
                fills.set("count", str(len(fills)))
            copy = deepcopy(self._cells[style])
            copy.set("fillId", str(self._mark))
            copy.set("applyFill", "1")
            self._cells.append(copy)
            self._cells.set("count", str(len(self._cells)))
            self._marked[style] = len(self._cells) - 1
        return self._marked[style]

    def _format(self, code: str) -> int:
        """The number of the format with this code, which is added where the book has none."""
        formats = self._root.find(f"{{{MAIN}}}numFmts")
        if formats is None:
            formats = etree.Element(f"{{{MAIN}}}numFmts")
            self._root.insert(0, formats)
        numbers = {each.get("formatCode"): whole_number(each.get("numFmtId"), self.part, "format") for each in formats}
        if code in numbers:
            return numbers[code]
        number = max(_FIRST_OWN_FORMAT - 1, *numbers.values()) + 1 if numbers else _FIRST_OWN_FORMAT
        etree.SubElement(formats, f"{{{MAIN}}}numFmt", numFmtId=str(number), formatCode=code)
        formats.set("count", str(len(formats)))
        return number
