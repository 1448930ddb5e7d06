"""Signing a frozen copy: its numbers keep the sources that were signed about the book, and people can read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from addin.formulas import Area
from addin.workbook.audit.chain import Block
from addin.workbook.audit.file import AuditError
from addin.workbook.audit.numbers import Describing, holds, rows_of
from addin.workbook.audit.results import CellResult, Rows, Standing, shown_rows
from addin.workbook.audit.signing import BookSigner
from addin.workbook.audit.sources import sources_xml
from addin.workbook.audit.verify import FREEZE, signed_block
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import any_failure_explained
from addin.workbook.ooxml.newsheet import with_sheet
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import address
from addin.workbook.ooxml.target import Target

UNKNOWN = "not signed before: refresh the book with --audit first"


@dataclass(frozen=True, slots=True)
class SignedCopy:
    """How many numbers of a copy were signed, and the cells of those whose source is not known."""

    numbers: int
    unknown: list[str]


def sign_copy(book: Path, frozen: Path, target: Path, signer: BookSigner, *, namespace: str = "DS") -> SignedCopy:
    """Write the `frozen` copy of `book` to `target`, with the sheet of sources, and sign it.

    Sources come from the last lines about the book: in the signer's file, else in the book. Raises `WorkbookError`.
    """
    place = Target(target, like=book)
    describing = signer.describing(target)
    numbers = _numbers(book, frozen, describing, _known(book, signer), namespace)
    with TemporaryDirectory() as folder, any_failure_explained(frozen):
        with_sources = Path(folder) / f"sources{frozen.suffix}"
        with Package(frozen) as package:
            copy = Book(package)
            begin = {"at": numbers[0]["at"] if numbers else "", "source": signer.named(book)}
            name, content = sources_xml(Block(begin, numbers, signer.public_key, ""), copy)
            package.write(Target(with_sources), {**with_sheet(package, name, content), **copy.changed_parts()})
        with Package(with_sources) as package:
            parts, around = signer.block(package, describing, numbers, by=FREEZE, source=book)
            package.write(place, parts, around=around)
    unknown = [f"{number['sheet']}!{number['cell']}" for number in numbers if number.get("why") == UNKNOWN]
    return SignedCopy(len(numbers), unknown)


def _known(book: Path, signer: BookSigner) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """The last lines about the book by sheet and cell; none where nothing was signed, or the lines were altered."""
    for audit in (signer.audit.path, None):
        try:
            block, problems = signed_block(book, audit)
        except AuditError:
            continue
        if not problems:
            return {(number["sheet"], number["cell"]): number for number in block.numbers}
    return {}


def _numbers(
    book: Path,
    frozen: Path,
    describing: Describing,
    known: Mapping[tuple[str, str], Mapping[str, Any]],
    namespace: str,
) -> list[dict[str, Any]]:
    """The lines about the formulas that have become values, and were not emptied."""
    numbers = []
    with any_failure_explained(book), Package(book) as source, Package(frozen) as copy:
        values, live = Book(copy), Book(source)
        emptied = live.live_only()
        for name, spot, formula in live.formulas_with_calls(namespace):
            if any(sheet == name and area.contains(*spot) for sheet, area in emptied):
                continue
            area = live.sheet(name).array_at(spot) or Area(*spot, *spot)
            rows = shown_rows(values.sheet(name), area)
            unsigned = CellResult(formula.text, area, rows, Standing.KEPT, UNKNOWN)
            now = describing.line(name, spot, unsigned, [])
            before = known.get((name, address(spot)))
            is_known = before is not None and _still_holds(before, now, rows)
            numbers.append(_as_before(now, before) if before is not None and is_known else now)
    return numbers


def _as_before(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The line of a number that was signed before: what was said about it then holds for the copy."""
    told = {name: before[name] for name in ("value", "standing", "why", "sources") if name in before}
    return {name: value for name, value in now.items() if name != "why"} | told


def _still_holds(line: Mapping[str, Any], now: Mapping[str, Any], rows: Rows) -> bool:
    if line.get("formula") != now["formula"]:
        return False
    signed = rows_of(line)
    return len(signed) == len(rows) and all(
        len(values) == len(found) and all(map(holds, found, values)) for values, found in zip(signed, rows, strict=True)
    )
