"""How often the calculation comes to what Excel itself had shown: `python -m docs.generate.calculation`.

Needs the lines of the truth, see `tests.attack.workbooks.excel_lines`, real books with the results that Excel stored,
and LibreOffice for functions of which neither tells. It writes
`addin/workbook/calculation/functions.json`, by which a refresh decides what needs a second engine; `make reference`
makes the table in the pages of it.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from addin.formulas.shape import shape_of
from addin.workbook.calculation.book_formulas import sized_like
from addin.workbook.calculation.engine.process import DYNAMIC, PLAIN, VALUE, EngineCell, EngineProcess, Kind
from addin.workbook.calculation.functions import skipped_in
from addin.workbook.calculation.reading.analysis import analysed
from addin.workbook.calculation.reading.shapes import (
    DEPENDS_ON_THE_PROGRAM,
    RANDOM,
    Piece,
    Replacement,
    Shape,
    SizedLike,
    SpillOf,
)
from addin.workbook.calculation.results import is_lost, to_cell
from docs.generate.calculation.book_evidence import judged_in
from docs.generate.calculation.function_cases import compared
from tests.attack.workbooks.excel_lines.lines import FORMULA, Line, is_right, read_lines, spot_of_name

MEASURED = Path(__file__).parents[3] / "addin" / "workbook" / "calculation" / "functions.json"
BOOKS = Path(__file__).resolve().parents[4] / "shared" / "truth" / "books"
LINES_AT_ONCE = 200
_NO_FUNCTION = {"error": "#NAME?"}
_MANY = object()
"""Stands for several values: which of them Excel showed depends on a place that the line does not tell."""


class _AnyName:
    """Lets every name stand for itself."""

    def is_defined(self, _text: str, /) -> bool:
        """Never: each stands for what it stands for in the formula."""
        return False

    def lambda_of(self, _text: str, /) -> None:
        """Never."""

    def name(self, text: str) -> Replacement:
        """The name itself."""
        return Replacement((text,))

    def table(self, text: str) -> Replacement:
        """The reference itself."""
        return Replacement((text,))

    def calls_ours(self, _text: str, /) -> bool:
        """Never."""
        return False


def measure(lines: Sequence[Line]) -> dict[str, dict[str, Any]]:
    """Each function with the number of lines, the right ones, and the kinds of arguments of the others."""
    others = set[str]()
    judged = [*_judged(lines), *(each for each in judged_in(BOOKS) if each[0].uses)]
    total = Counter(use for shape, _ in judged for use in shape.uses)
    right = Counter(use for shape, is_same in judged if is_same for use in shape.uses)
    # Of the functions in a formula, the one that is wrong most often is the one to blame.
    blamed = {
        min(shape.uses, key=lambda use: (right[use] / total[use], use)) for shape, is_same in judged if not is_same
    }
    found: dict[str, dict[str, Any]] = {}
    for shape, is_same in judged:
        for name in {name for name, _ in shape.uses}:
            here = found.setdefault(name, {"lines": 0, "right": 0, "wrong": {}})
            here["lines"] += 1
            here["right"] += is_same
    for name, kinds in sorted(blamed):
        found[name]["wrong"][kinds] = round(right[name, kinds] / total[name, kinds], 3)
    by_definition = list(_compared())
    for shape, is_same in by_definition:
        for name in {name for name, _ in shape.uses} - (found.keys() - others) - DEPENDS_ON_THE_PROGRAM - RANDOM:
            others.add(name)
            here = found.setdefault(name, {"lines": 0, "right": 0, "wrong": {}, "by_excel": False})
            here["lines"] += 1
            here["right"] += is_same
    for name, ways in _skipped([*judged, *by_definition]).items():
        if name in found:
            found[name]["skipped"] = sorted(ways)
    return {name: each for name, each in sorted(found.items()) if each["right"]}


def _skipped(judged: Sequence[tuple[Shape, bool]]) -> dict[str, set[str]]:
    """The ways to leave arguments of each function out that came out right, and never wrong."""
    right, wrong = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for shape, is_same in judged:
        for name, kinds in shape.uses:
            if skipped := skipped_in(kinds):
                (right if is_same else wrong)[name].add(skipped)
    return {name: ways - wrong[name] for name, ways in right.items() if ways - wrong[name]}


def _compared() -> Iterator[tuple[Shape, bool]]:
    """What each case does, and whether it came to the same as LibreOffice, or to what its definition says."""
    for formula, is_same in compared():
        yield analysed(shape_of(formula)[0], _AnyName(), "DS"), is_same
        if not is_same:
            print(f"differs: {formula}")  # noqa: T201


def _judged(lines: Sequence[Line]) -> Iterator[tuple[Shape, bool]]:
    """What each line does, and whether the engine came to what Excel showed; but for lines that tell too little."""
    for line, shown in zip(lines, worked_out(lines), strict=True):
        shape = shape_of_line(line)
        if (
            line.excel == _NO_FUNCTION
            or shown is _MANY
            or shape.refused
            or shape.functions & (DEPENDS_ON_THE_PROGRAM | RANDOM)
        ):
            continue
        if shape.uses and not shape.spills and not _depends_on_place(shape) and not is_lost(shape, shown):
            yield shape, is_right(to_cell(shown), line.excel)


def _depends_on_place(shape: Shape) -> bool:
    """Whether the formula shows where it stands, which the line does not tell."""
    return not shape.uses.isdisjoint({("ROW", ""), ("COLUMN", "")}) or any("@" in str(each) for each in shape.pieces)


def shape_of_line(line: Line) -> Shape:
    """What a line's formula does."""
    return analysed(shape_of(line.formula.removeprefix("="))[0], _AnyName(), "DS")


def worked_out(lines: Sequence[Line], kind: Kind = Kind.FORMULON) -> Iterator[Any]:
    """What an engine makes of each line."""
    with EngineProcess(kind, now=time.time()) as engine:
        for begin in range(0, len(lines), LINES_AT_ONCE):
            part = lines[begin : begin + LINES_AT_ONCE]
            sheets = [f"L{number}" for number in range(len(part))]
            placed = zip(sheets, part, strict=True)
            engine.load(sheets, [cell for sheet, line in placed for cell in _cells(sheet, line)])
            engine.evaluate()
            places = [(sheet, spot_of_name(FORMULA)) for sheet in sheets]
            sizes = engine.extents(places)
            values = engine.values(places)
            yield from (_MANY if size else value for size, value in zip(sizes, values, strict=True))


def _cells(sheet: str, line: Line) -> Iterator[EngineCell]:
    for name, value in line.cells.items():
        row, column = spot_of_name(name)
        if isinstance(value, str) and value.startswith("="):
            yield sheet, row, column, PLAIN, _plain(value)
        else:
            yield sheet, row, column, VALUE, value["text"] if isinstance(value, dict) and "text" in value else value
    yield sheet, *spot_of_name(FORMULA), DYNAMIC, _plain(line.formula)


def _plain(formula: str) -> str:
    """A formula with the names of functions as engines know them."""
    key, references = shape_of(formula.removeprefix("="))
    shape = analysed(key, _AnyName(), "DS")
    if shape.refused:
        return formula
    return "=" + "".join(_text(piece, references) for piece in shape.pieces)


def _text(piece: Piece, references: Sequence[str]) -> str:
    match piece:
        case int():
            return references[piece]
        case SpillOf():
            return f"{references[piece.reference]}#"
        case SizedLike():
            return str(sized_like(references, piece))
        case _:
            return str(piece)


def main() -> None:
    """Measure, and write what was found."""
    found = measure(read_lines())
    MEASURED.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    lines = sum(each["lines"] for each in found.values())
    right = sum(each["right"] for each in found.values())
    print(f"{len(found)} functions, {right:,} of {lines:,} uses right")  # noqa: T201


if __name__ == "__main__":
    main()
