"""Books signed with evidence: with the service down every number comes again, and one altered byte is told.

python -m tests.attack.forgeries.again --books 100 --seed 1
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from random import Random

from xlsxwriter import Workbook

from addin.workbook.audit.evidence.crate import BODIES
from addin.workbook.audit.evidence.recompute import recompute
from addin.workbook.audit.evidence.recording import RecordedConnections, Recording
from addin.workbook.audit.signing import BookSigner
from addin.workbook.audit.verify import verify_book
from addin.workbook.refresh.refresh import refresh_book
from dataservice.client import AsyncClient
from dataservice.server import Store, import_directory, running, write_sample
from tests.attack.parts.told import Told, conclude
from udfs import Session

SLUGS = ("us-cpi", "us-10y", "us-unemployment", "brent-usd", "btc-usd", "nope")
FIELDS = ("value", "observed_at", "change", "pct_change", "name", "unit")
OPTIONS = ('"N24"', '"MAX"', '"2020-01-01","2024-12-31"', '"N60",,"transform=yoy"', '"5Y",,"freq=Q"', '"3Y",,"ma(3)"')


@dataclass
class Found:
    """What became of the books."""

    books: int = 0
    numbers: int = 0
    requests: int = 0
    wrong: list[str] = field(default_factory=list)


def make_book(path: Path, random: Random) -> Path:
    """A book of a few formulas of ours, whose arguments stand in other cells, and what is calculated from them."""
    with Workbook(path) as book:
        sheet = book.add_worksheet("Report")
        rows = random.randint(2, 8)
        for row in range(1, rows + 1):
            sheet.write_string(row, 0, random.choice(SLUGS))
            wanted = random.choice(FIELDS)
            sheet.write_formula(row, 1, f'=_xldudf_DS_SIGNAL(A{row + 1},"{wanted}")', None, "")
            sheet.write_formula(row, 2, f"=IFERROR(B{row + 1}*{random.randint(2, 9)},0)", None, "")
        sheet.write_formula(rows + 1, 2, f"=SUM(C2:C{rows + 1})", None, "")
        for place in range(random.randint(0, 3)):
            formula = f'=_xldudf_DS_SIGNAL_HISTORY("{random.choice(SLUGS[:-1])}",{random.choice(OPTIONS)})'
            sheet.write_dynamic_array_formula(0, 5 + 4 * place, 0, 5 + 4 * place, formula, None, "")
        if random.random() < 0.5:
            sheet.write_formula(0, 3, '=_xldudf_DS_INDEX("risk-dial")', None, "")
        if random.random() < 0.3:
            sheet.write_dynamic_array_formula(0, 24, 0, 24, '=_xldudf_DS_WIRE(,,,,"5")', None, "")
    return path


def attack(count: int, seed: int, folder: Path) -> Found:
    """Sign `count` books, then work them out again without the service."""
    found, random = Found(), Random(seed)
    os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
    with Store(folder / "service.db") as store:
        write_sample(folder / "data", as_of=date(2026, 8, 31))
        import_directory(store, folder / "data")
        with running(store) as service:
            for number in range(count):
                book = make_book(folder / f"book{number}.xlsx", random)
                before = len(service.requests)
                asyncio.run(_sign(service.url, store.create_key("pro"), book, folder / f"answers{number}"))
                _compare_log(number, book, service.requests[before:], found)
    for number in range(count):
        asyncio.run(_again(folder / f"book{number}.xlsx", folder / f"answers{number}", random, found))
    return found


async def _sign(url: str, key: str, book: Path, evidence: Path) -> None:
    recording = Recording(bodies=evidence / BODIES)
    transport = RecordedConnections(url, 8, recording)
    signing = BookSigner(book.with_suffix(".jsonl"), service=url, recording=recording, evidence=evidence)
    async with AsyncClient(url, key, transport=transport) as client:
        await refresh_book(Session(client, traced=True), book, book, signing=signing)


def _compare_log(number: int, book: Path, logged: Sequence[str], found: Found) -> None:
    asked = [each["address"] for each in verify_book(book).block.begin["asked"]]
    found.requests += len(logged)
    if sorted(asked) != sorted(logged):
        found.wrong.append(f"book {number}: names {sorted(asked)}, the service saw {sorted(logged)}")


async def _again(book: Path, evidence: Path, random: Random, found: Found) -> None:
    block = verify_book(book).block
    done = await recompute(book, block, evidence)
    found.books += 1
    found.numbers += done.again
    expected = len(block.numbers) - done.of_this_machine - done.unaffected - done.not_fresh
    if done.differences or done.problems or done.again != expected:
        found.wrong.append(f"{book.name}: {done.again} of {expected}; {done.differences[:3]} {done.problems[:3]}")
    bodies = sorted((evidence / BODIES).iterdir())
    if bodies:
        body = random.choice(bodies)
        content = bytearray(body.read_bytes())
        at = random.randrange(len(content))
        content[at] ^= 1 << random.randrange(8)
        body.write_bytes(content)
        told = (await recompute(book, block, evidence)).problems
        if not any("other bytes" in problem for problem in told):
            found.wrong.append(f"{book.name}: byte {at} of {body.name[:8]} was altered, and not told")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--books", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = attack(given.books, given.seed, Path(folder))
    for line in found.wrong[:40]:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{found.books} books, {found.numbers} numbers worked out again, {found.requests} requests\n")
    conclude(Told(given.books, wrong=len(found.wrong)))


if __name__ == "__main__":
    main()
