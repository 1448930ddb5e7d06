"""Thousands of loads in any order of events: every cell ends with its value, what is told is what the service counted,
and nothing is fetched twice.

python -m tests.attack.loads --worlds 2000
"""

from __future__ import annotations

import argparse
import asyncio

from tests.attack.loads.events import attack
from tests.attack.parts.told import Told, conclude


def main() -> None:
    """Attack, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    problems = [asyncio.run(attack(seed)) for seed in range(options.seed, options.seed + options.worlds)]
    found = [text for texts in problems for text in texts]
    print(f"{options.worlds} worlds, {len(found)} problems", *found[:20], sep="\n")  # noqa: T201
    conclude(Told(options.worlds, wrong=len(found)))


if __name__ == "__main__":
    main()
