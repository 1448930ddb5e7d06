"""What a look at a machine or a server found: one link each, its state, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The state of a link."""

    GOOD = "good"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """One link: its state, and what to do if it is not good."""

    topic: str
    state: State
    text: str
    advice: str = ""
