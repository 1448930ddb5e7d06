"""What sealing costs an entry that is kept in Redis: `python -m benchmarks.sealed`. Needs a redis-server."""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures.measuring import Row, alternating, report
from benchmarks.figures.results import run_alone
from dataservice.stores import Entry, Store
from dataservice.stores.redis import RedisStore
from dataservice.stores.seal import KEY_BYTES
from dataservice.stores.sealed import SealedStore
from tests.attack.parts.redis_process import RedisProcess

REACH = 1.5


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=500, help="how many to keep and find (default: 500)")
    parser.add_argument("--size", type=int, default=6_000, help="bytes of each (default: 6000, a year of days)")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, RedisProcess(Path(folder)) as redis, asyncio.Runner() as runner:
        plain = RedisStore.from_url(redis.url)
        sealed = SealedStore(RedisStore.from_url(redis.url), lambda salt: (salt * KEY_BYTES)[:KEY_BYTES])
        runner.run(sealed.salt())
        entry = Entry(os.urandom(given.size), 1.0)

        def kept_and_found(store: Store) -> None:
            runner.run(_round(store, entry, given.entries))

        times = alternating({"plain": lambda: kept_and_found(plain), "sealed": lambda: kept_and_found(sealed)})
        for store in (plain, sealed):
            runner.run(store.aclose())
    what = f"{given.entries:,} entries of {given.size:,} bytes kept in Redis and found again"
    report(
        "Sealed in Redis", [Row(what, times["plain"]), Row("the same, sealed", times["sealed"], times["plain"], REACH)]
    )


async def _round(store: Store, entry: Entry, count: int) -> None:
    for number in range(count):
        await store.put(f"scope/v1/signals/slug-{number}?history=365", entry)
    for number in range(count):
        if await store.get(f"scope/v1/signals/slug-{number}?history=365") != entry:
            raise RuntimeError("an entry was lost")


if __name__ == "__main__":
    import sys

    run_alone(lambda: main(sys.argv[1:]))
