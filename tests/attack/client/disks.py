"""Cache files on disks that are full, cut off or damaged: every read still gives the truth, and nothing breaks later.

python -m tests.attack.client.disks --rounds 500

Each round damages the cache file, or forbids it to grow beyond a random size, and reads everything in a process of its
own, beside a service that works. Then the file is read without any limit.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import resource
import signal
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from dataservice.server import Store, import_directory, running, write_sample
from dataservice.stores import SqliteStore
from tests.attack.client.kills import shown
from tests.attack.parts.killed import DAILY, RESOURCES, client_of
from tests.attack.parts.told import Told, conclude

AS_OF = date(2026, 8, 31)
A_FILE = 10
"""Rounds with one cache file, whose damage adds up."""
PATIENCE_S = 60.0
DAMAGE = (
    "none",
    "cut off",
    "cut off at a page",
    "bits flipped",
    "bits flipped",
    "overwritten in the middle",
    "overwritten at its head",
    "emptied",
    "side file gone",
)
PAGE_BYTES = 4_096
LIMITS = (0, 4_096, 20_000, 60_000, 200_000, 1_000_000)

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.attack.client.kills"])


@dataclass
class Found:
    """What the rounds were, and everything that must not happen."""

    rounds: int = 0
    hung: int = 0
    wrong: list[str] = field(default_factory=list)


def damaged(path: Path, chance: random.Random) -> str:
    """Damage the cache file in one way, and name it; a file that is not there yet stays away."""
    kind = chance.choice(DAMAGE)
    content = path.read_bytes() if path.exists() else b""
    if not content:
        return "new"
    at = chance.randrange(len(content))
    match kind:
        case "cut off":
            path.write_bytes(content[:at])
        case "cut off at a page":
            path.write_bytes(content[: at // PAGE_BYTES * PAGE_BYTES])
        case "bits flipped":
            flipped = bytearray(content)
            for place in chance.choices(range(len(content)), k=chance.choice((1, 1, 3, 30))):
                flipped[place] ^= 1 << chance.randrange(8)
            path.write_bytes(flipped)
        case "overwritten in the middle":
            path.write_bytes(content[:at] + chance.randbytes(5_000) + content[at + 5_000 :])
        case "overwritten at its head":
            path.write_bytes(chance.randbytes(200) + content[200:])
        case "emptied":
            path.write_bytes(b"")
        case "side file gone":
            path.with_name(f"{path.name}-wal").unlink(missing_ok=True)
    return kind


def read_all(url: str, key: str, path: str, seed: int, limit: int | None, told: Connection) -> None:
    """Read everything, in a process whose files may not grow beyond `limit` bytes; tell what was read."""
    if limit is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    async def work() -> list[Any]:
        store, chance, read = SqliteStore(path), random.Random(seed), []
        async with client_of(url, key, store) as client:
            for wanted in chance.sample(RESOURCES, len(RESOURCES)):
                try:
                    read.append((RESOURCES.index(wanted), shown(wanted, (await client.read(wanted)).value)))
                except Exception as error:  # noqa: BLE001 - that there is none is what is tested
                    read.append((RESOURCES.index(wanted), repr(error)))
                await client.refresh(force=chance.random() < 0.2)
            for number, slug in enumerate(DAILY, len(RESOURCES)):  # nothing ever changes here
                read.append((number, f"{slug} was revised {len(await client.revisions(slug))} times"))
        await store.aclose()
        return read

    told.send(asyncio.run(work()))


def attack(rounds: int, seed: int, folder: Path) -> Found:
    """So many rounds."""
    chance, found = random.Random(seed), Found()
    with closing(Store(folder / "service.db")) as store:
        write_sample(folder / "data", as_of=AS_OF)
        import_directory(store, folder / "data")
        key = store.create_key("pro")
        with running(store) as service:
            truth = dict(_read(found, "the truth", (service.url, key, str(folder / "truth.sqlite"), 0, None)))
            for number in range(rounds):
                file = folder / f"cache-{number // A_FILE}.sqlite"
                kind, limit = damaged(file, chance), chance.choice((None, *LIMITS))
                for name, bound in ((f"round {number}, {kind}, limit {limit}", limit), (f"after round {number}", None)):
                    for index, read in _read(
                        found, name, (service.url, key, str(file), chance.randrange(10**6), bound)
                    ):
                        if read != truth[index]:
                            found.wrong.append(f"{name}: {(*RESOURCES, *DAILY)[index]}: {str(read)[:300]}")
                found.rounds += 1
    return found


def _read(found: Found, name: str, arguments: tuple[Any, ...]) -> list[tuple[int, Any]]:
    """What a process reads; nothing from one that hangs or ends before it has told."""
    heard, told = _context.Pipe(duplex=False)
    process = _context.Process(target=read_all, args=(*arguments, told), daemon=True)
    process.start()
    told.close()
    read: list[tuple[int, Any]] = []
    try:
        if heard.poll(PATIENCE_S):
            read = heard.recv()
        else:
            found.hung += 1
    except EOFError:
        found.wrong.append(f"{name}: the process ended")
    process.kill()
    process.join()
    return read


def main() -> None:
    """Run it from the command line; the exit code is 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="attacked-disks-") as folder:
        found = attack(given.rounds, given.seed, Path(folder))
    sys.stdout.write("\n  ".join([f"wrong: {len(found.wrong)}", *found.wrong[:20]]) + "\n")
    conclude(Told(found.rounds, hung=found.hung, wrong=len(found.wrong)))


if __name__ == "__main__":
    main()
