"""Comparing a book with what was signed about it: the file, each of its cells, and whose signature it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from addin.errors import as_argument
from addin.formulas import Area, Unworkable, mentions
from addin.workbook.audit.chain import Block, Chain, read_chain, stamped_bytes
from addin.workbook.audit.contents.book_content import cells_of, content_of
from addin.workbook.audit.contents.comparing import Coverage, Difference, compare, shown
from addin.workbook.audit.contents.content_lines import read_content
from addin.workbook.audit.contents.sameness import is_same_formula
from addin.workbook.audit.embedded import embedded_lines, lines_part
from addin.workbook.audit.file import AuditError, read_audit
from addin.workbook.audit.keys import fingerprint, is_signed
from addin.workbook.audit.numbers import holds, place_of, rows_of, typed_form
from addin.workbook.audit.results import Confidence
from addin.workbook.audit.sources import sources_rows, sources_sheet
from addin.workbook.audit.stamp import Stamped, check_stamp
from addin.workbook.audit.statement import FileCheck, check_file
from addin.workbook.audit.trusted import Trust, trust_of
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import any_failure_explained
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.refresh.collecting import fewer_collections


@dataclass(slots=True)
class Verified:
    """The result of a check."""

    block: Block
    trust: Trust
    coverage: Coverage = field(default_factory=Coverage)
    differences: list[Difference] = field(default_factory=list)
    without_value: list[str] = field(default_factory=list)
    """Formulas as they were signed, for which the program that saved the book wrote no value."""
    problems: list[str] = field(default_factory=list)
    """What is wrong with the lines themselves."""
    notes: list[str] = field(default_factory=list)
    """What a reader should know though nothing is wrong."""
    file: FileCheck = field(default_factory=FileCheck)
    stamp: Stamped = field(default_factory=Stamped)
    """What an authority confirms of the time of signing."""
    unfinished: int = 0
    is_old: bool = False
    """Whether the version before signed it, which signed numbers only."""

    @property
    def cells(self) -> int:
        """The cells that were compared."""
        return self.coverage.cells

    @property
    def holds(self) -> bool:
        """Return whether the book holds what was signed, and the lines are those that were signed."""
        return not self.differences and not self.problems


def verify_book(
    path: Path,
    audit: Path | None = None,
    *,
    named: str | None = None,
    namespace: str = "DS",
    key: str | None = None,
    authorities: Path | None = None,
) -> Verified:
    """Compare a book with the last lines about it: in the file `audit`, else in the book itself.

    `named` is what the lines call the book, where that is not its name; `key` names a key to accept beside the trusted
    ones, `authorities` the file of certificates of which one has to stand behind a time stamp. Raises `AuditError` if
    nothing about the book was signed, and `WorkbookError` for a book that cannot be read, or that programs would read
    in two ways.
    """
    with any_failure_explained(path), fewer_collections(), Package(path) as package:
        chain = _chain_about(package, audit, named)
        block = chain.blocks[-1]
        trust = trust_of(block.public_key, str(block.begin.get("at")), key)
        verified = Verified(block, trust, problems=[*chain.problems], unfinished=chain.unfinished)
        if trust.is_accepted:
            verified.problems += [
                f"some of them are signed with {fingerprint(other)}, {trust_of(other, at)}"
                for other, at in chain.keys.items()
                if other != block.public_key and not trust_of(other, at, key).is_accepted
            ]
        verified.notes += [*chain.notes, *_standing_notes(block)]
        content = stamped_bytes(block.public_key, block.signature, block.envelope)
        verified.stamp = check_stamp(block.begin, content, block.stamp, authorities)
        verified.problems += [verified.stamp.problem] if verified.stamp.problem else []
        verified.notes += [verified.stamp.note] if verified.stamp.note else []
        _compare(Book(package), verified, namespace)
        return verified


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
    """Return whether a block is about the book at `path`."""
    return (audit.absolute().parent / str(begin.get("book"))).resolve() == path.resolve()


def _by_name(path: Path, audit: Path) -> Chain:
    """The blocks about a book of this name, or about the only book: it may have been moved or sent."""
    names = {str(block.begin.get("book")) for block in read_audit(audit, _only_begins).blocks}
    same = {name for name in names if name.rpartition("/")[2] == path.name}
    chosen = same if len(same) == 1 else names if len(names) == 1 else set()
    if not chosen:
        named = ", ".join(sorted(names)[:5])
        raise AuditError(f"{audit} tells nothing about {path.name}; say which book it was: --book, one of {named}")
    return read_audit(audit, lambda begin: begin.get("book") in chosen)


def _only_begins(_: Mapping[str, Any]) -> bool:
    return True


def _compare(book: Book, verified: Verified, namespace: str) -> None:
    block = verified.block
    signed = read_content(block, cache(lambda formula: mentions(formula, namespace)))
    if signed is None:
        verified.is_old = True
        _compare_old(book, verified, namespace)
        return
    if len(block.numbers) != block.begin.get("numbers"):
        verified.problems.append("it does not hold as many numbers as it says")
    compared = compare(book, signed, namespace)
    verified.coverage, verified.differences = compared.coverage, compared.differences
    verified.without_value = compared.without_value
    verified.file = check_file(book.package, block, lines_part(book.package))
    if verified.file.problem:
        verified.problems.append(verified.file.problem)


def _standing_notes(block: Block) -> Iterator[str]:
    """Return how many of the signed values were not fresh when they were signed."""
    standings = [number.get("standing") for number in block.numbers]
    for standing, what in (
        (Confidence.KEPT, "kept an old value, which nothing proved to be right"),
        (Confidence.LAST_KNOWN, "showed the last known value"),
        (Confidence.ERROR, "showed an error"),
    ):
        if count := standings.count(standing):
            yield f"when this was signed, {count:,} of {len(standings):,} formulas {what}"
    if left := len(block.begin.get("left") or ()):
        yield f"when this was signed, {left:,} formulas could not be worked out"


def _compare_old(book: Book, verified: Verified, namespace: str) -> None:
    """Compare the numbers alone, which is all that the version before signed."""
    is_frozen = verified.block.is_frozen
    formulas = {name: dict(book.formulas(name)) for name in book.sheet_names}
    for number in verified.block.numbers:
        name, spot, area = place_of(number)
        try:
            sheet = book.sheet(name)
        except Unworkable as error:
            where = str(Area(*spot, *spot, sheet=name))
            verified.differences.append(Difference(where, shown(_first(number)), str(error)))
            continue
        is_ours = mentions(str(number.get("formula")), namespace)
        count = len(rows_of(number)) * len(rows_of(number)[0])
        verified.coverage.from_service += count * is_ours
        verified.coverage.calculated += count * (not is_ours)
        found = formulas[sheet.name].get(spot)
        where = str(Area(*spot, *spot, sheet=sheet.name))
        text = None if found is None else typed_form(found.text, namespace)
        verified.differences += _formula_differences(where, text, number, is_frozen=is_frozen)
        verified.differences += _value_differences(sheet, area, number)
    sources = sources_sheet(book) if is_frozen else None
    if sources is not None:
        verified.differences += _sources_differences(sources, verified.block)
    verified.differences = list({each.where: each for each in reversed(verified.differences)}.values())[::-1]
    content_of(book)  # refuses what programs would read in two ways
    everything = sum(1 for name in book.sheet_names for _ in cells_of(book, name, namespace))
    verified.coverage.uncovered = max(0, everything - verified.coverage.cells)
    if not verified.coverage.cells:
        verified.problems.append("they cover no cell of the book")


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
                yield Difference(str(Area(row, column, row, column, sheet=sheet.name)), shown(value), shown(found))


def _sources_differences(sheet: Sheet, block: Block) -> Iterator[Difference]:
    """The cells of the sheet of sources that say something else than the lines."""
    for row, values in enumerate(sources_rows(block), 1):
        for column, value in enumerate(values, 1):
            found = sheet.value((row, column))
            if not holds(found, value):
                yield Difference(str(Area(row, column, row, column, sheet=sheet.name)), shown(value), shown(found))


def _first(number: Mapping[str, Any]) -> Any:
    return rows_of(number)[0][0]
