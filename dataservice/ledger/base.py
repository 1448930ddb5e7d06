"""What a ledger does. Its order of events is counted, not timed: machines' clocks differ, and are set back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


class LedgerAwayError(Exception):
    """The ledger cannot be read or written now: nothing was changed, and nobody knows what it holds."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment in the life of a ledger: its incarnation, and how many writes it had seen.

    A ledger that began again, because it was emptied, deleted or set back, is another incarnation: what happened in an
    earlier one may have been forgotten, so whoever relied on it has to begin again too.
    """

    incarnation: str
    number: int


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact as it was written, and the number of the write."""

    value: bytes
    number: int


@dataclass(frozen=True, slots=True)
class Look:
    """The facts that the ledger holds under the names asked for, all at one moment."""

    mark: Mark
    facts: Mapping[str, Fact] = field(default_factory=dict)


class Ledger(Protocol):
    """Facts by name. Every method raises `LedgerAwayError` where it cannot do what it says."""

    async def look(self, *names: str) -> Look:
        """The facts with these names, as far as there are any, and the moment."""

    async def write(self, changes: Mapping[str, bytes | None]) -> Mark:
        """Write all these facts, None to delete one, or none of them; afterwards they survive a restart."""

    async def names(self, prefix: str) -> list[str]:
        """The names of all facts that begin with `prefix`, in order."""

    async def add(self, counter: str, amount: int) -> int:
        """The value of `counter` after adding `amount`; 0 only reads it."""

    async def aclose(self) -> None:
        """Close files and connections."""
