"""What the cache of every host must do with answers: one table, as steps of a user, a clock and a backend.

Each host runs every rule in `test_cache_rules.py`. A step either happens (`passes`, `answers`) or is a recalculation of
some calls, with the number of calls that have to be asked for then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

FRESH_S = 900.0
"""How long answers are fresh where a rule says nothing else: as the backend tells it, or the client is set."""


@dataclass(frozen=True)
class Shows:
    """The user sees these calls recalculated; `asked` of them are asked for, equal ones once."""

    calls: str
    asked: int


@dataclass(frozen=True)
class Passes:
    """So many seconds pass; asleep, only the clock on the wall goes on. `wall_s` is by how much that clock is set."""

    seconds: float
    is_asleep: bool = False
    wall_s: float = 0.0


@dataclass(frozen=True)
class Answers:
    """What the backend does from now on: its answers are fresh for so long, and belong to so many refreshes."""

    fresh_s: float = FRESH_S
    generation: int = 1
    is_away: bool = False


Step = Shows | Passes | Answers

RULES: dict[str, tuple[Step, ...]] = {
    "a fresh answer is shown without asking": (Shows("a", 1), Passes(FRESH_S - 1), Shows("a", 0)),
    "equal calls are asked for once": (Shows("aaa", 1), Shows("aab", 1), Shows("ab", 0)),
    "an answer that is not fresh any more is asked for again": (Shows("a", 1), Passes(FRESH_S + 1), Shows("a", 1)),
    "freshness is counted for each answer": (Shows("a", 1), Passes(600), Shows("b", 1), Passes(400), Shows("ab", 1)),
    "what is fresh for a shorter time is asked for sooner": (
        *(Answers(fresh_s=60), Shows("a", 1)),
        *(Passes(59), Shows("a", 0), Passes(2), Shows("a", 1)),
    ),
    "time counts while the machine sleeps": (Shows("a", 1), Passes(FRESH_S + 1, is_asleep=True), Shows("a", 1)),
    "a clock that is set back keeps nothing fresh for longer": (
        *(Shows("a", 1), Passes(0, wall_s=-3_600)),
        *(Passes(FRESH_S + 1), Shows("a", 1)),
    ),
    "a clock that is set forward costs one request at most": (
        *(Shows("a", 1), Passes(0, wall_s=86_400), Shows("a", 1)),
        *(Passes(10), Shows("a", 0)),
    ),
    "after a refresh elsewhere nothing older counts as fresh": (
        *(Shows("ab", 2), Answers(generation=2)),
        *(Shows("c", 1), Shows("ab", 2), Shows("abc", 0)),
    ),
    "the same refresh is obeyed once": (
        *(Shows("a", 1), Answers(generation=2), Shows("b", 1)),
        *(Shows("a", 1), Shows("c", 1), Shows("ab", 0)),
    ),
    "what failed because nobody answered is not kept": (
        *(Answers(is_away=True), Shows("a", 1)),
        *(Answers(), Passes(60), Shows("a", 1), Shows("a", 0)),
    ),
}

OF_A_BACKEND = {
    name for name, steps in RULES.items() if any(isinstance(s, Answers) and s.generation > 1 for s in steps)
}
"""Rules about what other hosts of a backend did. The Python client has no backend: it refreshes itself."""


class Host(Protocol):
    """A host's cache before a backend, or a service, that counts."""

    def passes(self, step: Passes) -> None:
        """Let time pass."""

    def answers(self, step: Answers) -> None:
        """Let the backend answer so."""

    def shows(self, calls: str) -> int:
        """Recalculate calls, a letter each; how many of them were asked for."""


def followed(host: Host, steps: tuple[Step, ...]) -> list[tuple[str, int]]:
    """Return what was asked for at each recalculation, as `wanted` does."""
    asked = []
    for step in steps:
        match step:
            case Passes():
                host.passes(step)
            case Answers():
                host.answers(step)
            case Shows():
                asked.append((step.calls, host.shows(step.calls)))
    return asked


def wanted(steps: tuple[Step, ...]) -> list[tuple[str, int]]:
    """Return what has to be asked for at each recalculation."""
    return [(step.calls, step.asked) for step in steps if isinstance(step, Shows)]
