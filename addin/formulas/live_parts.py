"""The rule by which an area is a part that the template makes for a book with formulas, and of no use in a copy.

Defined names say where these are, and whoever made a book chose its names: so only what looks like the template's is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from addin.formulas.areas import Area
from addin.formulas.calls import parse, references
from addin.formulas.lexer import Unworkable

LIVE_ONLY = "DS_Live_Only"
"""The beginning of the names of areas that mean something only as long as the book has its formulas."""

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
_SHOWN = re.compile(r"""=?(?:IF\(ISERR\([^()]+\),"",)?IF\((?P<cell>[^()&"]+)&""="","",(?P=cell)\)\)?""", re.IGNORECASE)
"""The formula by which the template shows a cell of the table about this machine."""
_OF_THIS_MACHINE = frozenset(("QUOTA", "STATUS"))
"""The functions that tell of this machine alone: what they answered is of no use in a copy."""


def tells_of_this_machine(formula: str, namespace: str) -> bool:
    """Return whether a formula is one call about this machine."""
    with suppress(Unworkable):
        return parse(formula, namespace).function_id in _OF_THIS_MACHINE
    return False


def may_be_of_template(part: str, area: Area, machine: Sequence[Area]) -> bool:
    """Return whether the template makes a part of that size, or a table about this machine fills it."""
    part = part.casefold()
    if part not in _SHAPES and part and not _ONE_CELL.fullmatch(part):
        return False
    rows, columns = _SHAPES.get(part, (1, 1))
    if area.last_row - area.first_row < rows and area.last_column - area.first_column < columns:
        return True
    return not part and any(
        each.sheet == area.sheet and area.contains(each.first_row, each.first_column) for each in machine
    )


def tell_of_machine_only(cells: Iterable[tuple[Area, str]], machine: Sequence[Area]) -> bool:
    """Return whether cells that hold no text, each with its formula, show only what tells of this machine."""
    return all(_is_in(machine, cell) or _shows(formula, cell, machine) for cell, formula in cells)


def _shows(formula: str, cell: Area, machine: Sequence[Area]) -> bool:
    shown = _SHOWN.fullmatch(formula)
    found = references(f"={shown['cell']}") if shown is not None else []
    return any(
        isinstance(each, Area) and _is_in(machine, each._replace(sheet=each.sheet or cell.sheet)) for each in found
    )


def _is_in(areas: Sequence[Area], cell: Area) -> bool:
    return any(
        (each.sheet or "").casefold() == (cell.sheet or "").casefold()
        and each.contains(cell.first_row, cell.first_column)
        and each.contains(cell.last_row, cell.last_column)
        for each in areas
    )
