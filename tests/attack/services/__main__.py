"""Every kind of cell on variants of the service: cold, warm, in any order, days later; none may be silently wrong.

python -m tests.attack.services --variants 220           and services that no switch describes
python -m tests.attack.services --variants 220 --probe   each is probed before
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
from dataservice.server.variants import SWITCHES
from dataservice.stores import MemoryStore
from tests.attack.parts.told import Told, conclude
from tests.attack.services import cells
from tests.attack.services.cells import CELLS, Cell, Verdict
from tests.attack.services.clauses import UNASKED
from tests.attack.services.foreign import FOREIGN, UNSEEN_BY_ALL, ForeignWorld
from tests.attack.services.least import least
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
    chosen: Mapping[str, str] = field(default_factory=dict)
    """How it differs, by its switches."""

    @property
    def is_named(self) -> bool:
        """Whether the probe named each of its deviations that an answer can show, and nothing where there is none.

        Of a service that no switch describes it is to name any.
        """
        if self.variant in FOREIGN:
            return bool(self.deviations) or self.variant in UNASKED
        wanted = [NAMES[name] for name, value in self.chosen.items() if is_seen(name, value, self.chosen)]
        if not wanted:
            return not self.deviations
        return all(any(told.startswith(names) for told in self.deviations) for names in wanted)

    def count(self, verdict: Verdict) -> int:
        """How many cells were so."""
        return sum(each[2] is verdict for each in self.verdicts)

    @property
    def is_right(self) -> bool:
        """Whether every cell was right."""
        return self.count(Verdict.RIGHT) == len(self.verdicts)


UNSEEN = {
    *(("window-longest", value) for value in ("ten-years-newest", "from-ten-years-ago")),
    *((name, how) for name in ("detail-values", "window-values") for how in ("two-decimals", "four-digits")),
    ("window-stamps", "period-end"),
    *(("detail-nulls", "left-out"), ("stamps", "evening"), ("catalogue-total", "of-page")),
    *(("catalogue-order", "shuffled"), ("catalogue-order", "turned"), ("catalogue-offset", "ignored")),
    *(("one-signal", "401"), ("one-signal", "402"), ("one-signal", "403")),
    *(("almanac", "own-beats"), ("slash", "html-404"), ("packing", "never"), ("packing", "always")),
}
"""What makes no answer of a probe differ from a documented one, or not that of every signal."""


def is_seen(name: str, value: str, chosen: Mapping[str, str]) -> bool:
    """Whether an answer shows how a switch stands: rows of the evening of the last day lie behind its midnight."""
    if (name, value) == ("end", "midnight"):
        return "evening" in (chosen.get("stamps"), chosen.get("window-stamps"))
    return (name, value) not in UNSEEN


MOST_TOLD = 10

NAMES: dict[str, tuple[str, ...]] = {
    "start": ("start:",),
    "end": ("end:",),
    "no-start": ("without start",),
    "no-end": ("without end",),
    "far-dates": ("far dates",),
    "page": ("observations: page",),
    "more": ("observations: what follows", "observations: total"),
    "envelope": ("all: stands in",),
    "record": ("observation: fields",),
    "times": ("observation: time",),
    "values": ("observation: value",),
    "nulls": ("observation: value", "rows without a value", "all: JSON"),
    "detail-nulls": ("rows without a value", "history", "detail and window"),
    "stamps": ("detail and window: times",),
    "detail-stamps": ("detail and window",),
    "detail-values": ("detail and window: values",),
    "window-values": ("detail and window: values",),
    "window-stamps": ("detail and window",),
    "window-unit": ("detail and window: values", "detail and window"),
    "history-lag": ("latest", "history", "the newest observation", "detail and window"),
    "window-lag": ("the newest observation", "detail and window"),
    "window-longest": ("windows", "observations: total"),
    "forecasts": ("days to come",),
    "newest": ("the newest observation", "detail and window"),
    "history": ("history",),
    "history-order": ("recent history: order",),
    "latest": ("latest",),
    "detail-envelope": ("signal: stands in",),
    "list-envelope": ("catalogue: stands in",),
    "catalogue-page": ("catalogue: pages",),
    "catalogue-total": ("catalogue: pages",),
    "collections": ("indices: pages",),
    "wire-page": ("wire: most items",),
    "almanac": ("almanac",),
    "reading": ("an index: reading",),
    "odd-record": ("wire: ", "catalogue: records", "currents: "),
    "headers": ("quota headers",),
    "unknown": ("an unknown signal",),
    "address": ("paths",),
    "page-two": ("second page",),
    "catalogue-order": ("catalogue: pages", "catalogue: order"),
    "catalogue-offset": ("catalogue: pages", "catalogue: order"),
    "feed-page": ("wire: most items", "almanac: most posts"),
    "feed-more": ("wire: what follows", "wire: most items"),
    "undated": ("wire: records", "almanac: records"),
    "alias": ("signal: slug",),
    "charset": ("content type",),
    "prepared": ("the answer about",),
}
"""By switch, how the questions begin one of which names it."""


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
            await self._probe(client)
            await self._together(client, "cold")
            await self._together(client, "warm")
        async with self._client(MemoryStore()) as client:
            await self._probe(client)
            await self._one_by_one(client, "one by one")
        self._on_day(1)
        async with self._client(self.store) as client:
            await self._together(client, "days later")
            self.clock.now += 1_000.0
            await self._one_by_one(client, "later still")
            self.found.invented = await invented(client, self.world.truths)

    async def _probe(self, client: AsyncClient) -> None:
        if self.probes:
            profile = await client.probe()
            self.found.deviations = tuple(f"{each.question}: {each.found}" for each in profile.deviations)

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
    found = Found(name, chosen=world.variant.unusual)
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
                world, told = ForeignWorld(databases, (FOREIGN | UNSEEN_BY_ALL)[service], place), service
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
    parser.add_argument("--variants", type=int, default=220)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="these variants: end=excluded,page=300")
    parser.add_argument("--foreign", nargs="*", help="these services that no switch describes; all without a name")
    parser.add_argument("--probe", action="store_true", help="find out how each answers first")
    given = parser.parse_args()
    wanted: list[Mapping[str, str] | str] = [*variants(given.variants, given.seed)]
    if given.foreign is None and given.only is None and not given.probe:
        wanted += random.Random(given.seed).sample(sorted(FOREIGN), min(len(FOREIGN), given.variants // 2))
    if given.foreign is not None:
        wanted = [*(given.foreign or FOREIGN)]
    if given.only is not None:
        wanted = [dict(pair.split("=") for pair in text.split(",")) if text else {} for text in given.only]
    founds = attack(wanted, given.seed, probes=given.probe)
    conclude(summed_up(founds, probes=given.probe))


def _told_requests(founds: Sequence[Found], ours: Sequence[Found]) -> int:
    """Print the ten that spend the most, against the least of each; how many variants spend more than twice that.

    Of services that no switch describes the least is not known: they stand against the documented one.
    """
    spent = {found.variant: (sum(found.requests.values()), sum(least(found.chosen).values())) for found in founds}
    worst = sorted(spent.items(), key=lambda pair: pair[1][0] / pair[1][1], reverse=True)
    names = {found.variant for found in ours}
    dear = [variant for variant, (requests, fewest) in spent.items() if variant in names and requests > 2 * fewest]
    for title, is_ours in (("variants, against their own least", True), ("others, against the documented one", False)):
        told = [f"{name} {n}/{m} = {n / m:.2f}" for name, (n, m) in worst if (name in names) is is_ours][:MOST_TOLD]
        sys.stdout.write(f"most requests of {title}: {'; '.join(told) or 'none'}\n")
    sys.stdout.write(f"more than twice their least: {', '.join(dear) or 'none'}\n")
    return len(dear)


def summed_up(founds: Sequence[Found], *, probes: bool) -> Told:
    """What was found in all, printed; a probe that names less than 95 of 100 deviations counts as wrong."""
    ours = [found for found in founds if found.variant not in FOREIGN | UNSEEN_BY_ALL]
    right, silently = sum(found.is_right for found in ours), sum(found.count(Verdict.WRONG) for found in founds)
    made_up = sum(len(found.invented) for found in founds)
    sys.stdout.write(f"{right} of {len(ours)} variants all right\n")
    sys.stdout.write(f"of {len(founds)}: {silently} cells silently wrong, {made_up} invented\n")
    dear = _told_requests(founds, ours)
    unnamed = [found.variant for found in founds if not found.is_named] if probes else []
    if probes:
        sys.stdout.write(
            f"named as they are: {len(founds) - len(unnamed)} of {len(founds)}; not {', '.join(unnamed)}\n"
        )
    is_blind = len(unnamed) * 20 > len(founds)
    return Told(len(founds), wrong=silently + made_up + is_blind, over=dear)


if __name__ == "__main__":
    main()
