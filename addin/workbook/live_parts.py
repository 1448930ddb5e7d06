"""What a copy without formulas has no use for, as the template makes it: a refresh button, its help, quota and status.

Defined names say where these are, and whoever made a book chose its names. So only areas that look like the template's
are emptied; the others are left as they are, and told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from addin.formulas import Area, Named, Unworkable
from addin.workbook.ooxml.book import LIVE_ONLY, Book
from addin.workbook.ooxml.positions import Spot
from addin.workbook.ooxml.sheet import Sheet

_SHAPES: Mapping[str, tuple[int, int]] = {
    "_button": (1, 2),
    "_help": (15, 3),
    "_status": (2_000, 7),
    "_filters": (2, 4),
    "_choice": (1, 1),
    "_note": (1, 1),
}
"""The rows and columns of each part, by the end of its name; the template makes no larger ones."""
_ONE_CELL = re.compile("_formula_[a-z]{1,3}")
_SHOWN = re.compile(r"""(?:IF\(ISERR\([^()]+\),"",)?IF\((?P<cell>[^()&"]+)&""="","",(?P=cell)\)\)?""")
"""The formula by which the template shows a cell of one of our tables."""


def live_parts(book: Book, namespace: str) -> tuple[list[tuple[str, Area]], list[tuple[str, Area]]]:
    """The areas to empty, each with its sheet, and those that names call so but that the template never made."""
    ours: list[tuple[str, Area]] = []
    others: list[tuple[str, Area]] = []
    for name, sheet in book.names:
        if not name.startswith(LIVE_ONLY.casefold()):
            continue
        try:
            area = book.area_of(Named(name), sheet or book.sheet_names[0])
            on_sheet = book.known_name(area.sheet or "")
        except Unworkable:
            continue  # it stands for no cells
        is_ours = sheet == on_sheet and _is_of_template(book, name.removeprefix(LIVE_ONLY.casefold()), area, namespace)
        (ours if is_ours else others).append((on_sheet, area._replace(sheet=on_sheet)))
    return ours, others


def _is_of_template(book: Book, part: str, area: Area, namespace: str) -> bool:
    sheet = book.sheet(area.sheet or "")
    calls = {spot for name, spot, _ in book.formulas_with_calls(namespace) if name == sheet.name}
    spilled = [found for spot in calls if (found := sheet.array_at(spot)) is not None]
    formulas = dict(sheet.formulas())
    rows, columns = area.last_row - area.first_row + 1, area.last_column - area.first_column + 1
    most = _SHAPES.get(part, (1, 1))
    is_known = part in _SHAPES or not part or _ONE_CELL.fullmatch(part) is not None
    fits = rows <= most[0] and columns <= most[1]
    filled = [spot for spot in sheet.spots_in(area) if sheet.has_content(spot)]
    is_answer = [spot in calls or any(each.contains(*spot) for each in spilled) for spot in filled]
    if not is_known or not (fits or all(is_answer)):
        return False
    return all(
        answers or _says_no_number(sheet, spot, formulas[spot].text if spot in formulas else None)
        for spot, answers in zip(filled, is_answer, strict=True)
    )


def _says_no_number(sheet: Sheet, spot: Spot, formula: str | None) -> bool:
    """Whether a cell holds a text, or only shows a cell of a table of ours."""
    return (formula is not None and _SHOWN.fullmatch(formula) is not None) or isinstance(sheet.value(spot), str | None)
