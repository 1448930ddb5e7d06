"""People whom an earlier version kept in the cache's store, taken over into the ledger once."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import msgspec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from addin.backend.sign_in.people import People
from addin.backend.sign_in.person import Person
from dataservice.stores import Store
from dataservice.stores.seal import KEY_BYTES
from dataservice.stores.sealed import SealedStore


async def take_over(people: People, store: Store, secret: bytes, now: float) -> int:
    """Bring people, their keys and what they spent this month from the cache's store into the ledger; how many.

    Their sessions end: nobody knows whether the store has kept what ended them. Raises what the stores raise.
    """
    keys = HKDF(SHA256(), KEY_BYTES, None, info=b"dataservice addin people").derive(secret)
    earlier = SealedStore(store, lambda _: keys)
    await earlier.salt()
    names = [entry.name for entry in await earlier.entries("people/") if entry.name.endswith("/person")]
    for name in names:
        entry = await earlier.get(name)
        if entry is None:
            continue
        before = msgspec.json.decode(entry.payload, type=Person)
        old_id = hashlib.sha256(before.subject.encode()).hexdigest()[:32]
        person = msgspec.structs.replace(before, id=await people.id_of(before.subject))
        key = await earlier.get(f"people/{old_id}/key")
        spent = await earlier.add(f"people/{old_id}/requests/{datetime.fromtimestamp(now, UTC):%Y-%m}", 0)
        await people.take_over(person, entry.fetched_at, key.payload.decode() if key else None, spent)
        await earlier.clear(f"people/{old_id}/")
    return len(names)
