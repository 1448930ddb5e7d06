"""How an attack ends: with one line that `python -m tests.attack` reads, and an exit code."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from typing import NoReturn

MARK = "told: "


@dataclass(frozen=True, slots=True)
class Told:
    """What an attack did, and how often a promise was broken."""

    injected: int
    """Faults, kills, damaged books, hostile requests: whatever the attack is made of."""
    hung: int = 0
    """Calls and commands that did not end in their time."""
    wrong: int = 0
    """Values, texts or files that are not the truth, and answers that should not have been given."""
    lost: int = 0
    """Values that were known and are gone."""
    leaked: int = 0
    """Times a key was seen where no key may be, or memory and handles that were not given back."""
    over: int = 0
    """Requests more than were needed, or more than were told."""

    @property
    def is_clean(self) -> bool:
        """Whether every promise was kept."""
        return not (self.hung or self.wrong or self.lost or self.leaked or self.over)


def conclude(told: Told) -> NoReturn:
    """Print the last line, and end: with exit code 1 where a promise was broken."""
    sys.stdout.write(f"{MARK}{json.dumps(asdict(told))}\n")
    raise SystemExit(not told.is_clean)


def heard(output: str) -> Told | None:
    """What an attack told in its output; None if it ended before it could."""
    for line in reversed(output.splitlines()):
        if line.startswith(MARK):
            return Told(**json.loads(line.removeprefix(MARK)))
    return None
