"""Formulas with Excel's own results, typed into the sheet in the browser: no cell may show another value unmarked.

    python -m tests.attack.pages.typed_formulas --lines 7231

Each line stands on a sheet of its own. A value is right, wrong, or not proven, which the cell says. A few results of
the truth are one cell of several, by where the formula stood; here it shows all of them.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from addin.sheet.formulas import typed_form
from addin.workbook.ooxml.positions import address
from tests.addin.excel.parts.chromium import Chromium
from tests.addin.sheet.parts.pages import SETTLED, SheetPage, opened_sheet, sheet_server
from tests.attack.parts.chromium_world import chromium_world
from tests.attack.parts.told import Told, conclude
from tests.attack.workbooks.excel_lines.lines import LINES, Line, is_right, read_lines, spot_of_name
from tests.attack.workbooks.excel_lines.measure import sample
from tests.embedded import EmbeddedService
from udfs.cells import Scalar
from udfs.errors import CellError, ErrorCode

AT_ONCE = 40
"""Lines that are typed before anybody looks."""

A_PAGE = 400
"""Lines after which a new page goes on: each leaves sheets in what the component could undo."""

_SHOWS_PLACE = re.compile(r"\b(?:ROW|COLUMN)\(\)|^=\$?[A-Z]+\$?\d+:\$?[A-Z]+\$?\d+$")
"""Where such a formula stands decides on its value, and the lines do not tell that."""
_SPILLS = re.compile(r"ANCHORARRAY\((\$?[A-Z]+\$?\d+)\)")
_RANGE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})\b")
_COLUMNS = re.compile(r"\$?([A-Z]{1,3}):\$?([A-Z]{1,3})\b(?![\d(])")

TYPE = """([lines]) => {
  const { model } = sheet.book;
  for (const { name, rows, columns, cells } of lines) {
    model.dispatch("CREATE_SHEET", { sheetId: name, name, position: model.getters.getSheetIds().length });
    sheet.book.growTo(name, rows, columns);
    for (const [xc, content] of cells) {
      model.dispatch("UPDATE_CELL", { sheetId: name, ...o_spreadsheet.helpers.toCartesian(xc), content });
    }
  }
}"""
CLEAR = """([names]) => {
  for (const sheetId of names) sheet.book.model.dispatch("DELETE_SHEET", { sheetId, sheetName: sheetId });
}"""
SHOWN = """([places]) => places.map(([sheetId, xc]) => {
  const { getters } = sheet.book.model;
  const position = { sheetId, ...o_spreadsheet.helpers.toCartesian(xc) };
  const { value, type, message } = getters.getEvaluatedCell(position);
  const zone = getters.getSpreadZone(position);
  const others = zone ? getters.getEvaluatedCellsInZone(sheetId, zone).map((cell) => cell.value) : [];
  return { value, type, message: String(message ?? ""), others };
})"""


@dataclass
class Found:
    """What became of the lines."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)


def chosen(count: int | None) -> list[Line]:
    """So many lines whose value does not depend on where they stand; none where Excel's results are not there."""
    if not LINES.exists():
        return []
    return sample([line for line in read_lines() if not _depends_on_more(line)], count)


def _depends_on_more(line: Line) -> bool:
    """Whether a line does not tell what its value depends on: its place, or what a cell without a formula spills."""
    spills = [name.replace("$", "") for name in _SPILLS.findall(line.formula)]
    is_untold = any(not str(line.cells.get(name, "=")).startswith("=") for name in spills)
    return is_untold or any(map(_SHOWS_PLACE.search, _formulas(line)))


def _formulas(line: Line) -> list[str]:
    return [line.formula, *(value for value in line.cells.values() if isinstance(value, str))]


def attack_typing(chromium: Chromium, service: EmbeddedService, folder: Path, lines: Sequence[Line]) -> Found:
    """Type the lines, and compare what the cells show with what Excel did."""
    found = Found()
    with sheet_server(service, folder) as url:
        for first in range(0, len(lines), A_PAGE):
            with opened_sheet(chromium, url) as page:
                for start in range(first, min(first + A_PAGE, len(lines)), AT_ONCE):
                    _some(page, lines[start : start + AT_ONCE], found)
                page.tab.errors.clear()  # the component logs what its own functions fail at
                page.complaints.clear()
            print(f"  {first:,} {dict(found.counts)}", *found.wrong, sep="\n    ", flush=True)  # noqa: T201
    return found


def _some(page: SheetPage, lines: Sequence[Line], found: Found) -> None:
    typed = [_typed(f"L{number}", line) for number, line in enumerate(lines)]
    page.tab.evaluate(TYPE, [typed])
    page.until(SETTLED)
    shown = page.tab.evaluate(SHOWN, [[[each["name"], each["cells"][-1][0]] for each in typed]])
    page.tab.evaluate(CLEAR, [[each["name"] for each in typed]])
    for line, cell in zip(lines, shown, strict=True):
        value = _scalar(cell)
        if cell["message"].startswith(("not proven: ", "Unknown function: ")):
            found.counts["not proven"] += 1
            found.left[cell["message"]] += 1
        elif is_right(value, line.excel):
            found.counts["right"] += 1
        elif any(is_right(_scalar({"type": "", "value": each}), line.excel) for each in cell["others"]):
            found.counts["one of several"] += 1
        else:
            found.counts["wrong"] += 1
            cells = ", ".join(f"{name}={value!r}" for name, value in list(line.cells.items())[:10])
            found.wrong.append(f"{line.formula} [{cells}] excel {line.excel!r}, shown {value!r} {cell['message']}")


def _typed(name: str, line: Line) -> dict[str, Any]:
    """A line as a sheet: its cells, and the formula below and right of all that it reads."""
    named = [(letters + number) for letters, number in _RANGE.findall(line.formula)]
    named += [f"{letters}1" for pair in _COLUMNS.findall(line.formula) for letters in pair]
    spots = [spot_of_name(cell) for cell in (*line.cells, *named)]
    row = min(max((row for row, _ in spots), default=1), 2_000) + 1
    column = min(max((column for _, column in spots), default=1), 200) + 1
    cells = [*_contents(line), [address((row, column)), typed_form(line.formula)]]
    return {"name": name, "rows": row + 60, "columns": column + 30, "cells": cells}


def _contents(line: Line) -> Iterator[list[str]]:
    """What a user types to have these cells."""
    for name, value in line.cells.items():
        match value:
            case "":
                continue
            case {"text": text}:
                yield [name, f"'{text}"]
            case {"error": code}:
                yield [name, f"={code}"]
            case bool():
                yield [name, str(value).upper()]
            case str():
                yield [name, typed_form(value) if value.startswith("=") else f"'{value}"]
            case _:
                yield [name, repr(value)]


def _scalar(cell: dict[str, Any]) -> Scalar:
    if cell["type"] == "error":
        return CellError(ErrorCode.NA, str(cell["value"]).replace("#REF!", "#REF").replace("#REF", "#REF!"))
    value: Scalar = cell["value"]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def main() -> None:
    """Type lines, and print what became of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lines", type=int, default=7_231, help="as many lines, chosen evenly")
    parser.add_argument("--from", dest="first", type=int, default=0, help="leave out so many of them")
    parser.add_argument("--to", dest="last", type=int, help="end after so many of them")
    parser.add_argument("--show", action="store_true", help="print why lines are left")
    arguments = parser.parse_args()
    with chromium_world() as (chromium, service, folder):
        found = attack_typing(chromium, service, folder, chosen(arguments.lines)[arguments.first : arguments.last])
    print(", ".join(f"{name} {count}" for name, count in sorted(found.counts.items())))  # noqa: T201
    for why, count in found.left.most_common(40 if arguments.show else 0):
        print(f"  {count:5} {why}")  # noqa: T201
    print(f"  wrong: {len(found.wrong)}", *found.wrong, sep="\n    ")  # noqa: T201
    conclude(Told(found.counts.total(), wrong=len(found.wrong)))


if __name__ == "__main__":
    main()
