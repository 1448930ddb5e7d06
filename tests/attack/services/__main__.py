"""Every kind of cell on variants of the service: cold, warm, in any order, days later; none may be silently wrong.

python -m tests.attack.services --variants 170
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dataservice.client import AsyncClient
from dataservice.server.variants import SWITCHES, Variant
from dataservice.stores import MemoryStore
from tests.attack.parts.told import Told, conclude
from tests.attack.services import cells
from tests.attack.services.cells import CELLS, Cell, Verdict
from tests.attack.services.foreign import FOREIGN, ForeignWorld
from tests.attack.services.revisions import invented
from tests.attack.services.world import FIRST_DAY, LATER_DAY, URL, Databases, World, noon
from tests.dataservice.client.parts.clocks import Clock
from udfs.engine.session import Session


@dataclass
class Found:
    """What one variant showed."""

    variant: str
    verdicts: list[tuple[str, Cell, Verdict, str]] = field(default_factory=list)
    requests: dict[str, int] = field(default_factory=dict)
    invented: list[str] = field(default_factory=list)
    deviations: tuple[str, ...] = ()
    """What a probe named, if there was one."""

    def count(self, verdict: Verdict) -> int:
        """How many cells were so."""
        return sum(each[2] is verdict for each in self.verdicts)

    @property
    def is_right(self) -> bool:
        """Whether every cell was right."""
        return self.count(Verdict.RIGHT) == len(self.verdicts)


def variants(count: int, seed: int) -> list[dict[str, str]]:
    """The embedded service, each switch alone, and pairs at random."""
    alone = [{name: value} for name, switch in SWITCHES.items() for value in switch.values[1:]]
    chance = random.Random(seed)
    pairs = [one | other for one, other in itertools.combinations(alone, 2) if set(one) != set(other)]
    return [{}, *alone, *chance.sample(pairs, max(0, count - 1 - len(alone)))]


class Visit:
    """One client of a variant, which is asked in turns."""

    def __init__(self, world: World, found: Found, seed: int, *, probes: bool = False) -> None:
        self.probes = probes
        self.world = world
        self.found = found
        self.chance = random.Random(seed)
        self.clock = Clock()
        self.store = MemoryStore()

    async def run(self) -> None:
        """Cold in one batch; warm; cold one by one in another order; days later in the first client's cache."""
        self._on_day(0)
        async with self._client(self.store) as client:
            if self.probes:
                profile = await client.probe()
                self.found.deviations = tuple(f"{each.question}: {each.found}" for each in profile.deviations)
            await self._together(client, "cold")
            await self._together(client, "warm")
        async with self._client(MemoryStore()) as client:
            await self._one_by_one(client, "one by one")
        self._on_day(1)
        async with self._client(self.store) as client:
            await self._together(client, "days later")
            self.clock.now += 1_000.0
            await self._one_by_one(client, "later still")
            self.found.invented = await invented(client, self.world.truths)

    def _on_day(self, day: int) -> None:
        self.world.day, today = day, (FIRST_DAY, LATER_DAY)[day]
        cells.TODAY[0] = today
        self.clock.now = noon(today)

    def _client(self, store: MemoryStore) -> AsyncClient:
        return AsyncClient(
            URL,
            self.world.key,
            store=store,
            transport=self.world,
            clock=self.clock,
            sleep=self.clock.sleep,
            jitter=lambda: 0.5,
        )

    async def _together(self, client: AsyncClient, phase: str) -> None:
        await self._ask(client, phase, [list(CELLS)])

    async def _one_by_one(self, client: AsyncClient, phase: str) -> None:
        await self._ask(client, phase, [[cell] for cell in self.chance.sample(CELLS, len(CELLS))])

    async def _ask(self, client: AsyncClient, phase: str, batches: Sequence[Sequence[Cell]]) -> None:
        session, before = Session(client, clock=self.clock), len(self.world.asked)
        for batch in batches:
            outcomes = await session.answer([cell.call for cell in batch])
            for cell, outcome in zip(batch, outcomes, strict=True):
                verdict, why = cell.verdict(outcome, self.world.truths[: self.world.day + 1])
                self.found.verdicts.append((phase, cell, verdict, why))
        self.found.requests[phase] = len(self.world.asked) - before


async def visit(world: World, name: str, seed: int, *, probes: bool = False) -> Found:
    """What a service shows to one user."""
    found = Found(name)
    try:
        await Visit(world, found, seed, probes=probes).run()
    finally:
        world.close()
    return found


def attack(wanted: Sequence[Mapping[str, str] | str], seed: int, *, probes: bool = False) -> list[Found]:
    """What each variant, or foreign service by its name, shows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        databases = Databases.made(folder)
        founds = []
        for number, service in enumerate(wanted):
            place = folder / str(number)
            place.mkdir()
            if isinstance(service, str):
                world, told = ForeignWorld(databases, FOREIGN[service], place), service
            else:
                world = World(databases, service, place)
                told = str(world.variant)
            founds.append(asyncio.run(visit(world, told, seed + number, probes=probes)))
            shutil.rmtree(place)
            tell(founds[-1])
        return founds


def tell(found: Found) -> None:
    """Print a variant that is not all right."""
    counts = {verdict.value: found.count(verdict) for verdict in Verdict if found.count(verdict)}
    sys.stdout.write(f"{found.variant}: {counts} {found.requests}\n")
    seen = Counter((cell.name, verdict.value, why) for _, cell, verdict, why in found.verdicts if verdict != "right")
    for (name, verdict, why), times in seen.items():
        sys.stdout.write(f"    {verdict} ×{times} {name}: {why[:150]}\n")
    if found.deviations:
        sys.stdout.write(f"    named: {'; '.join(found.deviations)[:300]}\n")
    for line in found.invented:
        sys.stdout.write(f"    INVENTED {line}\n")


def main() -> None:
    """Run and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", type=int, default=170)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="these variants: end=excluded,page=300")
    parser.add_argument("--foreign", nargs="*", help="these services that no switch describes; all without a name")
    parser.add_argument("--probe", action="store_true", help="find out how each answers first")
    given = parser.parse_args()
    wanted: list[Mapping[str, str] | str] = [*variants(given.variants, given.seed)]
    if given.foreign is not None:
        wanted = [*(given.foreign or FOREIGN)]
    if given.only is not None:
        wanted = [dict(pair.split("=") for pair in text.split(",")) if text else {} for text in given.only]
    founds = attack(wanted, given.seed, probes=given.probe)
    right = sum(each.is_right for each in founds)
    silently = sum(each.count(Verdict.WRONG) for each in founds)
    made_up = sum(len(each.invented) for each in founds)
    sys.stdout.write(f"{right} of {len(founds)} all right, {silently} cells silently wrong, {made_up} invented\n")
    if given.probe:
        named = sum(bool(found.deviations) for found in founds if found.variant != str(Variant()))
        sys.stdout.write(f"the probe named something in {named} of {len(founds)}\n")
    conclude(Told(len(founds), wrong=silently + made_up))


if __name__ == "__main__":
    main()
