"""Signed books altered in one place each: the very cell, name, sheet or part has to be named, and the coverage right.

    python -m tests.attack.forgeries.alterations --alterations 1000 --seed 1

Values, inputs, texts, formulas, number formats, names, sheets, further and missing cells, and bytes of all other parts.
Beside them, copies that LibreOffice and openpyxl saved unchanged, and lines with other ends: none may be told.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import openpyxl

from addin.workbook.audit.verify import Verified, verify_book
from tests.attack.forgeries.forging import BOOK, SHEET, STYLES, Parts, packed, parts_of
from tests.attack.forgeries.signed_books import SignedBooks, signed_books
from tests.attack.parts.told import Told, conclude

_NUMBER = re.compile(rb'<c r="([A-Z]+[0-9]+)"((?: s="[0-9]+")?)>((?:<f>[^<]*</f>)?)<v>([-0-9.Ee+]+)</v></c>')
_TEXT = re.compile(rb'<c r="([A-Z]+[0-9]+)"(?: s="[0-9]+")? t="s"><v>([0-9]+)</v></c>')
_FORMULA = re.compile(rb'<c r="([A-Z]+[0-9]+)"[^>]*><f>([^<]*)</f>')
_PLAIN_PARTS = ("xl/theme/theme1.xml", "docProps/app.xml", "docProps/core.xml")


@dataclass
class Found:
    """What became of the alterations."""

    kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    round_trips: int = 0


def _number(parts: Parts, random: Random) -> str:
    match = random.choice(list(_NUMBER.finditer(parts[SHEET])))
    value = float(match[4]) * (1 + random.choice([1e-9, 1e-6, 0.5, 10.0])) + 1e-9
    made = match[0].replace(b"<v>" + match[4], b"<v>" + repr(value).encode())
    parts[SHEET] = parts[SHEET].replace(match[0], made)
    return f"Report!{match[1].decode()}"


def _text(parts: Parts, random: Random) -> str:
    texts = list(_TEXT.finditer(parts[SHEET]))
    match = random.choice(texts)
    other = random.choice([each[2] for each in texts if each[2] != match[2]])
    parts[SHEET] = parts[SHEET].replace(match[0], match[0].replace(b"<v>" + match[2], b"<v>" + other))
    return f"Report!{match[1].decode()}"


def _formula(parts: Parts, random: Random) -> str:
    match = random.choice(list(_FORMULA.finditer(parts[SHEET])))
    made = match[2] + random.choice([b"+0", b"*1", b"+1"])
    parts[SHEET] = parts[SHEET].replace(match[0], match[0].replace(match[2] + b"</f>", made + b"</f>"))
    return f"Report!{match[1].decode()}"


def _format(parts: Parts, random: Random) -> str:
    match = random.choice(list(_NUMBER.finditer(parts[SHEET])))
    styles = re.search(rb'<cellXfs count="([0-9]+)"', parts[STYLES])
    assert styles is not None
    count = int(styles[1])
    parts[STYLES] = parts[STYLES].replace(
        b"</cellXfs>", b'<xf numFmtId="10" fontId="0" fillId="0" borderId="0"/></cellXfs>'
    )
    parts[STYLES] = parts[STYLES].replace(styles[0], b'<cellXfs count="%d"' % (count + 1))
    made = b'<c r="%s" s="%d">' % (match[1], count)
    parts[SHEET] = parts[SHEET].replace(match[0], re.sub(rb"^<c [^>]*>", made, match[0]))
    return f"Report!{match[1].decode()}"


_Change = tuple[tuple[bytes, bytes], str]
"""What stands in the book's part in place of what, and how verify names it."""

NAMES: Sequence[_Change] = [
    ((b"Inputs!$A$1</definedName>", b"Inputs!$B$2</definedName>"), "the name rate"),
    ((b'<definedName name="Rate">Inputs!$A$1</definedName>', b""), "the name rate"),
    ((b"</definedNames>", b'<definedName name="Zins">1</definedName></definedNames>'), "the name zins"),
]
TABS: Sequence[_Change] = [
    ((b'<sheet name="Inputs"', b'<sheet state="hidden" name="Inputs"'), "the sheet Inputs"),
    ((b'<sheet name="Inputs"', b'<sheet name="Inputs 2"'), "the sheet Inputs"),
    ((b"<workbookPr ", b'<workbookPr date1904="1" '), "the date system"),
]


def _in_book(changes: Sequence[_Change]) -> Callable[[Parts, Random], str]:
    def alter(parts: Parts, random: Random) -> str:
        change, where = random.choice(changes)
        parts[BOOK] = parts[BOOK].replace(*change)
        return where

    return alter


def _added(parts: Parts, random: Random) -> str:
    row = random.randint(40, 900)
    cell = b'<row r="%d"><c r="A%d"><v>7</v></c></row></sheetData>' % (row, row)
    parts[SHEET] = parts[SHEET].replace(b"</sheetData>", cell)
    return f"Report!A{row}"


def _removed(parts: Parts, random: Random) -> str:
    match = random.choice([*_NUMBER.finditer(parts[SHEET]), *_TEXT.finditer(parts[SHEET])])
    parts[SHEET] = parts[SHEET].replace(match[0], b"")
    return f"Report!{match[1].decode()}"


def _part(parts: Parts, random: Random) -> str:
    name = random.choice([each for each in _PLAIN_PARTS if each in parts])
    content = bytearray(parts[name])
    at = random.choice([at for at, byte in enumerate(content) if 48 <= byte <= 57])
    content[at] = 48 + (content[at] - 47) % 10
    parts[name] = bytes(content)
    return name


ALTERATIONS: dict[str, Callable[[Parts, Random], str]] = {
    "a number": _number,
    "a text": _text,
    "a formula": _formula,
    "a number format": _format,
    "a name": _in_book(NAMES),
    "a sheet": _in_book(TABS),
    "a further cell": _added,
    "a missing cell": _removed,
    "another part": _part,
}


def attack(count: int, seed: int, folder: Path) -> Found:
    """Alter the two signed books `count` times."""
    found, random = Found(), Random(seed)
    os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
    with signed_books(folder) as books:
        _round_trips(books, folder, found)
        contents = {"live": books.live.read_bytes(), "frozen": books.frozen.read_bytes()}
        cells = {name: verify_book(folder / f"{name}.xlsx").cells for name in contents}
        for number in range(count):
            kind = list(ALTERATIONS)[number % len(ALTERATIONS)]
            name = random.choice(list(contents))
            parts = parts_of(contents[name])
            if kind == "a formula" and not _FORMULA.search(parts[SHEET]):
                continue
            where = ALTERATIONS[kind](parts, random)
            path = folder / "altered.xlsx"
            path.write_bytes(packed(parts))
            found.kinds[kind] += 1
            if problem := _problem(kind, where, verify_book(path), cells[name]):
                found.wrong.append(f"{number} {name}, {kind} {where}: {problem}")
    return found


def _problem(kind: str, where: str, verified: Verified, cells: int) -> str:
    """What verify says wrongly of one alteration; empty where all is right."""
    named = [each.where for each in verified.differences]
    coverage = verified.coverage
    if kind == "a sheet" and where in named and coverage.cells == cells:
        return ""  # the cells of a sheet under another name are those of another sheet
    if verified.file.is_as_signed or coverage.cells != cells or coverage.uncovered != (kind == "a further cell"):
        return f"not told that the file is another one, or covered: {coverage}"
    if kind == "another part":
        return "" if verified.file.changed == [where] and not named else f"named: {verified.file.changed}, {named}"
    return "" if named == [where] else f"named: {named}"


def _round_trips(books: SignedBooks, folder: Path, found: Found) -> None:
    """Copies that another program saved without changing anything, and lines as git writes them on Windows."""
    out = folder / "saved"
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    if shutil.which("soffice"):
        command = ["soffice", profile, "--headless", "--convert-to", "xlsx", "--outdir", out, books.frozen]
        subprocess.run(command, capture_output=True, check=False, timeout=300)
        _expect_same(out / "frozen.xlsx", books.audit, "frozen.xlsx", found)
    for path in (books.live, books.frozen):
        openpyxl.load_workbook(path).save(folder / "saved.xlsx")
        _expect_same(folder / "saved.xlsx", books.audit, path.name, found)
    windows = folder / "windows.jsonl"
    windows.write_bytes(books.audit.read_bytes().replace(b"\n", b"\r\n"))
    for path in (books.live, books.frozen):
        _expect_same(path, windows, path.name, found)


def _expect_same(path: Path, audit: Path, named: str, found: Found) -> None:
    verified = verify_book(path, audit, named=named)
    found.round_trips += 1
    if not verified.holds:
        first = verified.differences[:3]
        found.wrong.append(f"{path.name} was only saved again: {first} {verified.problems}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alterations", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = attack(given.alterations, given.seed, Path(folder))
    for line in found.wrong[:40]:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{dict(found.kinds)}, {found.round_trips} round trips\n")
    conclude(Told(sum(found.kinds.values()), wrong=len(found.wrong)))


if __name__ == "__main__":
    main()
