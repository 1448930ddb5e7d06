"""The property tests with random examples: in the suite itself they are the same every time.

python -m tests.attack.parts.examples --rounds 20
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from tests.attack.parts.told import Told, conclude

PROJECT = Path(__file__).resolve().parents[3]


def run(seed: int) -> Told:
    """Run every property test once with examples that follow from the seed."""
    profile = ["--hypothesis-profile=random", f"--hypothesis-seed={seed}"]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "hypothesis", *profile, "tests"]
    output = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False).stdout
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|errors?)\b", output)}
    failed = sum(count for word, count in counts.items() if word != "passed")
    if failed or not counts:
        sys.stdout.write(output[-20_000:])
    return Told(counts.get("passed", 0) + failed, wrong=failed if counts else 1)


def main() -> None:
    """Run it from the command line; the exit code is 1 where a property does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rounds = [run(given.seed + number) for number in range(given.rounds)]
    conclude(Told(sum(each.injected for each in rounds), wrong=sum(each.wrong for each in rounds)))


if __name__ == "__main__":
    main()
