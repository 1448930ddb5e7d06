"""Damaged workbooks through refresh, cost and freeze, and damaged formulas through everything that reads them.

    python -m tests.attack.workbooks.books --books 20000 --formulas 180000 --seed 1

Whatever the damage, each command ends with a result or one sentence, and the input keeps its bytes. A book may take 20
times as long as the undamaged one that it was made from, and at least a second; a formula 20 times as long as it takes
to split it into tokens, and at least 50 ms. Times are those of the processor, because the machine may be busy.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from random import Random

from addin.errors import AddinError
from addin.formulas import FormulaError, Unworkable, call_text, mentions, parse, references, stored_form
from addin.formulas.calls import readable_tokens
from addin.workbook.freeze import freeze_book
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import UNEXPECTED
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.refresh import book_cost, refresh_book
from dataservice.client import AsyncClient
from dataservice.server import Store, import_directory, running, write_sample
from tests.attack.parts.mutations import damaged_book, damaged_formula
from tests.attack.parts.seeds import seed_books
from tests.attack.parts.told import Told, conclude
from udfs import Session

TIMES_FLOOR = 20
LEAST_BOOK_S, LEAST_FORMULA_S = 1.0, 0.05
"""Below this a busy machine alone makes the difference."""

TRIES = 3
"""What is too slow is measured again, because Python may collect its garbage meanwhile."""

BOOKS_PER_KEY = 200
"""Damaged names cost requests, and a key has a month's number of them."""


@dataclass
class Found:
    """What happened: outcomes by kind, and everything that must not happen."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: dict[str, float] = field(default_factory=dict)


async def attack_books(count: int, seed: int, folder: Path, found: Found) -> None:
    """Damage `count` books and run the three commands on each."""
    seeds = seed_books(folder)
    random = Random(seed)
    with Store(folder / "service.db") as store:
        write_sample(folder / "data", as_of=date(2026, 8, 31))
        import_directory(store, folder / "data")
        with running(store) as service:
            for first in range(0, count, BOOKS_PER_KEY):
                async with _session(service.url, store.create_key("pro")) as session:
                    floors = {name: await _floor_s(session, content, folder) for name, content in seeds.items()}
                    for number in range(first, min(count, first + BOOKS_PER_KEY)):
                        name = random.choice(list(seeds))
                        content = damaged_book(seeds[name], random)
                        allowed_s = max(LEAST_BOOK_S, TIMES_FLOOR * floors[name])
                        await _attack_book(session, content, folder, f"{seed}/{number} {name}", allowed_s, found)


async def _attack_book(
    session: Session, content: bytes, folder: Path, what: str, allowed_s: float, found: Found
) -> None:
    book = folder / "attacked.xlsx"
    wrong = []
    for attempt in range(TRIES):
        book.write_bytes(content)
        begun = time.process_time()
        ends = dict(zip(("refresh", "cost", "freeze"), await _commands(session, book, folder), strict=True))
        taken_s = time.process_time() - begun
        if attempt == 0:
            found.outcomes.update(f"{name}: {'refused' if end else 'done'}" for name, end in ends.items())
        if taken_s <= allowed_s:
            break
    else:
        wrong.append(f"{taken_s:.1f} s, allowed {allowed_s:.1f} s")
    for name, end in ends.items():
        if end is not None and (not isinstance(end, AddinError) or UNEXPECTED in str(end)):
            wrong.append(f"{name}: {end!r}")
    if book.read_bytes() != content:
        wrong.append("the input was changed")
    if wrong:
        found.wrong += [f"{what}: {each}" for each in wrong]
        (folder / f"wrong-{len(found.wrong)}.xlsx").write_bytes(content)
    for name, figure in (("book", taken_s), ("book, of what is allowed", taken_s / allowed_s)):
        found.slowest[name] = max(found.slowest.get(name, 0.0), figure)


async def _commands(session: Session, book: Path, folder: Path) -> Sequence[Exception | None]:
    """How refresh, cost and freeze ended: None, or the error."""
    outcomes: list[Exception | None] = []
    out = folder / "out.xlsx"
    for command in ("refresh", "cost", "freeze"):
        out.unlink(missing_ok=True)
        try:
            match command:
                case "refresh":
                    await refresh_book(session, book, out)
                case "cost":
                    await book_cost(session, book)
                case _:
                    freeze_book(book, out)
            if command != "cost":
                with Package(out) as package:
                    Book(package)
            outcomes.append(None)
        except Exception as error:  # noqa: BLE001 - every kind of end is counted
            outcomes.append(error)
    return outcomes


async def _floor_s(session: Session, content: bytes, folder: Path) -> float:
    """The seconds that the commands take on an undamaged book."""
    book = folder / "floor.xlsx"
    book.write_bytes(content)
    await _commands(session, book, folder)
    begun = time.process_time()
    await _commands(session, book, folder)
    return time.process_time() - begun


@asynccontextmanager
async def _session(url: str, key: str) -> AsyncIterator[Session]:
    async with AsyncClient(url, key) as client:
        yield Session(client)


def attack_formulas(count: int, seed: int, found: Found) -> None:
    """Damage `count` formulas and read each in every way."""
    random = Random(seed)
    for number in range(count):
        formula = damaged_formula(random)
        for _ in range(TRIES):
            floor_s, taken_s, outcome = _timed_reading(formula)
            if taken_s <= max(LEAST_FORMULA_S, TIMES_FLOOR * floor_s):
                break
        else:
            found.wrong.append(f"{seed}/{number} {formula[:200]!r}: {taken_s:.2f} s, tokens {floor_s:.3f} s")
        found.slowest["formula"] = max(found.slowest.get("formula", 0.0), taken_s)
        if isinstance(outcome, Exception):
            found.wrong.append(f"{seed}/{number} {formula[:200]!r}: {outcome!r}")
        else:
            found.outcomes[f"formula: {outcome}"] += 1


def _timed_reading(formula: str) -> tuple[float, float, str | Exception]:
    """The seconds to split a formula into tokens, those to read it in every way, and what came of that."""
    outcome: str | Exception
    begun = time.process_time()
    with suppress(Unworkable):
        readable_tokens(formula)
    split = time.process_time()
    try:
        outcome = _read(formula)
    except Exception as error:  # noqa: BLE001 - every kind of end is counted
        outcome = error
    return split - begun, time.process_time() - split, outcome


def _read(formula: str) -> str:
    """Read a formula in every way; whether it is a call."""
    is_ours = mentions(formula)
    references(formula)
    stored = stored_form(formula)
    assert stored_form(stored) == stored, "mended twice"
    assert mentions(stored) == is_ours, "lost by mending"
    with suppress(FormulaError):
        call_text(formula)
    try:
        parse(stored)
    except Unworkable:
        return "no call"
    return "a call"


def peak_mb() -> float:
    """The most memory that this process has had, in MB."""
    return int(next(x.split()[1] for x in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in x)) / 1024


def main() -> None:
    """Attack, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("books", "formulas", "seed"):
        parser.add_argument(f"--{name}", type=int, default=1_000 if name != "seed" else 1)
    options = parser.parse_args()
    found, begun = Found(), time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="attacked-books-"))
    try:
        attack_formulas(options.formulas, options.seed, found)
        asyncio.run(attack_books(options.books, options.seed, folder, found))
    except KeyboardInterrupt:
        print("broken off")  # noqa: T201
    finally:
        _print(found, time.monotonic() - begun)
    conclude(Told(options.books + options.formulas, wrong=len(found.wrong)))


def _print(found: Found, taken_s: float) -> None:
    for name, number in sorted(found.outcomes.items()):
        print(f"  {name}: {number:,}")  # noqa: T201
    slowest = ", ".join(f"{name} {value:.3f}" for name, value in found.slowest.items())
    print(f"  slowest: {slowest}; peak {peak_mb():.0f} MB; {taken_s:.0f} s in all")  # noqa: T201
    print(f"  wrong: {len(found.wrong)}", *found.wrong[:40], sep="\n    ")  # noqa: T201


if __name__ == "__main__":
    main()
