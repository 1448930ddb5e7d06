"""Comparing a book with the lines that were signed about it: which cells no longer hold what was signed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from addin.errors import as_argument
from addin.formulas import Area, Unworkable
from addin.workbook.audit.chain import Block, Chain, read_chain
from addin.workbook.audit.embedded import embedded_lines
from addin.workbook.audit.file import AuditError, read_audit
from addin.workbook.audit.keys import is_signed
from addin.workbook.audit.numbers import holds, place_of, rows_of, typed_form
from addin.workbook.audit.sources import sources_rows, sources_sheet
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import any_failure_explained
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.sheet import Sheet
from udfs.cells import Scalar
from udfs.errors import CellError

REFRESH, FREEZE = "refresh", "freeze"
"""What wrote a block: one about formulas and their values, or about a copy with values in place of formulas."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A cell that does not hold what was signed."""

    where: str
    signed: str
    found: str


@dataclass(slots=True)
class Verified:
    """What became of a check."""

    block: Block
    cells: int = 0
    """The cells that were compared."""
    differences: list[Difference] = field(default_factory=list)
    problems: Sequence[str] = ()
    """What is wrong with the lines themselves."""
    unfinished: int = 0

    @property
    def holds(self) -> bool:
        """Whether the book holds what was signed, and the lines are those that were signed."""
        return not self.differences and not self.problems


def verify_book(path: Path, audit: Path | None = None, *, named: str | None = None, namespace: str = "DS") -> Verified:
    """Compare every signed cell of a book with the last lines about it: in the file `audit`, else in the book itself.

    `named` is what the lines call the book, where that is not its name. Raises `AuditError` if nothing about the book
    was signed, and `WorkbookError` if it cannot be read.
    """
    with any_failure_explained(path), Package(path) as package:
        chain = _chain_about(package, audit, named)
        verified = Verified(chain.blocks[-1], problems=chain.problems, unfinished=chain.unfinished)
        _compare(Book(package), verified, namespace)
        return verified


def signed_block(path: Path, audit: Path | None) -> tuple[Block, Sequence[str]]:
    """The last lines about a book, and what is wrong with the lines; raises as `verify_book`."""
    with any_failure_explained(path), Package(path) as package:
        chain = _chain_about(package, audit, None)
        return chain.blocks[-1], chain.problems


def _chain_about(package: Package, audit: Path | None, named: str | None) -> Chain:
    path = package.path
    if audit is None:
        chain = _chain_in(package)
    elif named is not None:
        chain = read_audit(audit, lambda begin: begin.get("book") == named)
    else:
        chain = read_audit(audit, lambda begin: _is_about(begin, path, audit))
        chain = chain if chain.blocks else _by_name(path, audit)
    if not chain.blocks:
        where = "the book" if audit is None else str(audit)
        raise AuditError(
            f"nothing about {path} is signed in {where}; "
            f"sign it with: addin refresh {as_argument(path)} --audit FILE.jsonl"
        )
    return chain


def _chain_in(package: Package) -> Chain:
    return read_chain(embedded_lines(package), is_signed=is_signed)


def _is_about(begin: Mapping[str, Any], path: Path, audit: Path) -> bool:
    """Whether a block is about the book at `path`."""
    return (audit.absolute().parent / str(begin.get("book"))).resolve() == path.resolve()


def _by_name(path: Path, audit: Path) -> Chain:
    """The blocks about a book of this name, or about the only book: it may have been moved or sent."""
    names = {str(block.begin.get("book")) for block in read_audit(audit, _only_begins).blocks}
    same = {name for name in names if name.rpartition("/")[2] == path.name}
    chosen = same if len(same) == 1 else names if len(names) == 1 else set()
    if not chosen:
        shown = ", ".join(sorted(names)[:5])
        raise AuditError(f"{audit} tells nothing about {path.name}; say which book it was: --book, one of {shown}")
    return read_audit(audit, lambda begin: begin.get("book") in chosen)


def _only_begins(_: Mapping[str, Any]) -> bool:
    return True


def _compare(book: Book, verified: Verified, namespace: str) -> None:
    is_frozen = verified.block.begin.get("by") == FREEZE
    formulas = {name: dict(book.formulas(name)) for name in book.sheet_names}
    for number in verified.block.numbers:
        name, spot, area = place_of(number)
        try:
            sheet = book.sheet(name)
        except Unworkable as error:
            verified.differences.append(Difference(str(Area(*spot, *spot, sheet=name)), _text(number), str(error)))
            continue
        verified.cells += len(rows_of(number)) * len(rows_of(number)[0])
        found = formulas[sheet.name].get(spot)
        where = str(Area(*spot, *spot, sheet=sheet.name))
        text = None if found is None else typed_form(found.text, namespace)
        verified.differences += _formula_differences(where, text, number, is_frozen=is_frozen)
        verified.differences += _value_differences(sheet, area, number)
    sources = sources_sheet(book) if is_frozen else None
    if sources is not None:
        verified.differences += _sources_differences(sources, verified.block)
    verified.differences = list({each.where: each for each in reversed(verified.differences)}.values())[::-1]


def _formula_differences(
    where: str, found: str | None, number: Mapping[str, Any], *, is_frozen: bool
) -> Iterator[Difference]:
    """The formula's cell, if it holds another formula than was signed; a frozen one must hold none."""
    signed = str(number.get("formula"))
    if is_frozen:
        if found is not None:
            yield Difference(where, "a value", found)
    elif found is None:
        yield Difference(where, signed, "no formula")
    elif not is_same_formula(found, signed):
        yield Difference(where, signed, found)


def _value_differences(sheet: Sheet, area: Area, number: Mapping[str, Any]) -> Iterator[Difference]:
    for row, values in enumerate(rows_of(number), area.first_row):
        for column, value in enumerate(values, area.first_column):
            found = sheet.value((row, column))
            if not holds(found, value):
                yield Difference(str(Area(row, column, row, column, sheet=sheet.name)), _shown(value), _stored(found))


def _sources_differences(sheet: Sheet, block: Block) -> Iterator[Difference]:
    """The cells of the sheet of sources that say something else than the lines."""
    for row, values in enumerate(sources_rows(block), 1):
        for column, value in enumerate(values, 1):
            found = sheet.value((row, column))
            if not holds(found, value):
                yield Difference(str(Area(row, column, row, column, sheet=sheet.name)), _shown(value), _stored(found))


def is_same_formula(found: str, signed: str) -> bool:
    """Whether two formulas are the same but for what programs change when they save them: spaces and capitals."""
    return "".join(found.split()).casefold() == "".join(signed.split()).casefold()


def _text(number: Mapping[str, Any]) -> str:
    value = number.get("value")
    return "a table" if isinstance(value, list) else _shown(value)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return str(next(iter(value.values()), ""))
    return "" if value is None else str(value)


def _stored(found: Scalar) -> str:
    with suppress(AttributeError):
        return found.message if isinstance(found, CellError) else _shown(found)
    return str(found)
