"""References to spills (`A1#`), which end with the formula that spills: cells by name take their place."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from addin.formulas.areas import Area, area_of
from addin.formulas.lexer import CELL, SHEET, TEXT
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.positions import Spot, address

_SPILL = re.compile(rf"(?P<text>{TEXT})|(?:_xlfn\.)?ANCHORARRAY\(\s*(?P<cell>(?:{SHEET})?{CELL})\s*\)", re.IGNORECASE)


def name_spills(book: Book, anchors: AbstractSet[tuple[str, Spot]]) -> None:
    """Name the cells wherever a formula, a name or a rule refers to the spill of one of the `anchors`."""
    filled = {
        (name.casefold(), spot): area for name, spot in anchors if (area := book.sheet(name).array_at(spot)) is not None
    }
    if not filled:
        return
    book.rewrite_names(_naming(filled, ""))
    book.rewrite_columns(lambda name, text: _naming(filled, name)(text))
    for name in book.sheet_names:
        if book.has_spill_references(name):
            sheet, naming = book.sheet(name), _naming(filled, name)
            sheet.unshare(lambda text: _SPILL.search(text) is not None)
            sheet.rewrite_formulas(naming)
            sheet.rewrite_rules(naming)


def _naming(filled: dict[tuple[str, Spot], Area], sheet: str) -> Callable[[str], str]:
    """Return what writes the cells in place of their spill, in formulas on `sheet`."""

    def named(match: re.Match[str]) -> str:
        if match["cell"] is None or (anchor := area_of(match["cell"])) is None:
            return match[0]
        area = filled.get(((anchor.sheet or sheet).casefold(), (anchor.first_row, anchor.first_column)))
        if area is None or area.is_cell:
            return match[0] if area is None else match["cell"]
        last = address((area.last_row, area.last_column))
        return f"{match['cell']}:{_fixed(last) if '$' in match['cell'].rpartition('!')[2] else last}"

    return lambda text: _SPILL.sub(named, text)


def _fixed(cell: str) -> str:
    """A cell that stays the same in every copy: `$B$5`."""
    return re.sub(r"([A-Z]+)(\d+)", r"$\1$\2", cell)
