"""What an agent is told to have spent is what the service counted: calls side by side, failing, cancelled, late.

python -m tests.attack.agents.counting --calls 2000
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from addin.mcp.runner import ToolFailure
from addin.mcp.server import catalogue_csv
from dataservice.errors import DataServiceError
from dataservice.server import write_sample
from tests.attack.agents.world import Agent, agent_of, service_of
from tests.attack.parts.told import Told, conclude
from tests.embedded import EmbeddedService

NAMES = ("us-cpi", "WTI", "no-such-signal", "eia.wti.spot", "x.y", "gold")

SIDE_BY_SIDE = 8

LATE_S = 0.05
"""The deadline of some worlds: shorter than the slow answers of the service."""


def call(rng: random.Random, slugs: list[str]) -> tuple[str, dict[str, Any]]:
    """Any call that an agent may make, some of them in vain."""
    one, some = rng.choice([*slugs, *NAMES]), rng.sample(slugs, 3)
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("get_signal", {"slug": one}),
        ("get_signal", {"slugs": [one, *some]}),
        ("get_observations", {"slug": one, "start": rng.choice(["-1Y", "MAX", "-20Y", "2030-01-01"])}),
        ("get_observations", {"slugs": some, "start": "-3Y", "freq": "M", "statistics": True}),
        ("get_observations", {"slugs": [one, *some], "limit": 5, "max_requests": rng.randrange(3)}),
        ("list_signals", {"search": rng.choice(["oil", "zzz", "prise"])}),
        ("list_indices", {"slug": rng.choice(["a", "b"])}),
        ("list_currents", {}),
        ("list_posts", {"handle": rng.choice(["@MERIDIAN", "nobody"])}),
        ("list_posts", {"slug": "no-such-post"}),
        ("list_wire", {"ticker": [rng.choice(["cpi", "$X"])], "since": rng.choice(["-3D", "-90D", "-2Y"])}),
        ("list_wire", {"kind": ["news", "filing"], "beat": rng.choice(["MACRO", "none"])}),
        ("list_wire", {"ids": ["x"], "max_requests": 0}),
        ("get_status", {"slugs": [one], "calls": [{"tool": "get_signal", "arguments": {"slugs": some}}]}),
        ("get_observations", {"slug": one, "start": "yesterday"}),
    )
    return rng.choice(calls)


async def make(agent: Agent, tool: str, arguments: Mapping[str, Any], patience_s: float | None) -> None:
    """Make one call, and give it up after a while where its caller has so little patience."""
    asking = asyncio.ensure_future(_asked(agent, tool, arguments))
    if patience_s is not None:
        await asyncio.wait({asking}, timeout=patience_s)
        asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking


async def _asked(agent: Agent, tool: str, arguments: Mapping[str, Any]) -> None:
    with suppress(ToolFailure):
        await agent.ask(tool, **arguments)


async def round_of(service: EmbeddedService, rng: random.Random, calls: int) -> tuple[int, int, list[str]]:
    """Make so many calls in a world of its own: what was told, what was counted, and what is wrong."""
    before, key = service.running.request_count, rng.choice([service.key, service.key, service.free_key])
    deadline_s = rng.choice([30.0, LATE_S])
    async with agent_of(service, key, deadline_s=deadline_s) as agent:
        for _ in range(0, calls, SIDE_BY_SIDE):
            service.running.latency_s = rng.choice([0.0, 0.0, 0.02, 0.1])
            patience = [rng.choice([None, None, None, 0.0, 0.01, 0.03]) for _ in range(SIDE_BY_SIDE)]
            await asyncio.gather(*(make(agent, *call(rng, SLUGS), each) for each in patience))
            if rng.random() < 0.1:
                with suppress(DataServiceError):
                    catalogue_csv(await agent.runner.catalogue())
        service.running.latency_s = 0.0
        await _settled(service)
        await make(agent, "get_status", {}, None)  # costs nothing, and tells what nobody was told
        return agent.told, service.running.request_count - before, agent.wrong


async def _settled(service: EmbeddedService) -> None:
    """Wait until what went on in the background has ended: the count stays for a while."""
    seen = -1
    while seen != service.running.request_count:
        seen = service.running.request_count
        await asyncio.sleep(0.3)


SLUGS: list[str] = []


async def attack(calls: int, seed: int, folder: Path, each: int = 40) -> Told:
    """Worlds of some calls each, until there are so many."""
    rng, wrong, over = random.Random(seed), list[str](), 0
    write_sample(folder / "data", as_of=date(2026, 8, 31))
    SLUGS[:] = sorted(file.stem for file in (folder / "data" / "observations").iterdir())
    with service_of(folder / "data", folder) as service:
        for number in range(0, calls, each):
            told, counted, odd = await round_of(service, rng, min(each, calls - number))
            wrong += odd
            if told != counted:
                over += abs(counted - told)
                wrong.append(f"world {number // each}: told {told}, counted {counted}")
    sys.stdout.write("".join(f"{line}\n" for line in wrong[:20]))
    return Told(calls, wrong=len(wrong), over=over)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        conclude(asyncio.run(attack(given.calls, given.seed, Path(folder))))


if __name__ == "__main__":
    main()
