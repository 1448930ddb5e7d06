"""A refresh of many books that is killed at random moments: every book is whole, old or new, and so are the lines.

    python -m tests.attack.workbooks.books_killed --kills 100 --seed 1

Each time, the command is killed at a random moment between its first book and its end. Then every book must be, byte
for byte, the old one, or hold exactly the values of a run that nobody killed, as they were signed; the signed lines
must be those of whole books; and the same command must bring the rest to its end.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from random import Random

from addin.workbook.audit.chain import read_chain
from addin.workbook.audit.embedded import embedded_lines
from addin.workbook.audit.keys import is_signed
from addin.workbook.audit.verify import verify_book
from addin.workbook.ooxml.package import Package
from dataservice.server import Store, import_directory, running, write_sample
from tests.addin.commands import command, environment
from tests.addin.workbook.books import make_book
from tests.attack.parts.told import Told, conclude

SLUGS = ("us-cpi", "us-10y", "wb.gold", "eia.wti.spot", "sp-500", "btc-usd", "cboe.vix", "us-unemployment")
FILLING = 400
"""Rows of other cells in each book, so that writing it takes a while."""


@dataclass
class Found:
    """What the books were after each kill, and everything that must not happen."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def attack(kills: int, books: int, seed: int, folder: Path, found: Found) -> None:
    """Kill `kills` refreshes of so many books."""
    random = Random(seed)
    pristine = _pristine(folder / "pristine", books)
    with Store(folder / "service.db") as store:
        write_sample(folder / "data", as_of=date(2026, 8, 31))
        import_directory(store, folder / "data")
        with running(store) as service:
            environ = environment(folder, url=service.url, api_key=store.create_key("pro"))
            work = folder / "work"
            shutil.copytree(pristine, work)
            taken_s = _refresh(work, environ, kill_after_s=None)
            new = {book.name: _parts(book) for book in sorted(work.glob("*.xlsx"))}
            for number in range(kills):
                shutil.rmtree(work)
                shutil.copytree(pristine, work)
                _refresh(work, environ, kill_after_s=random.uniform(0, taken_s))
                _check(pristine, work, new, f"{seed}/{number}", found)
            _refresh(work, environ, kill_after_s=None)
            if {book.name for book in work.glob("*.xlsx") if _parts(book) == new[book.name]} != new.keys():
                found.wrong.append("the same command did not bring the rest to its end")


def _pristine(folder: Path, books: int) -> Path:
    folder.mkdir()
    for number in range(books):
        cells = {f"A{row}": f'=_xldudf_DS_SIGNAL("{slug}")' for row, slug in enumerate(SLUGS, 1)}
        table = {"C1": ("C1:D2", f'=_xldudf_DS_SIGNAL_HISTORY("{SLUGS[number % len(SLUGS)]}","N50")')}
        others = {f"{column}{row}": row * 1.5 for column in "FGHIJK" for row in range(1, FILLING)}
        make_book(folder / f"book-{number:03}.xlsx", {**cells, **table, **others})
    return folder


def _refresh(folder: Path, environ: dict[str, str], *, kill_after_s: float | None) -> float:
    """Refresh the folder's books; the seconds from the first to the end, or until it was killed."""
    words = command(["refresh", str(folder), "--audit", str(folder / "numbers.jsonl")])
    with subprocess.Popen(words, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        process.stderr.readline()  # the cost of all books: the first one is begun now
        began = time.monotonic()
        try:
            process.communicate(timeout=kill_after_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.wait()
        return time.monotonic() - began


def _check(pristine: Path, work: Path, new: dict[str, object], what: str, found: Found) -> None:
    audit = work / "numbers.jsonl"
    lines = audit.read_bytes().split(b"\n") if audit.exists() else []
    chain = read_chain([line for line in lines[:-1] if line], is_signed=is_signed)
    found.wrong += [f"{what}: {problem}" for problem in chain.problems]
    found.outcomes["lines after the last whole block"] += chain.unfinished
    signed = [str(block.begin["book"]) for block in chain.blocks]
    for book in sorted(pristine.glob("*.xlsx")):
        now = work / book.name
        if now.read_bytes() == book.read_bytes():
            found.outcomes["old"] += 1
            if signed.count(book.name) and signed[-1] != book.name:
                found.wrong.append(f"{what}: {book.name} was signed and is old, but others were refreshed after it")
        elif _parts(now) == new[book.name]:
            found.outcomes["new"] += 1
            if not verify_book(now).holds or not verify_book(now, audit).holds:
                found.wrong.append(f"{what}: {book.name} does not hold what was signed")
        else:
            found.wrong.append(f"{what}: {book.name} is neither old nor new")
    found.outcomes["half-written files left beside the books"] += len(list(work.glob(".addin-*")))


def _parts(book: Path) -> object:
    """What is in a book, without the lines that travel with it; None for one that is damaged."""
    try:
        with zipfile.ZipFile(book) as archive:
            parts = {name: archive.read(name) for name in archive.namelist() if "customXml" not in name}
        with Package(book) as package:
            is_whole = not read_chain(embedded_lines(package), is_signed=is_signed).problems
    except (OSError, zipfile.BadZipFile):
        return None
    return parts if is_whole else None


def main(arguments: Sequence[str] | None = None) -> None:
    """Attack, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("kills", 100), ("books", 12), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args(arguments)
    found, began = Found(), time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="killed-books-"))
    try:
        attack(options.kills, options.books, options.seed, folder, found)
    finally:
        for name, number in sorted(found.outcomes.items()):
            print(f"  {name}: {number:,}")  # noqa: T201
        print(f"  {time.monotonic() - began:.0f} s; wrong: {len(found.wrong)}", *found.wrong[:40], sep="\n    ")  # noqa: T201
        shutil.rmtree(folder, ignore_errors=True)
    conclude(Told(options.kills, wrong=len(found.wrong)))


if __name__ == "__main__":
    main()
