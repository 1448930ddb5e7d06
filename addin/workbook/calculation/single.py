"""One formula without a book: worked out with calls of ours answered in passes, for the command line."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from addin.formulas import Area
from addin.formulas.shape import shape_of
from addin.workbook.calculation.book_formulas import BookFormula
from addin.workbook.calculation.calculation import NOT_ANSWERED
from addin.workbook.calculation.engine.process import DYNAMIC, VALUE, EngineFailedError
from addin.workbook.calculation.engine_book import as_values
from addin.workbook.calculation.engines import Engines
from addin.workbook.calculation.functions import differs, needs_judge, outside_of_values
from addin.workbook.calculation.names import quoted
from addin.workbook.calculation.proving.jumping import JUMPS
from addin.workbook.calculation.proving.proof import NOT_SORTED
from addin.workbook.calculation.reading.analysis import analysed
from addin.workbook.calculation.reading.letters import Letters, depends_on, letters_of
from addin.workbook.calculation.reading.lookups import Order, mode_of, order_of
from addin.workbook.calculation.reading.noise import Move, written
from addin.workbook.calculation.reading.oddities import (
    DOUBTFUL_NUMBER,
    HARDLY_ANY,
    OF_PATTERNS,
    OTHER_TILDE,
    has_other_tilde,
    is_doubtful_number,
    is_hardly_any,
)
from addin.workbook.calculation.reading.rounds import UNKNOWN, all_answered, chosen
from addin.workbook.calculation.reading.shapes import Replacement, Shape
from addin.workbook.calculation.results import doubt_about, is_reproduced, jumps, to_cell
from addin.workbook.ooxml.cellformulas import Formula
from udfs.cells import Scalar

_SHEET, _ANSWERS = "Formula", "answers"
_OUTSIDE = "means nothing outside of a workbook; give the value itself, text in double quotes"


_SPACE_BEFORE_BRACKET = re.compile(r"""("[^"]*"|'[^']*')|(?<=[\w.])\s+(?=\()""")


@dataclass(frozen=True, slots=True)
class _NoNames:
    """Outside of a book no name stands for anything, but those that the formula itself gives (`LET`, `LAMBDA`)."""

    def is_defined(self, _text: str, /) -> bool:
        """Never."""
        return False

    def lambda_of(self, _text: str, /) -> None:
        """Never: there is no name."""

    def name(self, text: str) -> Replacement:
        """A refusal for every name from outside."""
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
    shape = analysed(key, _NoNames(), namespace)
    why = f"a reference to cells {_OUTSIDE}" if references else shape.refused
    if ("ROW", "") in shape.uses or ("COLUMN", "") in shape.uses:
        why = why or f"ROW() and COLUMN() without a reference tell a formula's place, which {_OUTSIDE}"
    if why := why or outside_of_values(shape.functions):
        raise EngineFailedError(f"{formula[:80]}: {why}")
    return BookFormula((_SHEET, (1, 1)), Formula(formula, (1, 1), is_array=True, is_dynamic=True), shape, (), [])


async def worked_out(
    formula: BookFormula, now: float, ask: Callable[[Sequence[list[Any]]], Awaitable[Sequence[Any]]]
) -> list[list[Scalar]]:
    """The rows that the formula comes to; `ask` gives what the engine gets for calls of ours: name and arguments.

    Raises `EngineFailedError`.
    """
    with Engines(now=now) as engines:
        calls = _Calls(formula, engines)
        await calls.answer(ask)
        rows = calls.rows(formula.shape.pieces)
        why = doubt_about(formula, rows) or _odd(calls, rows)
        why = why or differs(formula.shape.uses)
        if not why and (unsure := needs_judge(formula.shape.uses)) and not _agrees(engines, calls, rows):
            why = unsure
    if why:
        raise EngineFailedError(f"{formula.formula.text[:80]}: {why}")
    return [[to_cell(value) for value in row] for row in rows]


class _Calls:
    """The calls of ours in one formula, each answered once what it rests on is known."""

    def __init__(self, formula: BookFormula, engines: Engines) -> None:
        self.formula = formula
        self._engine = engines.formulon
        self.cells: list[tuple[str, int, int, str, Any]] = []
        """The answers as cells of a sheet of their own."""
        self._places = [UNKNOWN if site.rounds else "#N/A" for site in formula.shape.sites]
        self._answers: dict[str, Any] = {}
        """What calls in a LAMBDA were answered, by their keys."""
        self._row = 1
        self._engine.load([_SHEET, _ANSWERS], [])

    async def answer(self, ask: Callable[[Sequence[list[Any]]], Awaitable[Sequence[Any]]]) -> None:
        """Ask until every call that is made has its answer."""
        open_sites = set(range(len(self.formula.shape.sites)))
        while open_sites:
            sites = self.formula.shape.sites
            ready = [site for site in sorted(open_sites) if not sites[site].needs - {site} & open_sites]
            handed = {site for site in ready if sites[site].rounds}
            made = {site: call for site in ready if site not in handed and (call := self._call(site)) is not None}
            settled = {site for site in ready if site not in handed}
            for site in handed:
                if not self._is_made(site) or await self._in_rounds(site, ask):
                    settled.add(site)
            if made:
                answers = await ask(list(made.values()))
                self._put(dict(zip(made, answers, strict=True)))
            if not settled:
                raise EngineFailedError(f"{self.formula.formula.text[:80]}: {NOT_ANSWERED}")
            open_sites -= settled

    async def _in_rounds(self, number: int, ask: Callable[[Sequence[list[Any]]], Awaitable[Sequence[Any]]]) -> bool:
        """Ask what a LAMBDA is handed now; whether all its calls are answered."""
        site, asked = self.formula.shape.sites[number], dict[str, list[Any]]()

        def answer_of(arguments: list[Any]) -> Any:
            call = [site.name, *arguments]
            asked[repr(call)] = call
            return self._answers.get(repr(call))

        def put(known: Mapping[str, Any]) -> None:
            keys = self._area([[key] for key in known])
            self._places[number] = chosen(keys, [self._area(_rows(answer)) for answer in known.values()])

        while True:  # the calls that a LAMBDA makes are limited
            if all_answered(lambda: self.rows(site.rounds), answer_of, put, accumulates=site.accumulates):
                return True
            new = [key for key in asked if key not in self._answers]
            if not new:
                return False
            answers = await ask([asked[key] for key in new])
            self._answers |= dict(zip(new, answers, strict=True))

    def rows(self, pieces: Sequence[Any]) -> list[list[Any]]:
        """Return what a part of the formula comes to; raises `EngineFailedError`."""
        found = self._engine.arrays([(_SHEET, 1, 1, self.text(pieces))])[0]
        if found is None:
            raise EngineFailedError(f"{self.formula.formula.text[:80]}: the formula cannot be read")
        return found

    def text(self, pieces: Sequence[Any]) -> str:
        """A part of the formula as an engine gets it."""
        return f"={self.formula.text_of(pieces, {}, self._places)}"

    def moved(self, move: Move) -> list[list[Any]] | None:
        """The rows where each step that programs round differently comes to hardly anything else."""
        return self._engine.arrays([(_SHEET, 1, 1, written(self.text(self.formula.shape.nudged), "", f"{move:d}"))])[0]

    def _is_made(self, number: int) -> bool:
        """Return whether the formula needs a call to come to its value."""
        guards = self.formula.shape.sites[number].guards
        return all(guard.wanted in [value for row in self.rows(guard.pieces) for value in row] for guard in guards)

    def _call(self, number: int) -> list[Any] | None:
        """The call with its arguments; None where the formula comes to its value without it."""
        site = self.formula.shape.sites[number]
        if not self._is_made(number):
            return None
        if site.constants is not None:
            return [site.name, *site.constants]
        arguments = [self.rows(pieces) if pieces else None for pieces in site.arguments]
        return [site.name, *map(_one_or_rows, arguments)]

    def _put(self, answers: Mapping[int, Any]) -> None:
        for site, answer in answers.items():
            self._places[site] = self._area(_rows(answer))

    def _area(self, rows: Sequence[Sequence[Any]]) -> str:
        """Put rows on the sheet of answers; where they are."""
        first = self._row
        self._row += len(rows)
        cells = [
            (_ANSWERS, first + down, 1 + right, VALUE, value)
            for down, row in enumerate(rows)
            for right, value in enumerate(row)
        ]
        self.cells += cells
        self._engine.set(cells)
        self._engine.evaluate()
        return as_values(quoted(Area(first, 1, self._row - 1, len(rows[0]), _ANSWERS), fixed=True))


def _odd(calls: _Calls, rows: Sequence[Sequence[Any]]) -> str:
    """Return why programs may show something else, whatever engines agree on; empty where they do not."""
    shape = calls.formula.shape
    if is_hardly_any(shape.functions, rows[0][0]):
        return HARDLY_ANY
    if why := _odd_texts(shape):
        return why
    texts = [*shape.pieces, *(value for row in rows for value in row), *(cell[-1] for cell in calls.cells)]
    if seen := depends_on(shape.functions) & letters_of(texts):
        return min(seen)
    if Letters.ORDER in letters_of(shape.ordered):
        return Letters.ORDER
    for lookup in shape.lookups:
        order = Order(value for row in calls.rows(lookup.among) for value in row)
        sought = [value for row in calls.rows(lookup.wanted) for value in row]
        mode = calls.rows(lookup.mode)[0][0] if lookup.mode else None
        if not order.is_certain(sought, order_of(lookup.name, mode_of(mode)) if lookup.mode else lookup.order):
            return NOT_SORTED
    for pieces, why in shape.required:
        if calls.rows(pieces) != [[True]]:
            return why
    if shape.nudged and jumps(rows, *(calls.moved(move) for move in Move)):
        return JUMPS
    return ""


def _odd_texts(shape: Shape) -> str:
    """Return why programs may read a text in a formula differently; empty where they do not."""
    if shape.functions & OF_PATTERNS and any(map(has_other_tilde, shape.texts)):
        return OTHER_TILDE
    return DOUBTFUL_NUMBER if any(map(is_doubtful_number, shape.texts)) else ""


def _rows(answer: Any) -> Sequence[Sequence[Any]]:
    return answer if isinstance(answer, list) else [[answer]]


def _one_or_rows(rows: list[list[Any]] | None) -> Any:
    return rows[0][0] if rows and (len(rows), len(rows[0])) == (1, 1) else rows


def _agrees(engines: Engines, calls: _Calls, rows: list[list[Any]]) -> bool:
    """Return whether a second engine comes to the same value; of several values nobody asks it."""
    engine = engines.formualizer
    if engine is None or (len(rows), len(rows[0])) != (1, 1):
        return False
    text = calls.text(calls.formula.shape.pieces)
    engine.load([_SHEET, _ANSWERS], [*calls.cells, (_SHEET, 1, 1, DYNAMIC, text)])
    engine.evaluate()
    return is_reproduced(rows[0][0], engine.values([(_SHEET, (1, 1))])[0])
