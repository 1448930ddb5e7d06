"""What a copy without formulas has no use for, as the template makes it: a refresh button, its help, quota and status.

Defined names say where these are, and whoever made a book chose its names. So only areas that look like the template's
are emptied; the others are left as they are, and told. `addin/excel/static/workbook/live_parts.js` has the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from addin.formulas import Area, Named, Unworkable, parse, references
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
"""The formula by which the template shows a cell of the table about this machine."""
_OF_THIS_MACHINE = frozenset(("QUOTA", "STATUS"))
"""The functions that tell of this machine alone: what they answered is of no use in a copy."""


def live_parts(book: Book, namespace: str) -> tuple[list[tuple[str, Area]], list[tuple[str, Area]]]:
    """The areas to empty, each with its sheet, and those that names call so but that the template never made."""
    ours: list[tuple[str, Area]] = []
    others: list[tuple[str, Area]] = []
    named = [(name, sheet) for name, sheet in book.names if name.startswith(LIVE_ONLY.casefold())]
    machine = list(_of_this_machine(book, namespace)) if named else []
    for name, sheet in named:
        try:
            area = book.area_of(Named(name), sheet or book.sheet_names[0])
            on_sheet = book.known_name(area.sheet or "")
        except Unworkable:
            continue  # it stands for no cells
        area = area._replace(sheet=on_sheet)
        is_ours = sheet == on_sheet and _is_of_template(book, name.removeprefix(LIVE_ONLY.casefold()), area, machine)
        (ours if is_ours else others).append((on_sheet, area))
    return ours, others


def _of_this_machine(book: Book, namespace: str) -> Iterator[Area]:
    """The cells that calls about this machine fill."""
    for name, spot, formula in book.formulas_with_calls(namespace):
        with suppress(Unworkable):  # more than one call of ours
            if parse(formula.text, namespace).function_id in _OF_THIS_MACHINE:
                yield (book.sheet(name).array_at(spot) or Area(*spot, *spot))._replace(sheet=name)


def _is_of_template(book: Book, part: str, area: Area, machine: Sequence[Area]) -> bool:
    rows, columns = area.last_row - area.first_row + 1, area.last_column - area.first_column + 1
    if part not in _SHAPES and part and not _ONE_CELL.fullmatch(part):
        return False
    most = _SHAPES.get(part, (1, 1))
    is_filled_by_ours = not part and any(
        each.sheet == area.sheet and area.contains(each.first_row, each.first_column) for each in machine
    )
    if not is_filled_by_ours and (rows > most[0] or columns > most[1]):
        return False
    sheet = book.sheet(area.sheet or "")
    formulas = dict(sheet.formulas())
    return all(
        _says_no_number(sheet, spot, formulas[spot].text if spot in formulas else "", machine)
        for spot in sheet.spots_in(area)
        if sheet.has_content(spot)
    )


def _says_no_number(sheet: Sheet, spot: Spot, formula: str, machine: Sequence[Area]) -> bool:
    """Return whether a cell tells of this machine, or holds no number."""
    if isinstance(sheet.value(spot), str | None) or _is_in(machine, Area(*spot, *spot, sheet=sheet.name)):
        return True
    shown = _SHOWN.fullmatch(formula)
    found = references(f"={shown['cell']}") if shown is not None else []
    return any(
        isinstance(each, Area) and _is_in(machine, each._replace(sheet=each.sheet or sheet.name)) for each in found
    )


def _is_in(areas: Sequence[Area], cell: Area) -> bool:
    return any(
        (each.sheet or "").casefold() == (cell.sheet or "").casefold()
        and each.contains(cell.first_row, cell.first_column)
        and each.contains(cell.last_row, cell.last_column)
        for each in areas
    )
