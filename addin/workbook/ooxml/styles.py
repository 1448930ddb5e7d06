"""The styles of a book: which cells have no number format of their own, and the same styles as dates."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from copy import deepcopy
from enum import Enum
from typing import Self

from lxml import etree

from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import whole_number
from addin.workbook.ooxml.stored import MAIN
from addin.workbook.ooxml.strict.book import check_styles
from addin.workbook.ooxml.xmlpart import xml_bytes

DATE_FORMAT, TIME_FORMAT = "yyyy-mm-dd", "yyyy-mm-dd hh:mm"
"""The formats in which the functions show dates in every host."""

MARK = "FFFFC7CE"
"""The background of a marked cell: the light red that spreadsheet programs offer for bad values."""

_APPLY = {"fontId": "applyFont", "fillId": "applyFill", "numFmtId": "applyNumberFormat"}
"""What says that a style's own font, fill or number format counts."""

_DATES_OF_PROGRAMS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
"""The numbers of the formats for days and times that every spreadsheet program has."""
_NOT_IN_DATES = re.compile(r'"[^"]*"|\\.|\[(?![hms]+\])[^\]]*\]|_.|\*.|General|E[+-]', re.IGNORECASE)
_OF_DATES = re.compile("[dmyhs]", re.IGNORECASE)
_OF_DAYS, _OF_TIMES = re.compile("[dy]", re.IGNORECASE), re.compile("[hs]", re.IGNORECASE)
_TIMES_OF_PROGRAMS = frozenset((18, 19, 20, 21, *range(45, 48)))
"""Of these formats, those of times alone."""

FORMATS_OF_PROGRAMS = {
    0: "General",
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    14: "mm-dd-yy",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "m/d/yy h:mm",
    37: "#,##0 ;(#,##0)",
    38: "#,##0 ;[Red](#,##0)",
    39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;[Red](#,##0.00)",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mmss.0",
    48: "##0.0E+0",
    49: "@",
}
"""The formats that every spreadsheet program has, by their numbers."""

_GENERAL = 0
_FIRST_OWN_FORMAT = 164
"""Formats below this number belong to the spreadsheet programs."""


class Look(Enum):
    """The look of a cell of ours: its letters' size, whether they are bold, the shade behind, the side."""

    TITLE = (14, True, None, None)
    HEADER = (None, True, "FFE2E8F0", None)
    RIGHT_HEADER = (None, True, "FFE2E8F0", "right")
    INSET_HEADER = (None, True, "FFE2E8F0", "left")
    TEXT = (None, False, None, None)
    INSET_TEXT = (None, False, None, "left")
    """A little away from what stands on the left of it."""


class Styles:
    """The styles part of a book; `content` is None as long as nothing was added."""

    def __init__(self, package: Package, part: str) -> None:
        self.part = part
        self._root = package.strict_xml(part)
        check_styles(self._root, part)
        self._cells = self._root.find(f"{{{MAIN}}}cellXfs")
        self._dated: dict[tuple[int, str], int] = {}
        self._looks: dict[Look | tuple[Hashable, int], int] = {}
        self._mark: int | None = None

    @property
    def content(self) -> bytes | None:
        """The part's new bytes."""
        return xml_bytes(self._root) if self._dated or self._looks else None

    def formats_and_borders(self) -> list[tuple[int, int]]:
        """The numbers of the number format and of the borders of each style."""
        cells = () if self._cells is None else self._cells
        return [
            (
                whole_number(cell.get("numFmtId"), self.part, "number format"),
                whole_number(cell.get("borderId"), self.part, "border"),
            )
            for cell in cells
        ]

    def as_date(self, style: int, *, with_time: bool) -> int:
        """The number of the style that is like `style`, but shows dates; `style` itself if it has a format already."""
        if self._cells is None or not 0 <= style < len(self._cells):
            return style
        like = self._cells[style]
        if whole_number(like.get("numFmtId"), self.part, "number format") != _GENERAL:
            return style
        code = TIME_FORMAT if with_time else DATE_FORMAT
        if (style, code) not in self._dated:
            self._dated[style, code] = self._added_style(style, numFmtId=self.format(code))
        return self._dated[style, code]

    def is_day(self, style: int) -> bool:
        """Return whether cells of this style show a day, and not only a time or how long something took."""
        number, code = self._format_of(style)
        if code is None:
            return number in _DATES_OF_PROGRAMS - _TIMES_OF_PROGRAMS
        plain = _NOT_IN_DATES.sub("", code)
        return _OF_DAYS.search(plain) is not None or (
            _OF_DATES.search(plain) is not None and _OF_TIMES.search(plain) is None
        )

    def is_unlocked(self, style: int) -> bool:
        """Return whether cells of this style may be changed in a sheet that is protected."""
        if self._cells is None or not 0 <= style < len(self._cells):
            return False
        protection = self._cells[style].find(f"{{{MAIN}}}protection")
        return protection is not None and protection.get("locked") in ("0", "false")

    def _format_of(self, style: int) -> tuple[int, str | None]:
        """The number of a style's format, and the code that the book has for it."""
        if self._cells is None or not 0 <= style < len(self._cells):
            return _GENERAL, None
        number = whole_number(self._cells[style].get("numFmtId"), self.part, "number format")
        own = self._root.iterfind(f"{{{MAIN}}}numFmts/{{{MAIN}}}numFmt")
        return number, next((each.get("formatCode", "") for each in own if each.get("numFmtId") == str(number)), None)

    def format_code(self, style: int) -> str:
        """The number format of cells of this style, as it is typed."""
        if self._cells is None or not 0 <= style < len(self._cells):
            return "General"
        number = whole_number(self._cells[style].get("numFmtId"), self.part, "number format")
        own = self._root.iterfind(f"{{{MAIN}}}numFmts/{{{MAIN}}}numFmt")
        code = next((each.get("formatCode", "") for each in own if each.get("numFmtId") == str(number)), None)
        return code if code is not None else FORMATS_OF_PROGRAMS.get(number, f"format {number}")

    def format_of_condition(self, style: int) -> str:
        """The number format that a conditional format lays over cells; empty where it leaves theirs."""
        styles = self._root.findall(f"{{{MAIN}}}dxfs/{{{MAIN}}}dxf")
        return format_in(styles[style]) if style < len(styles) else ""

    def repeats(self, style: int) -> bool:
        """Return whether cells of this style show their value again and again, as wide as they are: 12 as 121212."""
        if self._cells is None or not 0 <= style < len(self._cells):
            return False
        return any(each.get("horizontal") == "fill" for each in self._cells[style].iterfind(f"{{{MAIN}}}alignment"))

    def marked(self, style: int) -> int:
        """The number of the style that is like `style`, on a background that stands out."""
        if self._cells is None or not 0 <= style < len(self._cells):
            return style
        if ("marked", style) not in self._looks:
            if self._mark is None:
                self._mark = self.added("fills", _fill(MARK))
            if self._mark is None:
                return style
            self._looks["marked", style] = self._added_style(style, fillId=self._mark)
        return self._looks["marked", style]

    def look(self, look: Look) -> int:
        """The number of a style that looks like this, whatever the book's own styles are."""
        if look is Look.TEXT or self._cells is None or not len(self._cells):
            return 0
        if look not in self._looks:
            size, bold, shade, side = look.value
            font = None if not bold else self.added("fonts", _font(size))
            fill = None if shade is None else self.added("fills", _fill(shade))
            self._looks[look] = number = self._added_style(0, fontId=font, fillId=fill)
            if side is not None:
                _align(self._cells[number], side)
        return self._looks[look]

    def variant(self, style: int, key: Hashable, change: Callable[[etree._Element, Self], None]) -> int:
        """The number of the style that is like `style` but for what `change` does to its element; made once a `key`."""
        if self._cells is None or not 0 <= style < len(self._cells):
            return style
        if (key, style) not in self._looks:
            copy = deepcopy(self._cells[style])
            change(copy, self)
            self._cells.append(copy)
            self._cells.set("count", str(len(self._cells)))
            self._looks[key, style] = len(self._cells) - 1
        return self._looks[key, style]

    def part_of(self, group: str, number: str | None) -> etree._Element | None:
        """The font or fill that a style names by its number."""
        elements = self._root.find(f"{{{MAIN}}}{group}")
        at = whole_number(number, self.part, group)
        return elements[at] if elements is not None and at < len(elements) else None

    def plain(self, style: int) -> int:
        """The number of a style without any look, with the number format of `style`."""
        if self._cells is None or not 0 < style < len(self._cells):
            return 0
        if ("plain", style) not in self._looks:
            number = whole_number(self._cells[style].get("numFmtId"), self.part, "number format")
            self._looks["plain", style] = self._added_style(0, numFmtId=number)
        return self._looks["plain", style]

    def _added_style(self, like: int, **changes: int | None) -> int:
        """The number of a new style: that of `like` with other attributes."""
        cells = self._cells
        if cells is None:
            return like
        copy = deepcopy(cells[like])
        for name, value in changes.items():
            if value is not None:
                copy.set(name, str(value))
                copy.set(_APPLY[name], "1")
        cells.append(copy)
        cells.set("count", str(len(cells)))
        return len(cells) - 1

    def added(self, group: str, element: etree._Element) -> int | None:
        """The number of a new font or fill; None where the book lists none."""
        elements = self._root.find(f"{{{MAIN}}}{group}")
        if elements is None:
            return None
        elements.append(element)
        elements.set("count", str(len(elements)))
        return len(elements) - 1

    def format(self, code: str) -> int:
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


def format_in(style: etree._Element) -> str:
    """The number format in a style that a condition lays over cells; empty where it has none."""
    found = next(style.iter(f"{{{MAIN}}}numFmt"), None)
    if found is None:
        return ""
    number = found.get("numFmtId", "")
    known = FORMATS_OF_PROGRAMS.get(int(number), "") if number.isascii() and number.isdigit() else ""
    return found.get("formatCode") or known or f"format {number}"


def _align(style: etree._Element, side: str) -> None:
    """Let cells begin a little away from their left edge, or end at their right one."""
    for old in style.findall(f"{{{MAIN}}}alignment"):
        style.remove(old)
    alignment = etree.Element(f"{{{MAIN}}}alignment", horizontal=side)
    if side == "left":
        alignment.set("indent", "1")
    style.insert(0, alignment)
    style.set("applyAlignment", "1")


def _font(size: int | None) -> etree._Element:
    font = etree.Element(f"{{{MAIN}}}font")
    etree.SubElement(font, f"{{{MAIN}}}b")
    etree.SubElement(font, f"{{{MAIN}}}sz", val=str(size or 11))
    etree.SubElement(font, f"{{{MAIN}}}name", val="Calibri")
    return font


def _fill(shade: str) -> etree._Element:
    fill = etree.Element(f"{{{MAIN}}}fill")
    pattern = etree.SubElement(fill, f"{{{MAIN}}}patternFill", patternType="solid")
    etree.SubElement(pattern, f"{{{MAIN}}}fgColor", rgb=shade)
    etree.SubElement(pattern, f"{{{MAIN}}}bgColor", indexed="64")
    return fill
