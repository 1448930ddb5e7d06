"""A ledger whose names and facts only the owner of its keys reads; counters are in the clear."""

from __future__ import annotations

from collections.abc import Mapping

from dataservice.ledger.base import Fact, Ledger, Look, Mark
from dataservice.stores.seal import Seal, sealed_prefix


class SealedLedger:
    """Keeps facts in `ledger`, sealed with `keys`, 96 secret bytes. What these do not open is not there."""

    def __init__(self, ledger: Ledger, keys: bytes) -> None:
        self._ledger = ledger
        self._seal = Seal(keys)

    async def look(self, *names: str) -> Look:
        """The facts with these names."""
        sealed = {self._seal.name(name): name for name in names}
        found = await self._ledger.look(*sealed)
        opened = {name: self._opened(key, found.facts.get(key)) for key, name in sealed.items()}
        return Look(found.mark, {name: fact for name, fact in opened.items() if fact is not None})

    async def write(self, changes: Mapping[str, bytes | None]) -> Mark:
        """Write all these facts, or none."""
        return await self._ledger.write(dict(self._sealed(name, value) for name, value in changes.items()))

    async def names(self, prefix: str) -> list[str]:
        """The names that begin with `prefix` and that these keys open."""
        found = await self._ledger.names(sealed_prefix(prefix))
        return sorted(name for each in found if (name := self._seal.opened_name(each)) and name.startswith(prefix))

    async def add(self, counter: str, amount: int) -> int:
        """The counter under its own name."""
        return await self._ledger.add(counter, amount)

    async def aclose(self) -> None:
        """Close the ledger."""
        await self._ledger.aclose()

    def _sealed(self, name: str, value: bytes | None) -> tuple[str, bytes | None]:
        sealed = self._seal.name(name)
        return sealed, None if value is None else self._seal.payload(value, sealed.encode())

    def _opened(self, sealed: str, fact: Fact | None) -> Fact | None:
        value = None if fact is None else self._seal.opened(fact.value, sealed.encode())
        return None if fact is None or value is None else Fact(value, fact.number)
