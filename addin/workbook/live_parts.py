"""What a copy without formulas has no use for, as the template makes it: a refresh button, its help, quota and status.

Defined names say where these are, and whoever made a book chose its names. So only areas that look like the template's
are emptied; the others are left as they are, and told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from addin.formulas import Area, Named, Unworkable
from addin.formulas.live_parts import LIVE_ONLY, may_be_of_template, tell_of_machine_only, tells_of_this_machine
from addin.workbook.ooxml.book import Book


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
        if tells_of_this_machine(formula.text, namespace):
            yield (book.sheet(name).array_at(spot) or Area(*spot, *spot))._replace(sheet=name)


def _is_of_template(book: Book, part: str, area: Area, machine: Sequence[Area]) -> bool:
    return may_be_of_template(part, area, machine) and tell_of_machine_only(_without_texts(book, area), machine)


def _without_texts(book: Book, area: Area) -> Iterator[tuple[Area, str]]:
    """Yield the cells of an area that hold something other than a text, each with its formula."""
    sheet = book.sheet(area.sheet or "")
    formulas = dict(sheet.formulas())
    for spot in sheet.spots_in(area):
        if sheet.has_content(spot) and not isinstance(sheet.value(spot), str | None):
            yield Area(*spot, *spot, sheet=sheet.name), formulas[spot].text if spot in formulas else ""
