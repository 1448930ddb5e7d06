"""One backend under load for as long as asked: memory, handles and threads stay what they were.

python -m tests.attack.hosted.soak --seconds 1800

The load is what a day of work is made of: the same cells again, new days, tables, errors, previews, refreshes. After a
first part, in which caches fill, the medians of the second and the last part are compared. The caches are bounded so
closely that they are full within minutes; with the usual bounds, half an hour of filling would look like a leak.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import httpx

from dataservice.server import Store, import_directory, running, write_sample
from tests.addin.serving import address_in, started
from tests.attack.parts.told import Told, conclude

AS_OF = date(2026, 8, 31)
SLUGS = ("us-cpi", "us-10y", "btc-usd", "cboe.vix", "eia.wti.spot", "no-such-signal")
BOUNDS = {"DATA_SERVICE_MEMORY_BYTES": str(8 * 2**20), "DATA_SERVICE_MEMO_BYTES": str(4 * 2**20)}
OF_THE_CALL = ("argument", "no_data")
"""The kinds of error that a call may have here: the service works all the time."""
PARTS = 4
MAY_GROW = 0.05
"""The share by which memory may differ between two parts: what is kept is bounded, but not always equally full."""
MAY_GROW_MIB = 8
HANDLES = 5
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Sample:
    """What the process held at a moment."""

    memory_mib: float
    handles: int
    threads: int


@dataclass
class Found:
    """What was seen, and everything that must not happen."""

    batches: int = 0
    cells: int = 0
    samples: list[Sample] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def medians(self) -> Iterator[tuple[str, float, float]]:
        """For each figure its name and its median in the second part and in the last."""
        size = len(self.samples) // PARTS
        second, last = self.samples[size : 2 * size], self.samples[-size:]
        for name in Sample.__slots__:
            yield name, *(statistics.median(getattr(each, name) for each in part) for part in (second, last))

    @property
    def leaks(self) -> list[str]:
        """What has grown."""
        if len(self.samples) < PARTS:
            return ["too few samples"]
        allowed = {"memory_mib": MAY_GROW_MIB, "handles": HANDLES, "threads": HANDLES}
        return [
            f"{name} grew from {before:,.0f} to {after:,.0f}"
            for name, before, after in self.medians()
            if after > before * (1 + MAY_GROW) + allowed[name]
        ]


def sample_of(pid: int) -> Sample:
    """What a process holds now (Linux)."""
    process = Path(f"/proc/{pid}")
    pages = int((process / "statm").read_text(encoding="ascii").split()[1])
    return Sample(pages * 4096 / MIB, len(list((process / "fd").iterdir())), len(list((process / "task").iterdir())))


def a_batch(chance: random.Random) -> list[list[Any]]:
    """Calls as a workbook makes them."""

    def call() -> list[Any]:
        slug, day = chance.choice(SLUGS), str(AS_OF - timedelta(days=chance.randrange(4_000)))
        return chance.choice(
            [
                ["SIGNAL", slug],
                ["SIGNAL", slug, "value", day],
                ["SIGNAL_HISTORY", slug, chance.choice(("-1Y", "-5Y", day))],
                ["SPARK", slug, chance.randint(2, 60)],
                ["INDEX", "risk-dial"],
                ["WIRE", None, chance.randint(1, 20)],
                ["SIGNAL", slug, "nonsense"],
                ["NOPE", chance.random()],
                ["QUOTA"],
                ["STATUS"],
            ]
        )

    return [call() for _ in range(chance.choice((1, 5, 50, 500)))]


def attack(url: str, pid: int, seconds: float, seed: int) -> Found:
    """Load the backend for so long, and look at it all the time."""
    chance, found, ends = random.Random(seed), Found(), time.monotonic() + seconds
    looked = float("-inf")
    while time.monotonic() < ends:
        # A connection now and then is a new one, as pages are closed and opened.
        with httpx.Client(base_url=url, trust_env=False, timeout=60) as http:
            for _ in range(20):
                calls = a_batch(chance)
                answers = http.post("/functions/call", json={"calls": calls}).json()["answers"]
                found.batches += 1
                found.cells += len(answers)
                if len(answers) != len(calls):
                    found.wrong.append(f"{len(calls)} calls, {len(answers)} answers")
                    continue
                found.wrong += [
                    f"{call}: {answer['message']}"
                    for call, answer in zip(calls, answers, strict=True)
                    if answer.get("kind", "argument") not in OF_THE_CALL
                ]
                if chance.random() < 0.1:
                    http.post("/functions/cost", json={"calls": calls})
                if chance.random() < 0.05:
                    http.post("/refresh", json={"mode": chance.choice(("stale", "force"))})
                if time.monotonic() - looked > seconds / 200:
                    looked = time.monotonic()
                    found.samples.append(sample_of(pid))
    return found


def run(seconds: float, seed: int, folder: Path) -> Found:
    """The soak of a backend in a process of its own."""
    with Store(folder / "service.db") as store:
        write_sample(folder / "data", as_of=AS_OF)
        import_directory(store, folder / "data")
        with running(store) as service:
            environ = {
                "PATH": "/usr/bin:/bin",
                "HOME": str(folder),
                "DATA_SERVICE_URL": service.url,
                "DATA_SERVICE_API_KEY": store.create_key("enterprise"),
                "DATA_SERVICE_TTL_S": "5",
                **BOUNDS,
            }
            with started("serve", "--http", "--port", "0", environ=environ) as process:
                return attack(address_in(process), process.pid, seconds, seed)


def main() -> None:
    """Run it from the command line; the exit code is 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        found = run(given.seconds, given.seed, Path(folder))
    sys.stdout.write(f"{found.batches:,} batches, {found.cells:,} cells\n")
    if len(found.samples) >= PARTS:
        sys.stdout.writelines(f"  {name}: {before:,.0f} → {after:,.0f}\n" for name, before, after in found.medians())
    sys.stdout.writelines(f"  {each}\n" for each in (*found.leaks, *found.wrong[:20]))
    conclude(Told(round(given.seconds), wrong=len(found.wrong), leaked=len(found.leaks)))


if __name__ == "__main__":
    main()
