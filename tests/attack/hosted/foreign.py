"""Users with keys of their own in one backend, their calls interleaved at random: nobody sees another one's answer.

    python -m tests.attack.hosted.foreign --calls 1000000

The tenants, clients, caches and their common store are the real ones; the service is not: it answers each key with
values that tell the key and the signal. Few places for many users let them come and go, refresh and be refused.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
import zlib
from dataclasses import asdict, dataclass, field

import httpx
import orjson

from addin.backend.tenants import Tenant, UserTenants
from addin.config.settings import Settings
from dataservice.client import AsyncClient
from dataservice.stores import MemoryStore
from tests.attack.parts.told import Told, conclude
from tests.dataservice.client.parts.scripted import quota, signal

URL = "https://data.example"
KEYS = tuple(f"ds_{number:040x}" for number in range(1, 31))
REFUSED = frozenset(KEYS[::10])
"""Keys that the service does not know."""

SLUGS = tuple(f"s{number}" for number in range(40))
PLACES = 6
A_BATCH = 20
AT_ONCE = 12
TTL_S = 30.0


@dataclass
class Report:
    """What a run found; `foreign`, `wrong` and `lost` should be 0."""

    calls: int = 0
    batches: int = 0
    refreshes: int = 0
    requests: int = 0
    refused: int = 0
    """Cells of keys that the service refuses."""
    foreign: int = 0
    """Values of another key."""
    wrong: int = 0
    lost: int = 0
    """Cells of good keys without a value."""
    seconds: float = 0.0
    first: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether every promise was kept."""
        return not (self.foreign or self.wrong or self.lost)


def value_of(key: str, slug: str) -> float:
    """What the service tells this key of this signal: a number that no other key gets."""
    return float(KEYS.index(key) * 1_000 + SLUGS.index(slug))


class Attack:
    """Many users, few places, one store."""

    def __init__(self, seed: int) -> None:
        self.report = Report()
        self._chance = random.Random(seed)
        self._settings = Settings(
            url=URL, per_user_keys=True, max_users=PLACES, max_new_keys=10**9, ttl_s=TTL_S, ask_above=10**6
        )
        self._store = MemoryStore()
        self._users = UserTenants(self._settings, self._open)

    async def run(self, calls: int) -> Report:
        """Ask for so many cells."""
        began = time.monotonic()
        await asyncio.gather(*(self._work(calls) for _ in range(AT_ONCE)))
        await self._users.aclose()
        self.report.seconds = round(time.monotonic() - began, 1)
        return self.report

    def _open(self, key: str) -> Tenant:
        client = AsyncClient(URL, key, store=self._store, ttl_s=TTL_S, transport=httpx.MockTransport(self._answer))
        return Tenant(self._settings, client, generation=0, since=0.0, share=16)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        for _ in range(self._chance.randrange(4)):  # whoever else is ready goes first
            await asyncio.sleep(0)
        self.report.requests += 1
        key = request.headers["authorization"].removeprefix("Bearer ")
        if key in REFUSED:
            return httpx.Response(401, json={"error": "no"})
        slug = request.url.path.rpartition("/")[2]
        return httpx.Response(200, json={"data": signal(slug, value_of(key, slug))}, headers=quota())

    async def _work(self, calls: int) -> None:
        while self.report.calls < calls:
            key = self._chance.choice(KEYS)
            async with self._users.tenant(key, "10.0.0.1") as tenant:
                if self._chance.random() < 0.02:
                    self.report.refreshes += 1
                    await tenant.refresh(force=self._chance.random() < 0.5)
                slugs = self._chance.choices(SLUGS, k=A_BATCH)
                text = (await tenant.batches.answer([b'["SIGNAL","%b"]' % slug.encode() for slug in slugs])).text
            self.report.batches += 1
            for slug, answer in zip(slugs, orjson.loads(text), strict=True):
                self._check(key, slug, answer)

    def _check(self, key: str, slug: str, answer: dict[str, object]) -> None:
        self.report.calls += 1
        value = answer.get("value")
        if value is None:
            self.report.refused += key in REFUSED
            self.report.lost += key not in REFUSED
        elif key in REFUSED or value != value_of(key, slug):
            is_foreign = key in REFUSED or value // 1_000 != KEYS.index(key)
            self.report.foreign += is_foreign
            self.report.wrong += not is_foreign
        else:
            return
        if key not in REFUSED or value is not None:
            self.report.first.append(f"key {KEYS.index(key)}, {slug}: {answer}")


async def attack(calls: int, seed: int) -> Report:
    """The report on so many calls."""
    return await Attack(seed).run(calls)


def main() -> None:
    """Run it from the command line; the exit code is 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=zlib.crc32(b"foreign"))
    given = parser.parse_args()
    report = asyncio.run(attack(given.calls, given.seed))
    print(json.dumps(asdict(report) | {"first": report.first[:10]}, indent=1))  # noqa: T201
    conclude(Told(report.calls, wrong=report.wrong, lost=report.lost, leaked=report.foreign))


if __name__ == "__main__":
    main()
