"""Users of one service: a process alone, or two that share a cache in a file."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from dataservice.client import AsyncClient
from dataservice.stores import MemoryStore, SqliteStore, Store
from tests.attack.services import cells
from tests.attack.services.cells import CELLS, Cell
from tests.attack.services.foreign import OLD_COPIES
from tests.attack.services.found import AT_ANY_TIME, Found
from tests.attack.services.revisions import invented
from tests.attack.services.world import FIRST_DAY, LATER_DAY, URL, World, noon
from tests.dataservice.client.parts.clocks import Clock
from udfs.engine.session import Session

A_WHILE_S = 1_000.0
"""After which nothing is fresh any more."""

RESTARTS = 0.1
"""How likely a process ends before it is asked again."""

MOST_AT_ONCE = 4
"""Cells that one of two processes asks for at a time."""


class Visit:
    """One process at a time, which is asked in turns."""

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
            session = self._session(client)
            await self._ask(session, "cold", CELLS)
            await self._ask(session, "warm", CELLS)
        async with self._client(MemoryStore()) as client:
            await self._probe(client)
            await self._one_by_one(self._session(client), "one by one")
        self._on_day(1)
        async with self._client(self.store) as client:
            session = self._session(client)
            await self._ask(session, "days later", CELLS)
            self.clock.now += A_WHILE_S
            await self._one_by_one(session, "later still")
            self.found.invented = await invented(client, self.world.truths)

    async def _probe(self, client: AsyncClient) -> None:
        if self.probes:
            profile = await client.probe()
            self.found.deviations = tuple(f"{each.question}: {each.found}" for each in profile.deviations)

    def _on_day(self, day: int) -> None:
        self.world.day, today = day, (FIRST_DAY, LATER_DAY)[day]
        cells.TODAY[0] = today
        self.clock.now = noon(today)

    def _client(self, store: Store) -> AsyncClient:
        return AsyncClient(
            URL,
            self.world.key,
            store=store,
            transport=self.world,
            clock=self.clock,
            sleep=self.clock.sleep,
            jitter=lambda: 0.5,
        )

    def _session(self, client: AsyncClient) -> Session:
        return Session(client, clock=self.clock)

    async def _one_by_one(self, session: Session, phase: str) -> None:
        for cell in self.chance.sample(CELLS, len(CELLS)):
            await self._ask(session, phase, [cell])

    async def _ask(self, session: Session, phase: str, batch: Sequence[Cell]) -> None:
        before = len(self.world.asked)
        outcomes = await session.answer([cell.call for cell in batch])
        for cell, outcome in zip(batch, outcomes, strict=True):
            may_be_old = self.found.variant in OLD_COPIES
            verdict, why = cell.verdict(outcome, self.world.truths[: self.world.day + 1], may_be_old=may_be_old)
            self.found.verdicts.append((phase, cell, verdict, why))
        self.found.requests[phase] = self.found.requests.get(phase, 0) + len(self.world.asked) - before


class Process:
    """A process with a session of its own: nothing but the file is left of it."""

    def __init__(self, client: AsyncClient, session: Session, store: SqliteStore) -> None:
        self.client = client
        self.session = session
        self._store = store

    async def end(self) -> None:
        """Let it end."""
        await self.client.aclose()
        await self._store.aclose()


class SharedVisit(Visit):
    """Two processes with one cache in a file, either of which is asked; now and then one ends and another begins."""

    def __init__(self, world: World, found: Found, seed: int, folder: Path, *, probes: bool = False) -> None:
        super().__init__(world, found, seed, probes=probes)
        self._file = folder / "cache.sqlite"

    async def run(self) -> None:
        """Cold; each cell twice more; days later; and then sooner or later."""
        self._on_day(0)
        running = [self._started(), self._started()]
        try:
            await self._probe(running[0].client)
            await self._in_any_order(running, "cold")
            await self._in_any_order(running, "warm", times=2)
            self._on_day(1)
            await self._in_any_order(running, "days later")
            self.clock.now += A_WHILE_S
            await self._in_any_order(running, "later still")
            await self._in_any_order(running, AT_ANY_TIME, times=2)
            for process in running:
                self.found.invented += await invented(process.client, self.world.truths)
        finally:
            for process in running:
                await process.end()

    def _started(self) -> Process:
        store = SqliteStore(self._file, clock=self.clock)
        client = self._client(store)
        return Process(client, self._session(client), store)

    async def _in_any_order(self, running: list[Process], phase: str, times: int = 1) -> None:
        cells_left = self.chance.sample(CELLS * times, len(CELLS) * times)
        while cells_left:
            count = self.chance.randint(1, MOST_AT_ONCE)
            batch, cells_left = cells_left[:count], cells_left[count:]
            place = self.chance.randrange(len(running))
            if self.chance.random() < RESTARTS:
                await running[place].end()
                running[place] = self._started()
            if phase == AT_ANY_TIME:
                self.clock.now += self.chance.choice((0.0, 60.0, A_WHILE_S))
            await self._ask(running[place].session, phase, batch)


async def visit(world: World, name: str, seed: int, folder: Path | None = None, *, probes: bool = False) -> Found:
    """What a service shows to one user; with a folder for their cache, to two processes that share it."""
    found = Found(name, chosen=world.variant.unusual)
    shared = None if folder is None else SharedVisit(world, found, seed, folder, probes=probes)
    try:
        await (shared or Visit(world, found, seed, probes=probes)).run()
    finally:
        world.close()
    return found
