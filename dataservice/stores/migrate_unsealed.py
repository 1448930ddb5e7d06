"""What an earlier version kept unsealed in a store that others can read, taken over into the sealed one.

Only a person can order that: anybody who can write to the store can put unsealed entries there.
"""

from __future__ import annotations

from collections.abc import Callable

from dataservice.stores.base import Store

ATTEMPTS = 100  # each that fails is another process's success


async def migrate_unsealed(plain: Store, sealed: Store, scope: str, advance: Callable[[], None] = lambda: None) -> int:
    """Seal the entries and logs that `plain` has of `scope`, and delete the unsealed ones; how many there were.

    What is sealed already stays, and parts of a log go behind those of the sealed one: they say the same in any order.
    """
    logs, entries = await plain.logs(f"{scope}/"), await plain.entries(f"{scope}/")
    for log in logs:
        for part in (await plain.parts(log.name)).parts:
            for _ in range(ATTEMPTS):
                last = (await sealed.parts(log.name)).parts[-1:]
                if await sealed.append(log.name, part.payload, last[0].number if last else 0):
                    break
        advance()
    for entry in entries:
        if (found := await plain.get(entry.name)) is not None:
            await sealed.replace(entry.name, found, None)
        advance()
    await plain.clear(f"{scope}/")
    await plain.delete_logs(f"{scope}/")
    return len(logs) + len(entries)
