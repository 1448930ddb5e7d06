"""How often other tasks of a loop go on while one piece of work is under way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass
class Turns:
    """The turns that another task has had so far."""

    count: int = 0


@asynccontextmanager
async def counted_turns() -> AsyncIterator[Turns]:
    """Count the turns that another task has during the block."""
    turns = Turns()

    async def other() -> None:
        while True:
            turns.count += 1
            await asyncio.sleep(0)

    task = asyncio.ensure_future(other())
    try:
        yield turns
    finally:
        task.cancel()
