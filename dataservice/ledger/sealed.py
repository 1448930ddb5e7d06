"""A ledger whose names and facts only the owners of its keys read; counters are in the clear.

While a secret is being changed there are several keys, and machines that know one of them only. So every fact is
written under each key that is known, and of what is found under several the youngest counts. A fact that is deleted is
overwritten: else whoever knows another key would still find it under that.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping

from dataservice.ledger.base import Fact, Ledger, Look, Mark
from dataservice.stores.seal import Seal, sealed_prefix

GONE = b"\0gone"
"""In place of a fact that was deleted."""

COPIED = b"\0copy"
"""Begins a copy under another key; the number of the write that it copies follows."""

LEFT_UNDER = "left-under-another-key/names"
"""Where the copies under keys that may be given up are named: once such a key is, its copies go."""

LOOKED_AT_TOGETHER = 5_000


class SealedLedger:
    """Keeps facts in `ledger`, sealed with each of `keys`, 96 secret bytes. What none of these opens is not there."""

    def __init__(self, ledger: Ledger, *keys: bytes) -> None:
        self._ledger = ledger
        self._seals = [Seal(each) for each in keys]

    async def look(self, *names: str) -> Look:
        """The facts with these names."""
        places = [(name, seal, seal.name(name)) for name in names for seal in self._seals]
        found = await self._ledger.look(*(sealed for _, _, sealed in places))
        facts = _youngest((name, _opened(seal, sealed, found.facts.get(sealed))) for name, seal, sealed in places)
        return Look(found.mark, {name: fact for name, fact in facts.items() if fact.value != GONE})

    async def write(self, changes: Mapping[str, bytes | None]) -> Mark:
        """Write all these facts, or none."""
        sealed: dict[str, bytes | None] = {}
        for name, value in changes.items():
            for seal in self._seals:
                sealed |= _sealed(seal, name, GONE if value is None else value)
        return await self._ledger.write(sealed)

    async def names(self, prefix: str) -> list[str]:
        """The names that begin with `prefix` and that one of these keys opens."""
        kept = _youngest((name, fact) for name, _, _, fact in await self._all(prefix))
        return sorted(name for name, fact in kept.items() if name.startswith(prefix) and fact.value != GONE)

    async def add(self, counter: str, amount: int) -> int:
        """The counter under its own name."""
        return await self._ledger.add(counter, amount)

    async def key_in_use(self, prefix: str) -> int:
        """Return which of the keys opens what is kept there, the first one where several do, or nothing is kept."""
        used = {self._seals.index(seal) for _, seal, _, _ in await self._all(prefix)}
        return min(used, default=0)

    async def carry_over(self, *prefixes: str) -> None:
        """Copy what the first key lacks, and drop what was left under keys that are not known any more."""
        first, *others = self._seals
        if not others:
            await self._drop_left()
            return
        kept = [each for prefix in prefixes for each in await self._all(prefix)]
        own = {name: fact for name, seal, _, fact in kept if seal is first}
        for name, fact in _youngest((name, fact) for name, _, _, fact in kept).items():
            if name not in own or own[name].number < fact.number:
                await self._ledger.write(_sealed(first, name, COPIED + struct.pack(">q", fact.number) + fact.value))
        # An end of sessions has no content: it stays, so that no machine which knows the old key alone misses it.
        left = sorted(sealed for _, seal, sealed, fact in kept if seal is not first and fact.value not in (b"", GONE))
        if left != await self._left():
            await self.write({LEFT_UNDER: "\n".join(left).encode()})

    async def aclose(self) -> None:
        """Close the ledger."""
        await self._ledger.aclose()

    async def _all(self, prefix: str) -> list[tuple[str, Seal, str, Fact]]:
        """Every fact that one of the keys opens: its name, the key, its sealed name, the fact."""
        raw = await self._ledger.names(sealed_prefix(prefix))
        found: list[tuple[str, Seal, str, Fact]] = []
        for start in range(0, len(raw), LOOKED_AT_TOGETHER):
            some = raw[start : start + LOOKED_AT_TOGETHER]
            facts = (await self._ledger.look(*some)).facts
            for sealed in some:
                found += self._opened_by_any(sealed, facts.get(sealed))
        return found

    def _opened_by_any(self, sealed: str, kept: Fact | None) -> Iterator[tuple[str, Seal, str, Fact]]:
        for seal in self._seals:
            name, fact = seal.opened_name(sealed), _opened(seal, sealed, kept)
            if name is not None and fact is not None:
                yield name, seal, sealed, fact

    async def _left(self) -> list[str]:
        kept = (await self.look(LEFT_UNDER)).facts.get(LEFT_UNDER)
        return [] if kept is None or not kept.value else kept.value.decode().split("\n")

    async def _drop_left(self) -> None:
        """Drop the copies under other keys; those under this one are no copies where the change was taken back."""
        [seal] = self._seals
        left = [name for name in await self._left() if seal.opened_name(name) is None]
        if left:
            await self._ledger.write(dict.fromkeys(left))
            await self.write({LEFT_UNDER: None})


def _sealed(seal: Seal, name: str, value: bytes) -> dict[str, bytes | None]:
    place = seal.name(name)
    return {place: seal.payload(value, place.encode())}


def _opened(seal: Seal, sealed: str, fact: Fact | None) -> Fact | None:
    value = None if fact is None else seal.opened(fact.value, sealed.encode())
    if fact is None or value is None:
        return None
    if value.startswith(COPIED):
        start = len(COPIED)
        return Fact(value[start + 8 :], struct.unpack(">q", value[start : start + 8])[0])
    return Fact(value, fact.number)


def _youngest(facts: Iterable[tuple[str, Fact | None]]) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    for name, fact in facts:
        if fact is not None and (name not in found or fact.number > found[name].number):
            found[name] = fact
    return found
