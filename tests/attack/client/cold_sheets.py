"""Cold sheets in pending mode: no cell fails but for a reason of its own, and what is told is what was counted.

    python -m tests.attack.client.cold_sheets --batches 2000

Each batch is a sheet opened with an empty cache: its calls load side by side, and answers come back in any order. Each
cell has to show what it shows alone.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson

from addin.protocol.batch import Batches
from addin.protocol.consent import Consent
from addin.protocol.limits import BatchLimits
from addin.protocol.pending_batches import PendingBatches
from addin.protocol.response_cache import ResponseCache
from dataservice.client import AsyncClient
from tests.attack.parts.cold_world import ColdWorld, Formulas
from tests.attack.parts.told import Told, conclude
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import KEY, URL
from udfs.engine.session import Session

HUNG_S = 60.0
LISTED = (40, 40, 1_203)
"""How many signals there are; of the most, names with a dot have no detail."""
ABOUT_THE_ACCOUNT = {"QUOTA", "STATUS", "EXPLAIN", "REVISIONS"}
Cell = dict[str, Any]


@dataclass
class Check:
    """What was found."""

    batches: int = 0
    cells: int = 0
    figures: Counter[str] = field(default_factory=Counter)
    first: str = ""

    def wrong(self, kind: str, what: str) -> None:
        """Count what is wrong; the first of it is described."""
        self.figures[kind] += 1
        self.first = self.first or f"{kind}: {what}"


async def load(
    calls: list[list[Any]], listed: int, shuffled: random.Random | None
) -> tuple[list[Cell], int, ColdWorld]:
    """What a page shows of `calls` in the end, how many requests it was told of, and the service."""
    clock = Clock()
    world = ColdWorld(clock, listed=listed, shuffled=shuffled)
    world.without_details = listed == LISTED[-1]
    async with AsyncClient(URL, KEY, transport=httpx.MockTransport(world), clock=clock, sleep=clock.sleep) as client:
        session, cache, limits = Session(client, clock=clock), ResponseCache(2**20), BatchLimits()
        consent = Consent(100_000, lambda: None, timer=clock)
        batches = Batches(session, cache, deadline_s=20, limits=limits, consent=consent, clock=clock)
        loads = PendingBatches(session, cache, consent, deadline_s=20, late=batches.late, limits=limits, clock=clock)
        texts = [orjson.dumps(call) for call in calls]
        shown: dict[bytes, Cell] = {}
        told = 0
        while missing := [text for text in texts if text not in shown]:
            loaded = await loads.answer(missing, "")
            told += loaded.answers.requests
            cells = zip(missing, orjson.loads(loaded.answers.text), strict=True)
            shown |= {text: cell for text, cell in cells if not cell.get("pending")}
        await loads.aclose()
        told += batches.late.take()
    return [shown[text] for text in texts], told, world


class Alone:
    """What a call shows that is the only one of its sheet: asked once, because the world stands still."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, int], Cell] = {}

    async def shows(self, call: list[Any], listed: int) -> Cell:
        """The cell of this call."""
        name = orjson.dumps(call), listed
        if name not in self._known:
            self._known[name] = (await load([call], listed, None))[0][0]
        return self._known[name]


async def batch(chance: random.Random, alone: Alone, check: Check) -> None:
    """Load one cold sheet, and look at all of it."""
    calls, listed = Formulas(chance).some(), chance.choice(LISTED)
    where = f"{orjson.dumps(calls).decode()} of {listed}"
    try:
        async with asyncio.timeout(HUNG_S):
            cells, told, world = await load(calls, listed, random.Random(chance.random()))
    except TimeoutError:
        check.wrong("hung", where)
        return
    check.batches += 1
    check.cells += len(cells)
    if told != world.counted:
        check.wrong("told", f"{told} were told, {world.counted} counted: {where}")
    for call, cell in zip(calls, cells, strict=True):
        if "please report" in str(cell):
            check.wrong("internal", f"{call} shows {cell}: {where}")
        elif not _rests_on_others(call) and _shown(cell) != _shown(expected := await alone.shows(call, listed)):
            check.wrong("wrong", f"{call} shows {str(cell)[:300]}, alone {str(expected)[:300]}: {where}")


def _rests_on_others(call: list[Any]) -> bool:
    """Whether a call shows something else beside others: what they cost, fetched, or saw first."""
    return call[0] in ABOUT_THE_ACCOUNT or "asof=" in str(call)


def _shown(cell: Any) -> Any:
    """What a cell shows, without the hints of its errors: they may name more where more is known."""
    match cell:
        case {"error": _}:
            return {**cell, "error": "", "message": str(cell.get("message")).partition(";")[0], "fresh_s": 0}
        case dict():
            return {name: _shown(value) for name, value in cell.items() if name != "fresh_s"}
        case list():
            return [_shown(each) for each in cell]
    return cell


async def attack(batches: int, seed: int) -> Check:
    """Load so many cold sheets."""
    chance, alone, check = random.Random(seed), Alone(), Check()
    for _ in range(batches):
        await batch(chance, alone, check)
    return check


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    check = asyncio.run(attack(given.batches, given.seed))
    sys.stdout.write(f"{check.batches} batches, {check.cells} cells: {dict(check.figures)} {check.first}\n")
    wrong = check.figures["internal"] + check.figures["wrong"]
    conclude(Told(check.batches, hung=check.figures["hung"], wrong=wrong, over=check.figures["told"]))


if __name__ == "__main__":
    main()
