"""Random sheets at random times: what a preview says contains what is spent then.

    python -m tests.attack.client.previews --previews 5000

Each world is one client whose clock is moved by up to 400 days; in every other one series shrink, are emptied, are
backfilled and come late, signals come and go, the catalogue is empty for a while; in every
third one names with a dot have no detail. Before each sheet its cost is previewed, also after a refresh; then the sheet
is answered, and the service's own count has to lie between `at_least` and `at_most`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context

import httpx
import orjson

from dataservice.client import AsyncClient, Cost, Refresh
from tests.attack.parts.cold_world import ColdWorld, Formulas
from tests.attack.parts.told import Told, conclude
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import KEY, URL
from udfs.engine.session import Call, Session

SHEETS_A_WORLD = 10
DAY_S = 86_400.0
WAITS_S = (0.0, 0.0, 60.0, 1_000.0, 6 * 3_600.0, DAY_S, 2 * DAY_S, 8 * DAY_S, 29 * DAY_S, 31 * DAY_S, 400 * DAY_S)


@dataclass
class Check:
    """What was found."""

    previews: int = 0
    figures: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)

    def add(self, other: Check) -> None:
        """Count what was found elsewhere."""
        self.previews += other.previews
        self.figures += other.figures
        self.found += other.found

    def compare(self, cost: Cost, spent: int, told: int, where: str) -> None:
        """Look at one sheet."""
        self.previews += 1
        self.figures["exact"] += cost.at_least == cost.at_most == spent
        self.figures["unknown"] += cost.at_most is None
        for kind, is_broken in {
            "too much told": spent < cost.at_least,
            "too little told": cost.at_most is not None and spent > cost.at_most,
            "told": told != spent,
            "text": cost.at_most is None and not str(cost).startswith("at least"),
        }.items():
            if is_broken:
                self.figures[kind] += 1
                self.found.append(f"{kind}: {cost}, {spent} spent, {told} told: {where}")


async def world(
    chance: random.Random, sheets: int, check: Check, where: str, changes: random.Random | None = None
) -> None:
    """One client, and so many sheets; by `changes` series shrink, are backfilled and come late between them."""
    clock, formulas = Clock(), Formulas(chance)
    service = ColdWorld(clock, listed=chance.choice((40, 40, 1_203)), tier=chance.choice(("pro", "pro", "free")))
    service.without_details = chance.random() < 1 / 3
    async with AsyncClient(URL, KEY, transport=httpx.MockTransport(service), clock=clock, sleep=clock.sleep) as client:
        session = Session(client, clock=clock)
        for number in range(sheets):
            clock.advance(chance.choice(WAITS_S))
            for _ in range(changes.choice((0, 1, 1, 4)) if changes else 0):
                service.change(changes)
            asked = formulas.some(chance.choice((1, 1, 2, 4, 8)))
            calls = [Call(name, args) for name, *args in asked]
            mode = chance.choice((None, None, None, Refresh.STALE, Refresh.FORCE))
            cost = (await session.cost(calls, after=mode)).cost
            if mode is not None:
                await client.refresh(force=mode is Refresh.FORCE)
            before = service.counted
            outcomes = await session.answer(calls)
            spent = service.counted - before
            told = sum(outcome.requests for outcome in outcomes)
            text = f"{where}, sheet {number}, {mode}: {orjson.dumps(asked).decode()} {service.targets[before:]}"
            check.compare(cost, spent, told, text)


async def attack(previews: int, seed: int, part: int = 0, parts: int = 1) -> Check:
    """Compare so many previews with what is spent; of so many parts one, so that processes share them."""
    check = Check()
    for first in range(part * SHEETS_A_WORLD, previews, parts * SHEETS_A_WORLD):
        number = seed * 1_000_003 + first
        sheets = min(SHEETS_A_WORLD, previews - first)
        changes = random.Random(number) if first // SHEETS_A_WORLD % 2 else None
        await world(random.Random(number), sheets, check, f"world {number}", changes)
    return check


def run_part(previews: int, seed: int, part: int, parts: int) -> Check:
    """Run one part in a process of its own."""
    return asyncio.run(attack(previews, seed, part, parts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--previews", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    check, parts = Check(), os.cpu_count() or 1
    with ProcessPoolExecutor(parts, get_context("spawn")) as processes:
        asked = [processes.submit(run_part, given.previews, given.seed, part, parts) for part in range(parts)]
        for each in asked:
            check.add(each.result())
    sys.stdout.write("\n".join([f"{check.previews} previews: {dict(check.figures)}", *check.found[:10], ""]))
    broken = check.figures["too much told"] + check.figures["too little told"] + check.figures["text"]
    conclude(Told(check.previews, wrong=broken, over=check.figures["told"]))


if __name__ == "__main__":
    main()
