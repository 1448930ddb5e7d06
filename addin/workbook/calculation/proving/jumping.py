"""Results that jump where steps that programs round differently come to hardly anything else.

The fast engine tells, wherever it comes to the same results; the better one tells of all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from addin.workbook.calculation.book_formulas import BookFormula, resting_on
from addin.workbook.calculation.engine.process import PLAIN, Engine, EngineFailedError
from addin.workbook.calculation.engine_book import EngineBook, cells_of_formula
from addin.workbook.calculation.influence import Place, by_sheet
from addin.workbook.calculation.proving.snapshot import Snapshot
from addin.workbook.calculation.reading.noise import Move
from addin.workbook.calculation.results import is_reproduced, jumps

JUMPS = "its result depends on the last digits of a power or another number that programs round differently"
"""Why a result that jumps is not proven."""

_Formulas = Mapping[Place, BookFormula]


def jumping(
    cells: EngineBook, shown: Snapshot, fast: Engine | None, formulas: Sequence[BookFormula]
) -> Iterator[Place]:
    """Those of the formulas that jump; `shown` is what they come to."""
    live = (cells.formulas[place] for place in cells.live)
    noisy = {each.place: each for each in live if each.shape.nudged and each.place not in cells.unreadable}
    moving = noisy | _resting_on(noisy, cells.formulas) if noisy else {}
    seen = [each for each in formulas if each.place in moving or (noisy and each.shape.finds_cells)]
    if not seen:
        return
    told = _told_by(fast, cells, shown, moving) if fast is not None else {}
    yield from (each.place for each in seen if told.get(each.place))
    if others := [each for each in seen if each.place not in told]:
        moved = cells.moved([noisy[place] for place in _below(others, moving) & noisy.keys()], others)
        yield from (each.place for each in others if jumps(shown.found[each.place], *(it[each.place] for it in moved)))


def _told_by(engine: Engine, cells: EngineBook, shown: Snapshot, moving: _Formulas) -> dict[Place, bool]:
    """Return whether formulas jump, as far as an engine comes to what they are, and to all of these they rest on."""
    strange = {place: each for place, each in moving.items() if not _is_ordinary(each, cells)}
    formulas = _without(moving, strange)
    if not formulas:
        return {}
    texts = [cells.moved_text(each) for each in formulas.values()]
    places = list(formulas)
    try:
        shown.put_into(engine, list(formulas.values()), texts, cells.switch(0))
        found = []
        for move in (0, *Move):
            engine.set([cells.switch(move)])
            engine.evaluate()
            found.append(dict(zip(places, engine.values(places), strict=True)))
    except EngineFailedError:
        return {}
    others = {place: each for place, each in formulas.items() if not is_reproduced(shown.found[place], found[0][place])}
    return {place: jumps(*(each[place] for each in found)) for place in _without(formulas, others)}


def _is_ordinary(formula: BookFormula, cells: EngineBook) -> bool:
    """Return whether a formula shows one value of cells that it names."""
    shape = formula.shape
    finds = shape.finds_cells or shape.sees_rows or shape.spills
    is_readable = formula.place in cells.live and formula.place not in cells.unreadable
    return formula.kind == PLAIN and is_readable and not finds and not cells.gets_tables(formula.place)


def _resting_on(formulas: _Formulas, among: _Formulas) -> dict[Place, BookFormula]:
    found = by_sheet(chain.from_iterable(map(cells_of_formula, formulas.values())))
    return {each.place: each for each in resting_on(among.values(), found)}


def _without(formulas: _Formulas, some: _Formulas) -> _Formulas:
    """The formulas but for some, and what rests on those."""
    if not some:
        return formulas
    return {place: formulas[place] for place in formulas.keys() - some.keys() - _resting_on(some, formulas).keys()}


def _below(formulas: Sequence[BookFormula], among: _Formulas) -> set[Place]:
    """The formulas themselves, and all among these that they rest on; arrays may fill any cell."""
    if any(each.is_array or each.shape.finds_cells for each in (*formulas, *among.values())):
        return set(among)
    index = by_sheet(among)
    found = {each.place for each in formulas}
    waiting, seen = list(formulas), set()
    while waiting:
        for where in waiting.pop().areas:
            if where in seen:
                continue
            seen.add(where)
            sheet, area = where
            new = {(sheet, spot) for spot in index[sheet].inside(area)} - found if sheet in index else set()
            found |= new
            waiting += [among[place] for place in new]
    return found
