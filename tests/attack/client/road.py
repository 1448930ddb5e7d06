"""The road to the service: nginx that renews connections, limits a second, slow answers, losses, a service under load.

python -m tests.attack.client.road --reads 3000
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dataservice.client import AsyncClient, Meter, SignalResource
from dataservice.client.network.connections import Connections
from dataservice.client.network.transport import MAX_CONNECTIONS
from dataservice.stores import SqliteStore
from tests.attack.parts.told import Told, conclude
from tests.road.distance import far_away
from tests.road.nginx import is_installed, nginx
from tests.road.service import KEY, Counts, Manner, Service, service

KEEPALIVE_REQUESTS = (1, 2, 100, 1_000)
LIMITS = ("", "seconds", "date")
"""What comes with a refusal: nothing, Retry-After in seconds, or as a date."""

AWAY_S = 0.02
SELF = (sys.executable, "-m", "tests.attack.client.road")


@dataclass(frozen=True)
class Found:
    """What the cells got, what was told, and what the service saw."""

    failed: int
    told: int
    counted: int
    refused: int = 0
    most_at_a_time: int = 0
    at_the_end: int = 0
    """Places for requests under way when all had been read."""


async def _read(url: str, numbers: range, *, authority: Path | None = None, file: Path | None = None) -> Found:
    verify = True if authority is None else ssl.create_default_context(cafile=authority)
    store = None if file is None else SqliteStore(file)
    transport, meter = Connections(url, MAX_CONNECTIONS, verify=verify), Meter()
    try:
        async with AsyncClient(url, KEY, store=store, transport=transport) as client:
            reads = (client.read(SignalResource(f"s{number}"), meter=meter) for number in numbers)
            answers = await asyncio.gather(*reads, return_exceptions=True)
            places = client.places
    finally:
        if store is not None:
            await store.aclose()
    return Found(sum(isinstance(answer, BaseException) for answer in answers), meter.requests, 0, at_the_end=places)


def _found(read: Found, counts: Counts) -> Found:
    return Found(read.failed, read.told, counts.counted, counts.refused, counts.most_at_a_time, read.at_the_end)


def renewed(reads: int, keepalive_requests: int, *, http2: bool) -> Found:
    """Reads through an nginx that closes each connection after so many requests."""
    with service() as running, nginx(running.port, keepalive_requests=keepalive_requests, http2=http2) as proxy:
        with far_away(proxy.port, AWAY_S) as port:
            read = asyncio.run(_read(f"https://localhost:{port}", range(reads), authority=proxy.authority))
        return _found(read, running.counts())


def closed(reads: int, requests_a_connection: int) -> Found:
    """Reads of a service that closes each connection after so many answers without a word."""
    manner = Manner(requests_a_connection=requests_a_connection)
    with service(manner) as running, far_away(running.port, AWAY_S) as port:
        return _found(asyncio.run(_read(f"http://localhost:{port}", range(reads))), running.counts())


def limited(reads: int, *, a_second: int, retry_after: str, processes: int = 4) -> Found:
    """Reads by several processes of a service that takes so many a second."""
    manner = Manner(latency_s=AWAY_S, a_second=a_second, retry_after=retry_after)
    with service(manner) as running, tempfile.TemporaryDirectory(prefix="dataservice-road-") as folder:
        part = reads // processes
        parts = [range(start, start + part) for start in range(0, part * processes, part)]
        found = _in_processes(running, Path(folder) / "cache.sqlite", parts)
        return _found(found, running.counts())


def _in_processes(running: Service, file: Path, parts: Sequence[range]) -> Found:
    commands = [[*SELF, "--reader", running.url, str(file), str(part.start), str(part.stop)] for part in parts]
    readers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    told = [json.loads(reader.communicate()[0]) for reader in readers]
    return Found(sum(each["failed"] for each in told), sum(each["told"] for each in told), 0)


def lossy(reads: int) -> Found:
    """Reads with 1 % of the answers late, and 1 of 200 lost with its connection."""
    with service(Manner(slow=0.01)) as running, far_away(running.port, AWAY_S, dropped=0.005) as port:
        read = asyncio.run(_read(f"http://localhost:{port}", range(reads)))
        return _found(read, running.counts())


def slowed(reads: int) -> Found:
    """Reads of a service that takes longer the more is under way."""
    with service(Manner(latency_s=AWAY_S, at_a_time=4)) as running:
        return _found(asyncio.run(_read(running.url, range(reads))), running.counts())


def attack(reads: int) -> Told:
    """All of it; what it injects are the reads."""
    founds = []
    if is_installed():
        founds += [renewed(reads, each, http2=http2) for each in KEEPALIVE_REQUESTS for http2 in (False, True)]
    founds += [
        limited(max(8, reads // 60 * rate // 10), a_second=rate, retry_after=each)
        for rate in (5, 50)
        for each in LIMITS
    ]
    founds += [closed(reads, each) for each in (1, 3, 7)] + [lossy(reads), slowed(reads)]
    failed = sum(found.failed for found in founds)
    return Told(len(founds) * reads, wrong=failed, over=sum(max(0, found.counted - found.told) for found in founds))


def main(arguments: Sequence[str]) -> None:
    """Run the attack, or be one of its readers."""
    if arguments[:1] == ["--reader"]:
        url, file, start, stop = arguments[1:]
        found = asyncio.run(_read(url, range(int(start), int(stop)), file=Path(file)))
        sys.stdout.write(json.dumps({"failed": found.failed, "told": found.told}))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reads", type=int, default=3_000, help="of each kind (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="nothing is random but the losses, which are always alike")
    given = parser.parse_args(arguments)
    begun = time.monotonic()
    told = attack(given.reads)
    with contextlib.suppress(BrokenPipeError):
        sys.stderr.write(f"{time.monotonic() - begun:.0f} s\n")
    conclude(told)


if __name__ == "__main__":
    main(sys.argv[1:])
