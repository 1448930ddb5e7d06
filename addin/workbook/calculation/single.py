"""One formula without a book: worked out with calls of ours answered in passes, for the command line."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any

from addin.formulas import Area
from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.calculation import MAX_PASSES
from addin.workbook.calculation.engine.engine import EngineFailedError, FormualizerEngine
from addin.workbook.calculation.functions import doubtful, plain_name
from addin.workbook.calculation.lexer import Token, area_of, shape_of, tokens
from addin.workbook.calculation.results import doubt_about, to_cell
from addin.workbook.calculation.rewriting import analysed
from addin.workbook.calculation.shapes import Replacement
from addin.workbook.ooxml.cellformulas import Formula
from udfs.cells import Scalar

_SHEET = "Formula"
_OUTSIDE = "means nothing outside of a workbook; give the value itself, text in double quotes"


_SPACE_BEFORE_BRACKET = re.compile(r"""("[^"]*"|'[^']*')|(?<=[\w.])\s+(?=\()""")


@dataclass(frozen=True, slots=True)
class _NoNames:
    """Outside of a book no name stands for anything, but those that the formula itself gives (`LET`, `LAMBDA`)."""

    given: Set[str]

    def name(self, text: str) -> Replacement:
        """A refusal for every name from outside."""
        if text.casefold() in self.given:
            return Replacement((text,))
        return Replacement(refused=f"{text[:60]} {_OUTSIDE}")

    def table(self, text: str) -> Replacement:
        """Always a refusal."""
        return Replacement(refused=f"{text[:60]} {_OUTSIDE}")

    def calls_ours(self, _text: str, /) -> bool:
        """Never: there is no name."""
        return False


def read_single(formula: str, namespace: str) -> BookFormula:
    """The formula, ready to be worked out; raises `EngineFailedError`, which says why it cannot be."""
    plain = _SPACE_BEFORE_BRACKET.sub(r"\1", formula.strip().removeprefix("="))
    key, references = shape_of(plain)
    shape = analysed(key, _NoNames(_names_given(tokens(key) or [])), namespace)
    why = f"a reference to cells {_OUTSIDE}" if references else shape.refused
    if why := why or doubtful(shape.functions, compared=False):
        raise EngineFailedError(f"{formula[:80]}: {why}")
    return BookFormula((_SHEET, (1, 1)), Formula(formula, (1, 1), is_array=True, is_dynamic=True), shape, (), 1, [])


def _names_given(read: Sequence[Token]) -> set[str]:
    """The names that `LET` and `LAMBDA` introduce, in lower case."""
    found = set()
    solid = [token for token in read if token.kind != "space"]
    inside: list[tuple[str, int]] = []  # each open bracket: whose it is, and how many arguments it had so far
    for before, token, after in zip([None, *solid], solid, [*solid[1:], None], strict=False):
        if token.kind in ("call", "open"):
            inside.append((plain_name(token.text.rstrip("(")), 0))
        elif token.kind == "close" and inside:
            inside.pop()
        elif token.kind == "separator" and inside:
            inside[-1] = (inside[-1][0], inside[-1][1] + 1)
        elif token.kind == "name" and inside and before and after:
            owner, place = inside[-1]
            gives = owner == "LAMBDA" or (owner == "LET" and place % 2 == 0)
            if gives and before.kind in ("call", "separator") and after.kind == "separator":
                found.add(token.text.casefold())
    return found


async def worked_out(
    formula: BookFormula, now: float, ask: Callable[[Sequence[list[Any]]], Awaitable[Sequence[Any]]]
) -> list[list[Scalar]]:
    """The rows that the formula comes to; `ask` gives what the engine gets for calls of ours: name and arguments.

    Raises `EngineFailedError`.
    """
    with FormualizerEngine(now=now) as engine:
        failed = engine.load([_SHEET], [(_SHEET, 1, 1, True, formula.engine_text({}))])
        if failed:
            raise EngineFailedError(f"{formula.formula.text[:80]}: {failed[0][3]}")
        answers: dict[str, Any] = {}
        for _ in range(MAX_PASSES):
            asked = engine.evaluate(answers).asked
            if not asked:
                break
            answers = dict(zip(asked, await ask(list(asked.values())), strict=True))
        extent = engine.extents([(_SHEET, "A1")])[0]
        area = (area_of(extent.rpartition("!")[2]) if extent else None) or Area(1, 1, 1, 1)
        columns = range(1, area.last_column + 1)
        values = engine.values([(_SHEET, (row, column)) for row in range(1, area.last_row + 1) for column in columns])
    rows = [values[at : at + len(columns)] for at in range(0, len(values), len(columns))]
    if why := doubt_about(formula, rows):
        raise EngineFailedError(f"{formula.formula.text[:80]}: {why}")
    return [[to_cell(value) for value in row] for row in rows]
