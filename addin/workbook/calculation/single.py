"""One formula without a book: worked out with calls of ours answered in passes, for the command line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from addin.formulas import Area
from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.calculation import MAX_PASSES
from addin.workbook.calculation.engine.engine import EngineFailedError, FormualizerEngine
from addin.workbook.calculation.functions import doubtful
from addin.workbook.calculation.lexer import area_of, shape_of
from addin.workbook.calculation.results import doubt_about, to_cell
from addin.workbook.calculation.rewriting import analysed
from addin.workbook.calculation.shapes import Replacement
from addin.workbook.ooxml.cellformulas import Formula
from udfs.cells import Scalar

_SHEET = "Formula"
_OUTSIDE = "means nothing outside of a workbook; give the value itself, text in double quotes"


@dataclass(frozen=True, slots=True)
class _NoNames:
    """Outside of a book no name stands for anything."""

    def name(self, text: str) -> Replacement:
        """Always a refusal."""
        return Replacement(refused=f"{text[:60]} {_OUTSIDE}")

    def table(self, text: str) -> Replacement:
        """Always a refusal."""
        return Replacement(refused=f"{text[:60]} {_OUTSIDE}")


def read_single(formula: str, namespace: str) -> BookFormula:
    """The formula, ready to be worked out; raises `EngineFailedError`, which says why it cannot be."""
    key, references = shape_of(formula.strip().removeprefix("="))
    shape = analysed(key, _NoNames(), namespace)
    why = f"a reference to cells {_OUTSIDE}" if references else shape.refused
    if why := why or doubtful(shape.functions, compared=False):
        raise EngineFailedError(f"{formula[:80]}: {why}")
    return BookFormula((_SHEET, (1, 1)), Formula(formula, (1, 1), is_array=True, is_dynamic=True), shape, (), 1, [])


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
