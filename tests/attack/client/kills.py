"""The service and the reading process killed at random moments: afterwards all is true, and nothing is lost.

    python -m tests.attack.client.kills --kills 220

Both are processes of their own, killed as the system does it (SIGKILL). What another connection to the cache file saw
before a kill counts as known; the data of the service do not change, so every answer has one right value.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import date
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import httpx

from dataservice.client import AsyncClient, HistoryResource, SignalResource
from dataservice.errors import DataServiceError
from dataservice.server import Store, import_directory, write_sample
from dataservice.stores import SqliteStore
from tests.attack.parts.killed import READY, RESOURCES, at_once, client_of, read_on, refuse, serve
from tests.attack.parts.told import Told, conclude

AS_OF = date(2026, 8, 31)

A_FILE = 20
"""Kills with one cache file: with a new one, first pulls are broken off, too."""

PATIENCE_S = 10.0
ALL = 1_000_000

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.attack.parts.killed"])  # what takes seconds to load is loaded once


@dataclass
class Report:
    """What a run found; all after the first four should be 0."""

    kills: int = 0
    of_the_service: int = 0
    reads: int = 0
    known: int = 0
    """Answers that were looked for after a kill because they had been known before it."""
    wrong: int = 0
    lost: int = 0
    foreign: int = 0
    seconds: float = 0.0
    first_wrong: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether every promise was kept."""
        return not (self.wrong or self.lost or self.foreign)


class Attack:
    """One service and one reader after another, over one cache file."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.report = Report()
        self._folder, self._seed, self._chance = folder, seed, random.Random(seed)
        self._database = folder / "service.db"
        with closing(Store(self._database)) as store:
            write_sample(folder / "data", as_of=AS_OF)
            import_directory(store, folder / "data")
            self._keys = [store.create_key("pro") for _ in range(2)]
        self._port = 0
        self._file = folder
        self._known: set[int] = set()
        self._truth: dict[Any, Any] = {}

    async def run(self, kills: int) -> Report:
        """Kill so many times, and look after each."""
        began = time.monotonic()
        with self._service() as service:
            async with client_of(self._url, self._keys[1], None) as client:
                self._truth = {resource: (await client.read(resource)).value for resource in RESOURCES}
            service.kill()
        while self.report.kills < kills:
            if self.report.kills % A_FILE == 0:
                self._known.clear()
                self._file = self._folder / f"cache-{self.report.kills}.sqlite"
            await asyncio.to_thread(self._kill_one)
            await self._look()
        self.report.seconds = round(time.monotonic() - began, 1)
        return self.report

    @property
    def _url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @contextmanager
    def _service(self) -> Iterator[BaseProcess]:
        heard, told = _context.Pipe(duplex=False)
        process = _context.Process(target=serve, args=(str(self._database), self._port, told), daemon=True)
        process.start()
        told.close()
        self._port = heard.recv()
        try:
            yield process
        finally:
            process.kill()
            process.join()

    def _kill_one(self) -> None:
        """Let both work for a moment, and kill one of them in it; then the other."""
        of_the_service = self._chance.random() < 0.5
        with self._service() as service:
            heard, told = _context.Pipe(duplex=False)
            given = (self._url, self._keys[0], str(self._file), self._seed + self.report.kills, told)
            reader = _context.Process(target=read_on, args=given, daemon=True)
            reader.start()
            told.close()
            if heard.recv() == READY:  # by what was heard and not by time: the machine may be busy
                self._hear(heard, self._chance.choice((0, 1, 3, 10, 30)), PATIENCE_S)
                self._hear(heard, ALL, 0.5 * self._chance.random() ** 3)
            if of_the_service:
                service.kill()
                self._hear(heard, ALL, 0.1 * self._chance.random())
            reader.kill()
            reader.join()
            self._hear(heard, ALL, 0.0)
        self.report.kills += 1
        self.report.of_the_service += of_the_service

    def _hear(self, heard: Connection, most: int, for_s: float) -> None:
        """Note what is known: so many answers, for so long at most, or until the reader has ended."""
        ends = time.monotonic() + for_s
        try:
            while most and heard.poll(max(0.0, ends - time.monotonic())):
                self._known.add(heard.recv())
                most -= 1
        except EOFError:
            return

    async def _look(self) -> None:
        """Read everything while nobody answers: it is the truth, or there is none; what was known is still there."""
        store, gone = SqliteStore(self._file), httpx.MockTransport(refuse)
        async with client_of(self._url, self._keys[0], store, transport=gone, sleep=at_once) as client:
            for number in self._chance.sample(range(len(RESOURCES)), len(RESOURCES)):
                await self._look_at(client, number)
        await store.aclose()

    async def _look_at(self, client: AsyncClient, number: int) -> None:
        resource = RESOURCES[number]
        self.report.reads += 1
        self.report.known += number in self._known
        try:
            value = (await client.read(resource)).value
        except DataServiceError as error:
            if number in self._known:
                self.report.lost += 1
                self.report.first_wrong.append(f"{resource} is lost after kill {self.report.kills}: {error}")
            return
        except Exception as error:  # noqa: BLE001 - that there is none is what is tested
            self.report.foreign += 1
            self.report.first_wrong.append(f"{resource} after kill {self.report.kills}: {error!r}")
            return
        if shown(resource, value) != shown(resource, self._truth[resource]):
            self.report.wrong += 1
            self.report.first_wrong.append(f"{resource} is wrong after kill {self.report.kills}: {value!r}")


def shown(resource: Any, value: Any) -> Any:
    """What a cell could show of a value: a window may have come with days around it."""
    if isinstance(resource, HistoryResource):
        found = value.between(resource.start, resource.end)
        return found.times.tolist(), found.values.tolist()
    return repr(value), repr(tuple(value.history)) if isinstance(resource, SignalResource) else tuple(value)


async def attack(kills: int, seed: int) -> Report:
    """The report on so many kills."""
    with tempfile.TemporaryDirectory() as folder:
        return await Attack(Path(folder), seed).run(kills)


def main() -> None:
    """Run it from the command line; the exit code is 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=220)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    report = asyncio.run(attack(given.kills, given.seed))
    print(json.dumps(asdict(report) | {"first_wrong": report.first_wrong[:10]}, indent=1))  # noqa: T201
    conclude(Told(report.kills, wrong=report.wrong + report.foreign, lost=report.lost))


if __name__ == "__main__":
    main()
