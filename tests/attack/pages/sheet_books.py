"""Real workbooks in the sheet in the browser: opened, one cell edited, saved, and read again by four programs.

    python -m tests.attack.pages.sheet_books --books 300 --seed 1

Every part of the file but those with changed cells keeps its bytes; whatever a program could read of the file before,
it reads of the copy; what cannot be opened is refused with a sentence.
"""

from __future__ import annotations

import argparse
import base64
import re
import time
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

from lxml import etree
from openpyxl.utils.datetime import to_excel

from addin.workbook.ooxml.stored import MAIN
from tests.addin.excel.parts.chromium import Chromium
from tests.addin.sheet.parts.pages import SheetPage, opened_sheet, sheet_server
from tests.addin.sheet.parts.readers import Place, by_libreoffice, by_openpyxl, by_pandas, by_sheetjs
from tests.attack.parts.chromium_world import chromium_world
from tests.attack.parts.told import Told, conclude
from tests.embedded import EmbeddedService

BOOKS = Path(__file__).parents[4] / "shared/truth/books"
LONGEST_S = 45
"""How long a book may take to open or to be saved on a busy machine; most take less than a second."""

NEW, ROW = 41.625, 30
"""What is entered in the first column, and into which row, counted from 0."""

_NAMING_CHAIN = ("[Content_Types].xml", "xl/_rels/workbook.xml.rels")
OPEN = """async ([content, name]) => {
  const bytes = Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
  await sheet.open(new File([bytes], name));
  const message = document.getElementById("message");
  return message.hidden || message.className === "note" ? "" : message.textContent;
}"""
EDIT = """([row, content]) => {
  const { model } = sheet.book, { getters } = model;
  const sheetId = getters.getActiveSheetId();
  delete sheet.book.unlocked[sheetId]; // as after its protection was taken away
  const held = getters.getCell({ sheetId, col: 0, row })?.isFormula ?? false;
  const { isSuccessful } = model.dispatch("UPDATE_CELL", { sheetId, col: 0, row, content });
  const why = isSuccessful ? "" : document.getElementById("message").textContent;
  return { sheet: getters.getSheetName(sheetId), cell: o_spreadsheet.helpers.toXC(0, row), why, held };
}"""
SAVE = """async () => {
  const blob = await sheet.copy();
  await sheet.drafts.downloaded();
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}"""
_SHEET = re.compile(r"(?:xl/)?(?:worksheets/)?[^/_]*sheet[^/_]*\.xml", re.IGNORECASE)
_CALCULATION = f"{{{MAIN}}}calcPr"
RAW = re.compile(
    r"\b(?:Type|Reference|Range)Error|Cannot read propert|is not a function|undefined|unexpected", re.IGNORECASE
)
"""What no user should read."""


@dataclass
class Found:
    """What became of the books."""

    refused: Counter[str] = field(default_factory=Counter)
    copies: list[tuple[Path, Place]] = field(default_factory=list)
    hung: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    differing: Counter[str] = field(default_factory=Counter)


def chosen(count: int, seed: int) -> list[Path]:
    """So many of the books, the same for the same seed; none where they are not here."""
    books = sorted(BOOKS.glob("*.xls[xm]"))
    return Random(seed).sample(books, min(count, len(books)))


def attack_books(chromium: Chromium, service: EmbeddedService, folder: Path, books: Sequence[Path]) -> Found:
    """Open, edit and save each of `books`, then let other programs read the copies."""
    found = Found()
    with sheet_server(service, folder) as url:
        left = list(books)
        while left:  # a page that hangs is left for a new one
            with opened_sheet(chromium, url) as page:
                while left:
                    book = left.pop(0)
                    began = time.monotonic()
                    try:
                        _one(page, book, folder, found)
                    except Exception as error:  # noqa: BLE001 - one book must not end the others
                        kind = found.hung if time.monotonic() - began >= LONGEST_S else found.wrong
                        kind.append(f"{book.name}: {type(error).__name__}: {str(error)[:200]}")
                        break
                page.complaints.clear()
                page.tab.errors.clear()
    _read(found)
    return found


def _one(page: SheetPage, book: Path, folder: Path, found: Found) -> None:
    message = page.tab.evaluate(OPEN, [base64.b64encode(book.read_bytes()).decode(), book.name])
    if message:
        found.refused[message] += 1
        if RAW.search(message) or "/tmp" in message:
            found.wrong.append(f"{book.name}: {message}")
        return
    found.differing[str(page.tab.evaluate("sheet.book.workedOut.differing.size"))] += 1
    edited = page.tab.evaluate(EDIT, [ROW, str(NEW)])
    if edited["why"]:
        found.refused[edited["why"]] += 1
        if not edited["why"].startswith("A cell that a pivot table fills"):
            found.wrong.append(f"{book.name}: {edited['sheet']}!{edited['cell']} could not be edited: {edited['why']}")
        return
    copy = folder / f"{len(found.copies):03d}-{book.name}"
    copy.write_bytes(base64.b64decode(page.tab.evaluate(SAVE)))
    found.copies.append((book, Place(copy, edited["sheet"], edited["cell"])))
    found.wrong += [f"{book.name}: {each}" for each in other_parts_changed(book, copy, had_formula=edited["held"])]


def other_parts_changed(book: Path, copy: Path, *, had_formula: bool = False) -> list[str]:
    """The parts of a copy that are not as in the book, but for sheets.

    Where a formula went, the list of formulas goes, which Excel would find damaged, and what names it.
    """
    with zipfile.ZipFile(book) as one, zipfile.ZipFile(copy) as other:
        names, copied = set(one.namelist()), set(other.namelist())
        changed = [name for name in sorted(names & copied) if one.read(name) != other.read(name)]
        changed = [
            name
            for name in changed
            if not name.endswith("/workbook.xml") or not _only_marked(one.read(name), other.read(name))
        ]
    alone = sorted(names ^ copied)
    if had_formula and alone == ["xl/calcChain.xml"]:
        alone, changed = [], [name for name in changed if name not in _NAMING_CHAIN]
    wrong = [f"{name} is only in one of them" for name in alone]
    return wrong + [f"{name} is changed" for name in changed if not _SHEET.fullmatch(name)]


def _only_marked(before: bytes, after: bytes) -> bool:
    """Whether all that was done to a workbook part is the mark that programs have to work the book out."""
    one, other = etree.fromstring(before), etree.fromstring(after)
    calculations = [other.find(_CALCULATION), one.find(_CALCULATION)]
    if calculations[0] is None or calculations[0].attrib.pop("fullCalcOnLoad", "") != "1":
        return False
    if calculations[1] is None:
        if calculations[0].attrib:
            return False
        other.remove(calculations[0])
    else:
        calculations[1].attrib.pop("fullCalcOnLoad", "")
    return bool(etree.tostring(one, method="c14n") == etree.tostring(other, method="c14n"))


def _read(found: Found) -> None:
    before = [Place(book, place.sheet, place.cell) for book, place in found.copies]
    after = [place for _, place in found.copies]
    for read in (by_openpyxl, by_pandas, by_sheetjs, by_libreoffice):
        of_copies: Any = read(after)
        if of_copies is None:
            continue
        failed = [number for number, place in enumerate(after) if not _is_new(of_copies[place])]
        of_books: Any = read([before[number] for number in failed]) if failed else {}
        for number in failed:
            if not isinstance(of_books[before[number]], Exception):
                told = f"{read.__name__}: {before[number].path.name}: {of_copies[after[number]]!r} in place of {NEW}"
                found.wrong.append(told[:300])


def _is_new(value: Any) -> bool:
    try:
        if isinstance(value, datetime):  # a cell that is formatted as a day
            value = to_excel(value)
        return float(value) == NEW  # one that is formatted as text holds it as text
    except (TypeError, ValueError):
        return False


def main() -> None:
    """Attack, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--books", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    books = chosen(options.books, options.seed)
    if not books:
        raise SystemExit("there are no books here")
    with chromium_world() as (chromium, service, folder):
        found = attack_books(chromium, service, folder, books)
    print(f"  {len(books)} books, {len(found.copies)} copies; cells that differ: {dict(found.differing)}")  # noqa: T201
    print("  refused:", *(f"{count} × {text}" for text, count in found.refused.items()), sep="\n    ")  # noqa: T201
    print(f"  hung: {len(found.hung)}", *found.hung, sep="\n    ")  # noqa: T201
    print(f"  wrong: {len(found.wrong)}", *found.wrong[:60], sep="\n    ")  # noqa: T201
    conclude(Told(len(books), hung=len(found.hung), wrong=len(found.wrong)))


if __name__ == "__main__":
    main()
