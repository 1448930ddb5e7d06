"""Generated books through refresh and freeze: every value that is written must be what plain Python works out.

    python -m tests.attack.workbooks.calculation --books 10000 --seed 1

A book holds calls of ours, formulas that mix them with others, and ordinary formulas on top, over two sheets. The file
holds the values of an earlier state of the world, some of them wrong. The oracle works each formula out in Python, from
what the calls answer now. Every formula that rests on a call must show the oracle's value after a refresh, or be listed
as unproven with its old value; a frozen copy must hold no other value, or be refused.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

from xlsxwriter import Workbook

from addin.workbook.freeze import StaleValuesError, freeze
from addin.workbook.many.run import books_cost
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.refresh import book_cost, refresh_book
from dataservice.client import AsyncClient
from dataservice.server import RunningService, Store, import_directory, running, write_sample
from tests.attack.parts.told import Told, conclude
from udfs import Call, Session
from udfs.errors import CellError

SLUGS = ("us-cpi", "us-10y", "wb.gold", "btc-usd", "eia.wti.spot")
ERROR = "#DIV/0!"
OTHER = "Other data"
TOLERANCE = 1e-11
COST_CHECKED = 0.1
"""The part of the books whose cost is compared with what the service counts."""

TOLD_EVERY = 500
"""Books between two lines of progress."""

Value = Any
"""A float, text, bool, or `ERROR`."""


@dataclass
class Cell:
    """A generated formula: its text, its oracle, and what it refers to."""

    name: str
    text: str
    work_out: Callable[[dict[str, Value]], Value]
    sources: tuple[str, ...] = ()
    slugs: tuple[str, ...] = ()
    sheet: str = "Main"


@dataclass(frozen=True)
class World:
    """The service, a session whose answers are fresh, and what each signal is worth."""

    service: RunningService
    key: str
    session: Session
    values: dict[str, Value]


@dataclass
class Found:
    """What happened, by kind, and everything that must not happen."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def _guarded(work: Callable[..., Value]) -> Callable[..., Value]:
    """An operation on values in which an error stays an error."""

    def result(*values: Value) -> Value:
        if ERROR in values:
            return ERROR
        try:
            return work(*values)
        except ZeroDivisionError:
            return ERROR

    return result


def _chosen(condition: Value, one: Value, other: Value) -> Value:
    return ERROR if condition == ERROR else (one if condition else other)


def _cells(random: Random) -> list[Cell]:
    """The formulas of one book, each of which refers to earlier ones."""
    cells: list[Cell] = []
    for number in range(random.randint(1, 3)):
        slug = random.choice(SLUGS)
        call = f'_xldudf_DS_SIGNAL("{slug}")'
        cells.append(Cell(f"A{number + 1}", call, lambda v, s=slug: v[f"slug:{s}"], (), (slug,)))
    for number in range(random.randint(2, 9)):
        cells.append(_further(random, cells, number))
    return cells


def _further(random: Random, cells: list[Cell], number: int) -> Cell:
    sheet = random.choice(("Main", "Main", OTHER))
    slug = random.choice(SLUGS)
    one, other = (random.choice(cells) for _ in range(2))
    constant = random.choice((0, 1, 2, 3.5, -7, 100, 1000))
    a, b = (_reference(each, sheet) for each in (one, other))
    x, y, s = _key(one), _key(other), f"slug:{slug}"
    call = f'_xldudf_DS_SIGNAL("{slug}")'
    again = random.choice(SLUGS)
    t, call_again = f"slug:{again}", f'_xldudf_DS_SIGNAL("{again}")'
    forms: list[tuple[str, Callable[[dict[str, Value]], Value], tuple[str, ...], tuple[str, ...]]] = [
        (f"{a}*2", lambda v: _guarded(lambda p: p * 2)(v[x]), (x,), ()),
        (f"{a}+{b}*{constant}", lambda v: _guarded(lambda p, q: p + q * constant)(v[x], v[y]), (x, y), ()),
        (f"{a}/({b}-{b})", lambda v: ERROR, (x, y), ()),
        (f"IFERROR({a}/{constant},-1)", lambda v: _caught(_guarded(lambda p: p / constant)(v[x]), -1.0), (x,), ()),
        (f"IF({a}>{constant},{b},{constant})", lambda v: _when(v[x], constant, v[y]), (x, y), ()),
        (
            f"SUM({a},{b},{constant})",
            lambda v: _guarded(lambda p, q: math.fsum((p, q, constant)))(v[x], v[y]),
            (x, y),
            (),
        ),
        (f"ROUND({a},1)", lambda v: _guarded(_rounded)(v[x]), (x,), ()),
        (f"MAX({a},{b})", lambda v: _guarded(max)(v[x], v[y]), (x, y), ()),
        (f"ABS(-{a})", lambda v: _guarded(abs)(v[x]), (x,), ()),
        (f"{call}*2", lambda v: _guarded(lambda p: p * 2)(v[s]), (), (slug,)),
        (f"{call}-{a}", lambda v: _guarded(lambda p, q: p - q)(v[s], v[x]), (x,), (slug,)),
        (f"IFERROR({call},0)+{a}", lambda v: _guarded(lambda p, q: p + q)(v[s], v[x]), (x,), (slug,)),
        (f"IF({call}>{constant},{a},0)", lambda v: _when(v[s], constant, v[x], 0.0), (x,), (slug,)),
        (f"IF({a}>{constant},{call},{b})", lambda v: _when(v[x], constant, v[s], v[y]), (x, y), (slug,)),
        (f"IF({call}>{constant},{call_again},{a})", lambda v: _when(v[s], constant, v[t], v[x]), (x,), (slug, again)),
        (f"_xlfn.LET(_xlpm.n,{a},_xlpm.n*_xlpm.n)", lambda v: _guarded(lambda p: p * p)(v[x]), (x,), ()),
    ]
    text, work, sources, slugs = random.choice(forms)
    return Cell(f"{random.choice('CDE')}{number + 1}", text, work, sources, slugs, sheet)


def _rounded(value: float) -> float:
    """Rounded by the 15 digits that spreadsheets see."""
    return math.copysign(math.floor(float(f"{abs(value) * 10:.15g}") + 0.5) / 10, value)


def _caught(value: Value, instead: Value) -> Value:
    return instead if value == ERROR else value


def _when(value: Value, limit: float, one: Value, other: Value = None) -> Value:
    return ERROR if value == ERROR else one if value > limit else (float(limit) if other is None else other)


def _reference(cell: Cell, sheet: str) -> str:
    return cell.name if cell.sheet == sheet else f"'{cell.sheet}'!{cell.name}"


def _key(cell: Cell) -> str:
    return f"{cell.sheet}!{cell.name}"


def _worked_out(cells: list[Cell], world: dict[str, Value]) -> dict[str, Value]:
    values = {f"slug:{slug}": value for slug, value in world.items()}
    for cell in cells:
        values[_key(cell)] = cell.work_out(values)
    return values


def _write(path: Path, cells: list[Cell], stored: dict[str, Value]) -> None:
    with Workbook(path) as book:
        sheets = {name: book.add_worksheet(name) for name in ("Main", OTHER)}
        for cell in cells:
            if _key(cell) in stored:
                sheets[cell.sheet].write_formula(cell.name, f"={cell.text}", None, stored[_key(cell)])


def _shown(path: Path) -> dict[str, Value]:
    """Every value in a book, errors by their code, and whether the cell is a formula under `formula:`."""
    found: dict[str, Value] = {}
    with Package(path) as package:
        book = Book(package)
        for name in book.sheet_names:
            sheet = book.sheet(name)
            for spot in sheet.filled():
                value = sheet.value(spot)
                key = f"{name}!{_address(spot)}"
                found[key] = value.message if isinstance(value, CellError) else value
                found[f"formula:{key}"] = sheet.has_formula(spot)
    return found


def _address(spot: tuple[int, int]) -> str:
    return f"{'ABCDEFGH'[spot[1] - 1]}{spot[0]}"


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return abs(one - other) <= TOLERANCE * max(1.0, abs(one), abs(other))
    return bool(one == other)


async def attack_one(world: World, random: Random, folder: Path, found: Found, what: str) -> None:
    """Generate a book, refresh and freeze it, and compare all it shows with the oracle."""
    cells = {_key(cell): cell for cell in _cells(random)}  # a later formula in the same cell is not written
    order = _in_order(cells)
    earlier = {slug: value * random.choice((1, 1, 0.5, 1.25)) for slug, value in world.values.items()}
    old, new = _worked_out(order, earlier), _worked_out(order, world.values)
    stored = {key: old[key] for key in cells}
    for key in cells:
        if random.random() < 0.1:
            stored[key] = 300.0
    book, out, copy = folder / "book.xlsx", folder / "out.xlsx", folder / "copy.xlsx"
    _write(book, order, stored)
    if random.random() < COST_CHECKED:
        await _check_cost(world, book, folder, found, what)
    report = await refresh_book(world.session, book, out)
    unproven = {f"{cell.cell[0]}!{_address(cell.cell[1])}" for cell in report.unproven}
    shown = _shown(out)
    for key in cells:
        if key in unproven:
            found.outcomes["unproven"] += 1
            if not _same(shown[key], stored[key]):
                found.wrong.append(
                    f"{what}: {key} ={cells[key].text} is unproven and was {stored[key]}, shows {shown[key]}"
                )
        else:
            found.outcomes["worked out"] += 1
            if not _same(shown[key], new[key]):
                found.wrong.append(
                    f"{what}: {key} ={cells[key].text} shows {shown[key]}, is {new[key]}, was {stored[key]}"
                )
    await _freeze(world.session, out, copy, cells, new, unproven, found, what)


async def _check_cost(world: World, book: Path, folder: Path, found: Found, what: str) -> None:
    """Refresh a copy with nothing cached but what some calls left, and compare what was told with what was counted."""
    async with AsyncClient(world.service.url, world.key) as client:
        session = Session(client)
        random = Random(what)
        await session.answer([Call("SIGNAL", [slug]) for slug in SLUGS if random.random() < 0.4])
        cost = (await book_cost(session, book)).cost
        together = (await books_cost(session, [book, book])).cost
        before = world.service.request_count
        report = await refresh_book(session, book, folder / "cold.xlsx")
        spent = world.service.request_count - before
    found.outcomes["cost: exact" if cost.at_least == cost.at_most else "cost: a range"] += 1
    for told in (cost, together):
        if spent < told.at_least or (told.at_most is not None and spent > told.at_most):
            found.wrong.append(f"{what}: {spent} requests, {told} told")
    if report.requests != spent:
        found.wrong.append(f"{what}: {spent} requests, {report.requests} reported")


async def _freeze(
    session: Session,
    out: Path,
    copy: Path,
    cells: dict[str, Cell],
    new: dict[str, Value],
    unproven: set[str],
    found: Found,
    what: str,
) -> None:
    try:
        await freeze(out, copy, ask=session.answer)
    except StaleValuesError:
        found.outcomes["freeze refused"] += 1
        if not unproven:
            found.wrong.append(f"{what}: refused to freeze a proven book")
        await freeze(out, copy, allow_stale=True, ask=session.answer)
        return
    found.outcomes["frozen"] += 1
    shown = _shown(copy)
    for key, cell in cells.items():
        if cell.slugs and shown[f"formula:{key}"]:
            found.wrong.append(f"{what}: {key} is still a formula")
        if cell.slugs and not _same(shown[key], new[key]):
            found.wrong.append(f"{what}: {key} ={cell.text} is frozen as {shown[key]}, is {new[key]}")


def _in_order(cells: dict[str, Cell]) -> list[Cell]:
    """The formulas in an order in which each follows those it refers to; those in a circle are left out."""
    ordered: list[Cell] = []
    done: set[str] = set()
    waiting = dict(cells)
    while ready := [key for key, cell in waiting.items() if done.issuperset(cell.sources)]:
        for key in ready:
            done.add(key)
            ordered.append(waiting.pop(key))
    for key in waiting:
        del cells[key]
    return ordered


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[World]:
    """A service with made-up data, and a session that knows what each signal is worth."""
    with Store(folder / "service.db") as store:
        write_sample(folder / "data", as_of=date(2026, 8, 31))
        import_directory(store, folder / "data")
        with running(store) as service:
            key = store.create_key("pro")
            async with AsyncClient(service.url, key) as client:
                session = Session(client)
                outcomes = await session.answer([Call("SIGNAL", [slug]) for slug in SLUGS])
                values = {slug: outcome.result for slug, outcome in zip(SLUGS, outcomes, strict=True)}
                yield World(service, key, session, values)


async def attack(books: int, seed: int, folder: Path, found: Found) -> None:
    """Attack with this many books."""
    async with opened(folder) as world:
        for number in range(books):
            await attack_one(world, Random(f"{seed}/{number}"), folder, found, f"{seed}/{number}")
            if (number + 1) % TOLD_EVERY == 0:
                print(f"  {number + 1:,} books, wrong: {len(found.wrong)}", flush=True)  # noqa: T201


def main() -> None:
    """Attack, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--books", "--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found, begun = Found(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="attacked-calculation-") as folder:
        asyncio.run(attack(options.books, options.seed, Path(folder), found))
    for name, count in sorted(found.outcomes.items()):
        print(f"  {name}: {count:,}")  # noqa: T201
    print(f"  {options.books:,} books in {time.monotonic() - begun:.0f} s")  # noqa: T201
    print(f"  wrong: {len(found.wrong)}", *found.wrong[:20], sep="\n    ")  # noqa: T201
    conclude(Told(options.books, wrong=len(found.wrong)))


if __name__ == "__main__":
    main()
