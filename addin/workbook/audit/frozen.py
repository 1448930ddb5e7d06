"""Signing a frozen copy: its numbers keep the sources that were signed about the book, and people can read them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from addin.formulas import Area
from addin.workbook.audit.chain import FREEZE, Block
from addin.workbook.audit.contents.sameness import is_same_formula
from addin.workbook.audit.file import AuditError
from addin.workbook.audit.keys import fingerprint
from addin.workbook.audit.numbers import Describing, holds, rows_of
from addin.workbook.audit.results import CellResult, Confidence, Rows, shown_rows
from addin.workbook.audit.signing import BookSigner
from addin.workbook.audit.sources import sources_xml
from addin.workbook.audit.trusted import UntrustedKeyError
from addin.workbook.audit.verify import Verified, verify_book
from addin.workbook.calculation.book_formulas import FormulaReader, resting_on
from addin.workbook.calculation.influence import by_sheet
from addin.workbook.live_parts import live_parts
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import any_failure_explained
from addin.workbook.ooxml.newsheet import with_sheet
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import Spot, address
from addin.workbook.ooxml.target import Target

UNKNOWN = "not signed before: refresh the book with --audit first"
CHANGED = "what it rests on is not as it was signed: refresh the book with --audit first"
OLD = "an older version signed it without its inputs: refresh the book with --audit first"


_KEPT = ("value", "standing", "why", "calls", "rests_on", "sources")
"""What a line about a copy takes over from the one about the book."""


@dataclass(frozen=True, slots=True)
class Known:
    """The signed formulas of a book, by sheet and cell, and which of them rest on something changed."""

    numbers: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    doubtful: Collection[tuple[str, str]] = ()
    asked: Sequence[Mapping[str, Any]] = ()
    """The requests that the lines name."""
    why: str = UNKNOWN
    """Why a number has no source that could be told."""


@dataclass(frozen=True, slots=True)
class SignedCopy:
    """The number of signed values of a copy, and the cells of those whose source is not known."""

    numbers: int
    unknown: list[str]
    not_stamped: str = ""
    """Why there is no time stamp though one was asked for."""


def sign_copy(book: Path, frozen: Path, target: Path, signer: BookSigner, *, namespace: str = "DS") -> SignedCopy:
    """Write the `frozen` copy of `book` to `target`, with the sheet of sources, and sign it.

    Sources come from the last lines about the book: in the signer's file, else in the book. Raises `WorkbookError`, and
    `UntrustedKeyError` where these are signed with a key that is not trusted.
    """
    place = Target(target, like=book)
    describing = signer.describing(target)
    known = _known(book, signer, namespace)
    numbers = _numbers(book, frozen, describing, known, namespace)
    with TemporaryDirectory() as folder, any_failure_explained(frozen):
        with_sources = Path(folder) / f"sources{frozen.suffix}"
        with Package(frozen) as package:
            copy = Book(package)
            begin = {"at": numbers[0]["at"] if numbers else "", "source": signer.named(book), "asked": known.asked}
            name, content = sources_xml(Block(begin, numbers, signer.public_key, ""), copy)
            package.write(Target(with_sources), {**with_sheet(package, name, content), **copy.changed_parts()})
        with Package(with_sources) as package:
            more: dict[str, Any] = {"asked": known.asked} if known.asked else {}
            parts, around = signer.block(Book(package), describing, numbers, by=FREEZE, source=book, **more)
            package.write(place, parts, around=around)
    without_source = (UNKNOWN, CHANGED, OLD)
    unknown = [f"{number['sheet']}!{number['cell']}" for number in numbers if number.get("why") in without_source]
    return SignedCopy(len(numbers), unknown, signer.not_stamped)


def _known(book: Path, signer: BookSigner, namespace: str) -> Known:
    """Return what the last lines about the book say; nothing where none were signed, or the lines were altered."""
    for audit in (signer.audit.path, None):
        try:
            verified = verify_book(book, audit, namespace=namespace)
        except AuditError:
            continue
        if verified.problems:
            continue
        if not verified.trust.is_accepted:
            key = verified.block.public_key
            raise UntrustedKeyError(
                f"{book} is signed with {fingerprint(key)}, {verified.trust}; your key would vouch for it. If you "
                f"know whose it is: addin signer trust {key} --name NAME"
            )
        if verified.is_old:
            return Known(why=OLD)
        numbers = {(number["sheet"], number["cell"]): number for number in verified.block.numbers}
        asked = verified.block.begin.get("asked") or ()
        return Known(numbers, _doubtful(book, verified, namespace), asked, CHANGED)
    return Known()


def _doubtful(book: Path, verified: Verified, namespace: str) -> Collection[tuple[str, str]]:
    """The formulas that rest on a cell, a name or a setting that is not as it was signed."""
    if not verified.differences:
        return ()
    with any_failure_explained(book), Package(book) as package:
        live = Book(package)
        formulas = FormulaReader(live, namespace).all()
        if all(difference.place is not None for difference in verified.differences):
            changed = {difference.place for difference in verified.differences if difference.place is not None}
            resting = resting_on(formulas, by_sheet(changed))
            return {*_named(changed), *_named(formula.place for formula in resting)}
        return set(_named(formula.place for formula in formulas))  # a name or a setting may matter to any of them


def _named(places: Iterable[tuple[str, Spot]]) -> Iterator[tuple[str, str]]:
    yield from ((sheet, address(spot)) for sheet, spot in places)


def _numbers(
    book: Path,
    frozen: Path,
    describing: Describing,
    known: Known,
    namespace: str,
) -> list[dict[str, Any]]:
    """The lines about the formulas that have become values, and were not emptied."""
    numbers = []
    with any_failure_explained(book), Package(book) as source, Package(frozen) as copy:
        values, live = Book(copy), Book(source)
        emptied, _ = live_parts(live, namespace)
        for name, spot, formula in live.formulas_with_calls(namespace):
            if any(sheet == name and area.contains(*spot) for sheet, area in emptied):
                continue
            area = live.sheet(name).array_at(spot) or Area(*spot, *spot)
            rows = shown_rows(values.sheet(name), area)
            key = (name, address(spot))
            before = known.numbers.get(key)
            why = UNKNOWN if known.numbers and before is None else known.why
            unsigned = CellResult(formula.text, area, rows, Confidence.KEPT, why)
            now = describing.line(name, spot, unsigned, [])
            is_known = before is not None and key not in known.doubtful and _still_holds(before, now, rows)
            numbers.append(_as_before(now, before) if before is not None and is_known else now)
    return numbers


def _as_before(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The line of a number that was signed before: what was said about it then holds for the copy."""
    told = {name: before[name] for name in _KEPT if name in before}
    return {name: value for name, value in now.items() if name != "why"} | told


def _still_holds(line: Mapping[str, Any], now: Mapping[str, Any], rows: Rows) -> bool:
    if not is_same_formula(str(line.get("formula")), now["formula"]):
        return False
    signed = rows_of(line)
    return len(signed) == len(rows) and all(
        len(values) == len(found) and all(map(holds, found, values)) for values, found in zip(signed, rows, strict=True)
    )
