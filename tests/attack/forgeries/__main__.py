"""Packages forged so that some program reads another number: each has to be named or refused.

    python -m tests.attack.forgeries --forgeries 2000 --seed 1

Two signed books are edited in all the ways of `forging`, one or two at a time. What `addin verify` lets pass must
show in openpyxl, calamine, SheetJS, ExcelJS and LibreOffice the numbers that they showed before. Every forgery that
makes one of them show another number counts.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from addin.errors import AddinError
from addin.workbook.audit.verify import verify_book
from addin.workbook.ooxml.errors import UNEXPECTED
from tests.attack.forgeries.forging import FORGERIES, packed, parts_of
from tests.attack.forgeries.readers import Readers, Shown, by_libreoffice
from tests.attack.forgeries.signed_books import signed_books
from tests.attack.parts.told import Told, conclude

AT_ONCE = 40
"""So many books LibreOffice reads in one start."""

ARCHIVED = 0.08
"""The share of forgeries of the zip file itself."""


@dataclass
class Found:
    """What became of the forgeries."""

    verdicts: Counter[str] = field(default_factory=Counter)
    effective: Counter[str] = field(default_factory=Counter)
    """Forgeries by which a program shows another number, by program."""
    forged: int = 0
    """Forgeries by which any of them does."""
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Forged:
    """One forged package: how, what verify says of it, and what programs show."""

    how: str
    verdict: str
    path: Path
    seed: str
    shown: dict[str, Shown | None]


def attack(count: int, seed: int, folder: Path, *, with_libreoffice: bool = True) -> Found:
    """Forge `count` packages."""
    found, random = Found(), Random(seed)
    os.environ["XDG_CONFIG_HOME"] = str(folder / "config")  # its own key
    with signed_books(folder) as books, Readers() as readers:
        seeds = {"live": books.live.read_bytes(), "frozen": books.frozen.read_bytes()}
        truth = {name: readers.read(folder / f"{name}.xlsx") for name in seeds}
        if with_libreoffice:
            for name, shown in zip(
                seeds, by_libreoffice([folder / f"{name}.xlsx" for name in seeds], folder), strict=True
            ):
                truth[name]["libreoffice"] = shown
        for first in range(0, count, AT_ONCE):
            batch = [
                _forge(seeds, number, random, folder, readers) for number in range(first, min(count, first + AT_ONCE))
            ]
            if with_libreoffice:
                for forged, shown in zip(batch, by_libreoffice([f.path for f in batch], folder), strict=True):
                    forged.shown["libreoffice"] = shown
            for forged in batch:
                _judge(forged, truth[forged.seed], found)
    return found


def _forge(seeds: Mapping[str, bytes], number: int, random: Random, folder: Path, readers: Readers) -> Forged:
    name = random.choice(list(seeds))
    parts = parts_of(seeds[name])
    ways = [list(FORGERIES)[number % len(FORGERIES)]]
    if random.random() < 0.2:
        ways.append(random.choice(list(FORGERIES)))
    for way in ways:
        FORGERIES[way](parts, random)
    if random.random() < ARCHIVED:
        ways = ["the zip file"]
        false = dict(parts_of(seeds[name]))
        FORGERIES["another number"](false, random)
        content = packed(parts_of(seeds[name]), random, false)
    else:
        content = packed(parts)
    path = folder / f"forged{number % AT_ONCE}.xlsx"
    path.write_bytes(content)
    return Forged(f"{number} {name}: {' and '.join(ways)}", _verdict(path), path, name, readers.read(path))


def _verdict(path: Path) -> str:
    """What verify says: told, refused, or passed."""
    try:
        return "passed" if verify_book(path).holds else "told"
    except AddinError as error:
        return "unexpected" if UNEXPECTED in str(error) else "refused"
    except Exception as error:  # noqa: BLE001 - a crash is told in no sentence
        return f"crashed with {type(error).__name__}"


def _judge(forged: Forged, truth: Mapping[str, Shown | None], found: Found) -> None:
    found.verdicts[forged.verdict if forged.verdict in ("told", "refused", "passed") else "wrong"] += 1
    others = [name for name, shown in forged.shown.items() if shown is not None and _another(shown, truth.get(name))]
    found.effective.update(others)
    found.forged += bool(others)
    if forged.verdict == "passed" and others:
        found.wrong.append(f"{forged.how}: passed, but {', '.join(others)} show another number")
    elif forged.verdict not in ("told", "refused", "passed"):
        found.wrong.append(f"{forged.how}: {forged.verdict}")


def _another(shown: Shown, truth: Shown | None) -> bool:
    """Whether a cell that held a number shows another value now, or a cell that held nothing holds a number."""
    if truth is None:
        return False
    for sheet, cells in truth.items():
        now = shown.get(sheet)
        if now is None:
            continue
        if any(isinstance(was, float) and now.get(spot, was) != was for spot, was in cells.items()):
            return True
        if any(isinstance(is_now, float) and spot not in cells for spot, is_now in now.items()):
            return True
    return any(sheet not in truth for sheet in shown)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forgeries", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = attack(given.forgeries, given.seed, Path(folder))
    for line in found.wrong[:40]:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{dict(found.verdicts)}; {found.forged} show another number somewhere: {dict(found.effective)}\n")
    conclude(Told(given.forgeries, wrong=len(found.wrong)))


if __name__ == "__main__":
    main()
