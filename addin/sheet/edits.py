"""Changes that a user made in the sheet, written into the cells of the book that was opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import msgspec

from addin.formulas import Area, Unworkable, mentions, parse
from addin.sheet.calculation.entered import is_formula
from addin.sheet.calculation.several import may_spill
from addin.sheet.formulas import file_form
from addin.sheet.looks import CellLook, restyle
from addin.sheet.opening.opened import LINK_BREAKER, shows_day
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.cellformulas import Formula
from addin.workbook.ooxml.positions import Spot, spot_of
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import ERROR_CODES
from addin.workbook.refresh.book_dates import LATER
from addin.workbook.refresh.dependencies import FormulaCell
from addin.workbook.refresh.spill import spill
from udfs import REGISTRY
from udfs.cells import Scalar, cells_of
from udfs.errors import CellError, ErrorCode

_SINGLE = (bool, int, float, str, type(None))

_DATA_TABLE = "TABLE("
"""How the formula of a what-if table begins, whose values only Excel works out."""


class Shown(msgspec.Struct):
    """An error as a cell shows it."""

    error: str


Value: TypeAlias = bool | float | str | Shown | None
Rows: TypeAlias = list[list[Value]]


class Edit(msgspec.Struct):
    """A user's edit of a cell: what it holds, if that was changed, and what is new about its look.

    `formula` is as typed, without `=`; `rows` are the values that it shows, more than one where it spills, and
    `formats` those in which it shows them where cells have none of their own.
    """

    formula: str | None = None
    rows: Rows = []
    formats: list[list[str | None]] = []
    keeps_content: bool = False
    look: CellLook | None = None


class SheetEdits(msgspec.Struct):
    """The edits of one sheet: its changed cells, and by cell the rows that unchanged formulas show now."""

    name: str
    is_added: bool = False
    cells: dict[str, Edit] = {}
    values: dict[str, Rows] = {}


class Editing:
    """Writes edits into a book."""

    def __init__(self, book: Book, *, mark: str, namespace: str) -> None:
        self._book = book
        self._mark = mark
        self._namespace = namespace
        self.lost_formulas = False
        """Whether a formula of the file is gone."""
        self.is_uncertain = False
        """Whether a formula has no value that could be relied on."""

    def write(self, edits: SheetEdits) -> None:
        """Write the edits of one sheet."""
        sheet = self._book.sheet(edits.name)
        cells = {spot_of(cell, sheet.part): edit for cell, edit in edits.cells.items()}
        changed = {spot for spot, edit in cells.items() if not edit.keeps_content}
        if any(sheet.leads_shared(spot) for spot in changed):
            sheet.unshare(lambda _: True)
        self._make_room(sheet, changed)
        for spot, edit in cells.items():
            if edit.look is not None:
                self._restyle(sheet, spot, edit.look, keeps_content=edit.keeps_content)
            self._take_formats(sheet, spot, edit)
            if not edit.keeps_content:  # how a day is counted depends on the look
                self._put(sheet, spot, edit)
        values = {spot_of(cell, sheet.part): rows for cell, rows in edits.values.items()}
        self._show(sheet, values | {spot: edit.rows for spot, edit in cells.items() if edit.formula is not None})

    def _restyle(self, sheet: Sheet, spot: Spot, look: CellLook, *, keeps_content: bool) -> None:
        """Give a cell another look; a number that becomes a day is the one that the page shows, and back."""
        showed_day = shows_day(self._book, sheet.style(spot))
        restyle(self._book, sheet, spot, look)
        value = sheet.value(spot)
        if not (keeps_content and self._book.counts_from_1904 and isinstance(value, float)) or sheet.has_formula(spot):
            return
        shows = shows_day(self._book, sheet.style(spot))
        if shows != showed_day and value >= LATER.days * shows:
            sheet.write(spot, value + LATER.days * (showed_day - shows))

    def _take_formats(self, sheet: Sheet, anchor: Spot, edit: Edit) -> None:
        """Show days, percentages and amounts as the page does, in cells that say nothing of their format."""
        styles = self._book.styles
        if styles is None:
            return
        for row, formats in enumerate(edit.formats, anchor[0]):
            for column, code in enumerate(formats, anchor[1]):
                if code and styles.format_code(sheet.style((row, column))) == "General":
                    restyle(self._book, sheet, (row, column), CellLook(format=code))

    def _make_room(self, sheet: Sheet, changed: set[Spot]) -> None:
        """Clear what the formulas in changed cells had filled, and take from others the cells that are changed now."""
        for anchor, formula in list(sheet.formulas()):
            area = formula.area
            if area.is_cell or formula.text.startswith(_DATA_TABLE):
                continue
            if not any(area.contains(*spot) for spot in changed):
                continue
            for spot in list(sheet.spots_in(area)):
                if spot != anchor and not sheet.has_formula(spot):
                    sheet.write(spot, None)
            sheet.resize(anchor, Area(*anchor, *anchor))

    def _put(self, sheet: Sheet, spot: Spot, edit: Edit) -> None:
        """Write what a cell holds now, a formula without its value."""
        if edit.formula is not None and is_formula(edit.formula):
            text = file_form(edit.formula, self._namespace)
            sheet.put_formula(spot, text, spills=self._mark if spills(edit, self._namespace) else "")
            return
        self.lost_formulas |= sheet.has_formula(spot)
        sheet.freeze(spot)
        value = edit.rows[0][0] if edit.rows and edit.rows[0] else None
        text_of_none = None if edit.formula is None else f"={edit.formula}"
        sheet.write(spot, text_of_none or self._in_file(sheet, spot, value))

    def _show(self, sheet: Sheet, values: dict[Spot, Rows]) -> None:
        """Write the values that formulas show now."""
        if not values:
            return
        formulas = dict(sheet.formulas())
        for spot, rows in values.items():
            formula = formulas.get(spot)
            if formula is None or formula.text.startswith(_DATA_TABLE):
                continue
            if not rows or not all(map(_is_known, rows)):
                self.is_uncertain = True
            else:
                self._fill(sheet, spot, formula, rows)

    def _fill(self, sheet: Sheet, spot: Spot, formula: Formula, rows: Rows) -> None:
        cells = [
            [self._in_file(sheet, (row, column), value) for column, value in enumerate(values, spot[1])]
            for row, values in enumerate(rows, spot[0])
        ]
        result = cells[0][0] if len(cells) == len(cells[0]) == 1 else cells_of(cells)
        self.is_uncertain |= spill(self._book, FormulaCell(sheet.name, spot, formula), result).blocked

    def _in_file(self, sheet: Sheet, spot: Spot, value: Value) -> Scalar:
        """The value as the file has it: errors are no text there, and text needs no mark."""
        if isinstance(value, Shown):
            return CellError(ErrorCode.VALUE if value.error == "#VALUE!" else ErrorCode.NA, _code(value.error))
        if isinstance(value, str):
            return value.removeprefix(LINK_BREAKER)
        is_number = isinstance(value, float) and not isinstance(value, bool)
        if is_number and self._book.counts_from_1904 and shows_day(self._book, sheet.style(spot)):
            return float(value or 0) - LATER.days
        return value


def spills(edit: Edit, namespace: str) -> bool:
    """Return whether a file has to say of an edited formula that it may fill several cells.

    One of ours that cannot is stored plainly, because Calc without the extension keeps the saved values of those only.
    """
    if edit.formula is None or not is_formula(edit.formula):
        return False
    if len(edit.rows) > 1 or any(len(row) > 1 for row in edit.rows):
        return True
    if not mentions(edit.formula, namespace):
        return may_spill(edit.formula, namespace)
    try:
        call = parse(edit.formula, namespace)
    except Unworkable:
        return True
    function = REGISTRY.get(call.function_id)
    single = all(each.is_cell if isinstance(each, Area) else isinstance(each, _SINGLE) for each in call.args)
    return function is None or function.shape != "value" or not single


def _is_known(row: Sequence[Value]) -> bool:
    """Return whether the values are such as a spreadsheet program would show, and no errors of the component's own."""
    return all(not isinstance(value, Shown) or _code(value.error) in ERROR_CODES for value in row)


def _code(shown: str) -> str:
    """The error of spreadsheet programs for the one that the component shows; its own stay what they are."""
    return "#REF!" if shown == "#REF" else shown


def edited_cells(sheets: Sequence[SheetEdits]) -> Iterator[Edit]:
    """All edits of all sheets."""
    for sheet in sheets:
        yield from sheet.cells.values()
