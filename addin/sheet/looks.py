"""How a cell looks after a user changed that in the sheet: the style it had with another font, fill or format."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import TypeAlias

import msgspec
from lxml import etree
from msgspec import UNSET, UnsetType

from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.positions import Spot
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import MAIN
from addin.workbook.ooxml.styles import Styles

Flag: TypeAlias = bool | UnsetType | None
Word: TypeAlias = str | UnsetType | None

_FONT = (
    *("b", "i", "strike", "condense", "extend", "outline", "shadow", "u", "vertAlign"),
    *("sz", "color", "name", "family", "charset", "scheme"),
)
"""What a font consists of, in the order that Excel expects."""

_VERTICAL = {"top": "top", "middle": "center", "bottom": "bottom"}
_WRAPPING = {"wrap": {"wrapText": "1"}, "clip": {"shrinkToFit": "1"}, "overflow": {}}


class CellLook(msgspec.Struct, frozen=True, rename="camel"):
    """The new look of a cell; None is the usual look, and what is left out is as it was."""

    format: Word = UNSET
    bold: Flag = UNSET
    italic: Flag = UNSET
    strikethrough: Flag = UNSET
    underline: Flag = UNSET
    font_size: float | UnsetType | None = UNSET
    text_color: Word = UNSET
    fill_color: Word = UNSET
    align: Word = UNSET
    vertical_align: Word = UNSET
    wrapping: Word = UNSET


def restyle(book: Book, sheet: Sheet, spot: Spot, look: CellLook) -> None:
    """Give a cell this look; a book without styles keeps its own."""
    if book.styles is not None:
        before = sheet.style(spot)
        style = book.styles.variant(before, look, lambda element, styles: _change(element, styles, look))
        if style != before:
            sheet.restyle(spot, style)


def _change(style: etree._Element, styles: Styles, look: CellLook) -> None:
    if look.format is not UNSET:
        _set(style, "numFmtId", "applyNumberFormat", styles.format(excel_format(look.format)) if look.format else 0)
    fonts = {
        "b": _flag(look.bold),
        "i": _flag(look.italic),
        "strike": _flag(look.strikethrough),
        "u": _flag(look.underline),
        "sz": UNSET if look.font_size is UNSET else {"val": f"{look.font_size or 11:g}"},
        "color": UNSET if look.text_color is UNSET else _color(look.text_color),
    }
    if any(change is not UNSET for change in fonts.values()):
        font = deepcopy(styles.part_of("fonts", style.get("fontId")))
        if font is not None:
            for name, change in fonts.items():
                _replace(font, name, change)
            _set(style, "fontId", "applyFont", styles.added("fonts", font))
    if look.fill_color is not UNSET:
        fill = _fill(look.fill_color) if look.fill_color else None
        _set(style, "fillId", "applyFill", 0 if fill is None else styles.added("fills", fill))
    _align(style, look)


_SHOWN = {
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "hh:mm a",
    19: "hh:mm:ss a",
    20: "hh:mm",
    21: "hh:mm:ss",
    37: "#,##0;(#,##0)",
    38: "#,##0;(#,##0)",
    39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)",
    45: "mm:ss",
}
"""Formats of Excel's own, by their numbers, which the component reads as others, and what it shows as Excel does."""
_ALL_HOURS = re.compile(r"\[h+\]", re.IGNORECASE)


def shown_formats(styles: Styles) -> dict[str, str]:
    """The codes, by the numbers of the formats, that the component is to show in place of what it reads."""
    numbers = {number: style for style, (number, _) in enumerate(styles.formats_and_borders())}
    own = {number: styles.format_code(style) for number, style in numbers.items() if number not in _SHOWN}
    hours = {number: _ALL_HOURS.sub("hhhh", code) for number, code in own.items() if _ALL_HOURS.search(code)}
    shown = {number: _SHOWN[number] for number in numbers.keys() & _SHOWN.keys()} | hours
    return {str(number): code for number, code in shown.items()}


_OWN_CODES = {"hhhh": "[h]", "a": "AM/PM", "qq": "mmm", "qqqq": "mmm"}
"""Codes of the component's alone, and what Excel has for them; it knows no quarters."""
_CODE = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|[A-Za-z]+')


def excel_format(code: str) -> str:
    """The number format that Excel shows as the component does this one.

    >>> excel_format("hhhh:mm:ss"), excel_format('hh:mm a'), excel_format('0 "hhhh"')
    ('[h]:mm:ss', 'hh:mm AM/PM', '0 "hhhh"')
    """
    return _CODE.sub(lambda found: _OWN_CODES.get(found[0], found[0]), code)


def _set(style: etree._Element, name: str, flag: str, number: int | None) -> None:
    if number is not None:
        style.set(name, str(number))
        style.set(flag, "1")


def _flag(value: Flag) -> dict[str, str] | UnsetType | None:
    if value is UNSET:
        return UNSET
    return {} if value else None


def _color(color: str | None) -> dict[str, str] | None:
    return {"rgb": f"FF{color.lstrip('#').upper()[:6]:0<6}"} if color else None


def _replace(font: etree._Element, name: str, attributes: dict[str, str] | UnsetType | None) -> None:
    """Give a font this property, or take it away."""
    if isinstance(attributes, UnsetType):
        return
    for old in font.findall(f"{{{MAIN}}}{name}"):
        font.remove(old)
    if attributes is not None:
        later = {f"{{{MAIN}}}{each}" for each in _FONT[_FONT.index(name) + 1 :]}
        at = next((number for number, child in enumerate(font) if child.tag in later), len(font))
        font.insert(at, etree.Element(f"{{{MAIN}}}{name}", attributes))


def _fill(color: str) -> etree._Element:
    fill = etree.Element(f"{{{MAIN}}}fill")
    pattern = etree.SubElement(fill, f"{{{MAIN}}}patternFill", patternType="solid")
    etree.SubElement(pattern, f"{{{MAIN}}}fgColor", _color(color))
    etree.SubElement(pattern, f"{{{MAIN}}}bgColor", indexed="64")
    return fill


def _align(style: etree._Element, look: CellLook) -> None:
    changes: dict[str, str | None] = {}
    if look.align is not UNSET:
        changes["horizontal"] = look.align
    if look.vertical_align is not UNSET:
        changes["vertical"] = _VERTICAL.get(look.vertical_align or "")
    if look.wrapping is not UNSET:
        changes |= {"wrapText": None, "shrinkToFit": None, **_WRAPPING.get(look.wrapping or "", {})}
    if not changes:
        return
    alignment = style.find(f"{{{MAIN}}}alignment")
    if alignment is None:
        alignment = etree.Element(f"{{{MAIN}}}alignment")
        style.insert(0, alignment)
    for name, value in changes.items():
        alignment.attrib.pop(name, "")
        if value is not None:
            alignment.set(name, value)
    style.set("applyAlignment", "1")
