"""Working signed numbers out again from the evidence alone: the same functions on what the service sent then."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from addin.formulas import Area, references, stored_form
from addin.workbook.audit.chain import Block
from addin.workbook.audit.contents.comparing import Difference, shown
from addin.workbook.audit.contents.sameness import is_same_value
from addin.workbook.audit.evidence.crate import body_in, read_crate
from addin.workbook.audit.evidence.exchanges import Exchange
from addin.workbook.audit.evidence.recording import ReplayedConnections
from addin.workbook.audit.numbers import place_of, read_back, rows_of, written_cell
from addin.workbook.audit.results import CellResult, Confidence, results
from addin.workbook.audit.trusted import iso
from addin.workbook.calculation.influence import Place
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import any_failure_explained
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.target import Target
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from udfs import Session
from udfs.cells import Scalar
from udfs.engine import REGISTRY

_NOWHERE = "http://127.0.0.1:9"
_NO_KEY = f"ds_{'0' * 40}"
"""What the client needs to be made; neither is ever used, because nothing is sent."""


@dataclass(slots=True)
class Recomputed:
    """The result of working the numbers out again."""

    again: int = 0
    """Formulas that gave what was signed."""
    of_this_machine: int = 0
    """Formulas that tell of the machine and its cache, such as a status: no answer of the service gives them."""
    not_fresh: int = 0
    """Formulas that were signed with an old value, which no answer gives either."""
    unaffected: int = 0
    """Formulas that rest on no answer any more: rows below a table that has become shorter."""
    answers: int = 0
    differences: list[Difference] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Answers that are missing in the evidence, or have other bytes than were signed."""


async def recompute(book: Path, block: Block, folder: Path, *, namespace: str = "DS") -> Recomputed:
    """Work out every signed number of a book from the answers in the folder; nothing is sent.

    Raises `EvidenceError` for a folder that cannot be read, and `WorkbookError` for a book that cannot.
    """
    found = Recomputed()
    exchanges = list(_evidence(block.begin.get("asked") or (), folder, found))
    if found.problems:
        return found
    transport = ReplayedConnections(exchanges, lambda digest: body_in(folder, digest) or b"")
    at = datetime.fromisoformat(str(block.begin.get("at"))).timestamp()
    client = AsyncClient(_NOWHERE, _NO_KEY, transport=transport, clock=lambda: at)
    collecting = _ResultCollector()
    async with client:
        with TemporaryDirectory() as scratch:
            live = _with_formulas(book, block, Path(scratch) / f"live{book.suffix}", namespace)
            session = Session(client, traced=True, clock=lambda: at)
            target = live.with_name(f"again{book.suffix}")
            await refresh_book(session, live, target, namespace=namespace, force=True, signing=collecting)
    machine = _of_this_machine(block.numbers)
    for number in block.numbers:
        if place_of(number)[:2] in machine:
            found.of_this_machine += 1
        else:
            _compare(number, collecting.found, found)
    found.problems += [f"{address} was never answered in the evidence" for address in dict.fromkeys(transport.missing)]
    return found


class _ResultCollector:
    """In place of a signer: keeps what it would sign."""

    not_stamped = ""

    def __init__(self) -> None:
        self.found: dict[Place, CellResult] = {}

    def signed(
        self, book: Book, report: Refreshed, target: Path, changed: Mapping[str, bytes]
    ) -> tuple[dict[str, bytes], AbstractContextManager[object]]:
        """Keep the results."""
        del target, changed
        self.found = dict(results(book, report))
        return {}, nullcontext()


def _evidence(asked: Iterable[Mapping[str, Any]], folder: Path, found: Recomputed) -> Iterator[Exchange]:
    """The recorded exchanges that the lines name, if their bodies are those that were signed."""
    known = {(each.address, iso(each.sent_at), each.sha256): each for each in read_crate(folder)}
    for line in asked:
        digest, address = str(line.get("sha256")), str(line.get("address"))
        exchange = known.get((address, str(line.get("sent_at")), digest))
        body = body_in(folder, digest)
        if exchange is None or body is None or exchange.status != line.get("status"):
            found.problems.append(f"the answer to {address} of {line.get('sent_at')} is not in {folder}")
        elif hashlib.sha256(body).hexdigest() != digest:
            found.problems.append(f"the answer to {address} of {line.get('sent_at')} has other bytes than were signed")
        else:
            found.answers += 1
            yield exchange


def _with_formulas(path: Path, block: Block, target: Path, namespace: str) -> Path:
    """A copy of the book with the signed formulas in their cells, also where a frozen copy has values."""
    with any_failure_explained(path), Package(path) as package:
        book = Book(package)
        for number in block.numbers:
            name, spot, area = place_of(number)
            if block.is_frozen:
                text = stored_form(str(number.get("formula")), namespace)
                book.sheet(name).write_formula(spot, text, area if "area" in number else None)
        package.write(Target(target), book.changed_parts())
    return target


def _compare(number: Mapping[str, Any], again: Mapping[Place, CellResult], found: Recomputed) -> None:
    name, spot, area = place_of(number)
    where = str(Area(*spot, *spot, sheet=name))
    if number.get("standing") in (Confidence.KEPT, Confidence.LAST_KNOWN):
        found.not_fresh += 1
        return
    result = again.get((name, spot))
    if result is None and not number.get("calls"):
        found.unaffected += 1
        return
    if result is None or result.standing is Confidence.KEPT:
        why = result.why if result is not None else "nothing came of it"
        found.differences.append(Difference(where, shown(rows_of(number)[0][0]), f"not worked out again: {why}"))
        return
    signed = rows_of(number)
    is_same = len(result.rows) == len(signed) and all(
        len(now) == len(then) and all(_is_same(a, b) for a, b in zip(now, then, strict=True))
        for now, then in zip(result.rows, signed, strict=True)
    )
    if is_same:
        found.again += 1
        return
    at = next(
        (
            (row, column)
            for row, (now, then) in enumerate(zip(result.rows, signed, strict=False))
            for column, (a, b) in enumerate(zip(now, then, strict=False))
            if not _is_same(a, b)
        ),
        (0, 0),
    )
    cell = (area.first_row + at[0], area.first_column + at[1])
    now = result.rows[at[0]][at[1]] if at[0] < len(result.rows) else None
    found.differences.append(
        Difference(str(Area(*cell, *cell, sheet=name)), shown(signed[at[0]][at[1]]), f"worked out again: {shown(now)}")
    )


def _is_same(now: Scalar, signed: Any) -> bool:
    """Return whether a result would be written as the line writes it; an error by its code."""
    return is_same_value(read_back(written_cell(now)), read_back(signed))


def _of_this_machine(numbers: Iterable[Mapping[str, Any]]) -> set[Place]:
    """The formulas that tell of the machine and its cache, themselves or through others."""
    found: set[Place] = set()
    areas: list[Area] = []
    left = list(numbers)
    while True:
        new = [number for number in left if _tells(number) or _rests_on(number, areas)]
        if not new:
            return found
        taken = set(map(id, new))
        left = [number for number in left if id(number) not in taken]
        for number in new:
            name, spot, area = place_of(number)
            found.add((name, spot))
            areas.append(area._replace(sheet=name))


def _tells(number: Mapping[str, Any]) -> bool:
    return any(_tells_of_this_machine(str(call[0])) for call in number.get("calls") or ())


def _rests_on(number: Mapping[str, Any], areas: Sequence[Area]) -> bool:
    texts = number.get("rests_on") if areas else ()
    found = [each for text in texts or () for each in references(f"={_quoted(text)}")]
    return any(isinstance(one, Area) and _overlap(one, other) for one in found for other in areas)


def _quoted(area: str) -> str:
    """An area with its sheet in quotes, as a formula names it."""
    sheet, _, cells = area.rpartition("!")
    return f"'{sheet.replace(chr(39), chr(39) * 2)}'!{cells}"


def _overlap(one: Area, other: Area) -> bool:
    return (
        (one.sheet or "").casefold() == (other.sheet or "").casefold()
        and one.first_row <= other.last_row
        and other.first_row <= one.last_row
        and one.first_column <= other.last_column
        and other.first_column <= one.last_column
    )


def _tells_of_this_machine(function_id: str) -> bool:
    function = REGISTRY.get(function_id.upper())
    return function is not None and function.runs_last
