"""Building a book again out of the lines that were signed about it: the same values, without a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from addin.errors import as_argument
from addin.formulas import ParsedCall, Unworkable, stored_form
from addin.workbook.audit.chain import FREEZE, REFRESH, Block
from addin.workbook.audit.contents.comparing import Difference
from addin.workbook.audit.contents.sameness import is_same_formula
from addin.workbook.audit.file import AuditError, read_audit
from addin.workbook.audit.numbers import holds, place_of, read_back, rows_of, typed_form
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.cellformulas import Formula
from addin.workbook.ooxml.errors import any_failure_explained
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import Spot
from addin.workbook.ooxml.target import Target
from addin.workbook.refresh.dependencies import OurCell
from addin.workbook.refresh.spill import spill
from udfs.cells import Column, Grid, Kind, Scalar

_NO_CALL = ParsedCall("", ())
"""A replayed cell is written, never called."""


@dataclass(slots=True)
class Replayed:
    """The result for a book: where it was written, how many formulas got their value, and which could not."""

    target: Path
    numbers: int = 0
    differences: list[Difference] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ToReplay:
    """A book to build again: its last block, the file to begin with, and where it is to be written."""

    block: Block
    source: Path
    target: Path
    is_inside: bool = True
    """Whether the book lies in the folder of the lines, or below. Whoever wrote the lines chose its name, so no other
    book is written unless the user names it."""


def books_to_replay(audit: Path, *, only: str | None = None) -> list[ToReplay]:
    """The refreshed books that an audit file tells about, each with its last lines; `only` names one of them.

    Raises `AuditError` for lines that were altered, for a frozen copy, and for a book that is not there any more.
    """
    copies: dict[str, str] = {}

    def is_wanted(begin: Mapping[str, Any]) -> bool:
        if only not in (None, begin.get("book")):
            return False
        if begin.get("by") == FREEZE:
            copies[str(begin["book"])] = str(begin.get("source"))
        return begin.get("by") == REFRESH

    chain = read_audit(audit, is_wanted)
    if chain.problems:
        raise AuditError(f"{audit} is not as it was signed ({chain.problems[0]}); nothing was written")
    if not chain.blocks:
        raise AuditError(_nothing_to_replay(audit, only, copies))
    folder = audit.absolute().parent
    return [_located(block, folder) for block in {block.begin["book"]: block for block in chain.blocks}.values()]


def replay_book(task: ToReplay, target: Path | None = None, *, namespace: str = "DS") -> Replayed:
    """Write the signed values into the formulas of a book, and save it; no request is sent.

    A formula that is another one now, or gone, is left as it is and named. Raises `WorkbookError`, and `AuditError`
    where the lines name a book outside of their folder and no `target` is given.
    """
    if target is None and not task.is_inside:
        raise AuditError(
            f"the lines name {task.target}, which is not in their folder; nothing was written. Say with -o where the "
            "book is to go"
        )
    place = Target(target or task.target, like=task.source)
    replayed = Replayed(place.path)
    with any_failure_explained(task.source), Package(task.source) as package:
        book = Book(package)
        book.rewrite_formulas(namespace, lambda text: stored_form(text, namespace))
        waiting: Sequence[Mapping[str, Any]] = task.block.numbers
        formulas = {name: dict(book.formulas(name)) for name in book.sheet_names}
        while waiting:
            # A table that shrinks may free the cells that another one needs.
            left = [number for number in waiting if not _written(book, formulas, number, namespace, replayed)]
            if len(left) == len(waiting):
                break
            waiting = left
        else:
            left = []
        replayed.differences += [_blocked(number) for number in left]
        if task.block.begin.get("recalculates"):
            book.recalculate_on_load()
        parts = book.changed_parts()
        if parts or not place.is_same_file(task.source):
            package.write(place, parts)
    return replayed


def _located(block: Block, folder: Path) -> ToReplay:
    target = (folder / str(block.begin["book"])).resolve()
    source = (folder / str(block.begin.get("source"))).resolve()
    is_inside = target.is_relative_to(folder.resolve())
    for path in (source, target):
        if path.is_file():
            return ToReplay(block, path, target, is_inside)
    raise AuditError(f"neither {source} nor {target} is there; put the book back with any of its former values")


def _nothing_to_replay(audit: Path, only: str | None, copies: Mapping[str, str]) -> str:
    """Return why none of the lines can be replayed, and what to do."""
    for copy, source in copies.items():
        again = f"addin freeze {as_argument(source)} -o {as_argument(copy)}"
        return (
            f"{audit} tells of the frozen copy {copy}, which is not built again: its other cells are not signed. "
            f"Replay the book that it was made of, and freeze that: {again}"
        )
    return f"{audit} tells of no refreshed book{f' named {only}' if only else ''}"


def _written(
    book: Book,
    formulas: Mapping[str, Mapping[Spot, Formula]],
    number: Mapping[str, Any],
    namespace: str,
    replayed: Replayed,
) -> bool:
    """Return whether a line is done with: its values are in the book, or it is known why not."""
    name, spot, area = place_of(number)
    where, signed = f"{name}!{number.get('cell')}", str(number.get("formula"))
    try:
        sheet = book.sheet(name)
    except Unworkable as error:
        replayed.differences.append(Difference(where, signed, str(error)))
        return True
    formula = formulas[sheet.name].get(spot)
    if formula is None or not is_same_formula(typed_form(formula.text, namespace), signed):
        found = "no formula" if formula is None else typed_form(formula.text, namespace)
        replayed.differences.append(Difference(where, signed, found))
        return True
    rows = rows_of(number)
    if formula.area != area or not all(
        holds(sheet.value((row, column)), value)
        for row, values in enumerate(rows, area.first_row)
        for column, value in enumerate(values, area.first_column)
    ):
        cell = OurCell(sheet.name, spot, formula, _NO_CALL)
        if spill(book, cell, _result([[read_back(value) for value in row] for row in rows])).blocked:
            return False
    replayed.numbers += 1
    return True


def _result(rows: list[list[Scalar]]) -> Scalar | Grid:
    if len(rows) == len(rows[0]) == 1:
        return rows[0][0]
    return Grid(tuple(Column(Kind.ANY, list(column)) for column in zip(*rows, strict=True)))


def _blocked(number: Mapping[str, Any]) -> Difference:
    return Difference(
        f"{number.get('sheet')}!{number.get('cell')}", str(number.get("area")), "other cells are in the way"
    )
