"""What posts were told to have spent, known to every process of a backend: a repeat may come to another one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable

import msgspec

from addin.protocol.told import retold
from dataservice.stores import Entry, ResilientStore

MOST_POSTS = 200
"""Posts of one key that are known at a time: all are read to tell one, and only those that spent something count."""

ATTEMPTS = 5
"""Who wants to write while others do tries again; each attempt that fails is another's success."""

_DECODER = msgspec.json.Decoder(dict[str, int])


class SharedPosts:
    """The requests that answers told, by the id of their post; kept in `store` beside each key's entries."""

    def __init__(self, store: ResilientStore, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock

    async def tell(self, scope: str, post: str, lost: Iterable[str], requests: int) -> int:
        """Return what to tell a post that spent `requests`, with what its own lost answer and those of `lost` told."""
        name, ids = f"{scope}/posts", {post, *lost}
        for _ in range(ATTEMPTS):
            entry = await self._store.get_shared(name)
            known = _posts_in(entry)
            told, after = retold(known, post, ids, requests, MOST_POSTS)
            if after == known:
                return told
            before_at = None if entry is None else entry.fetched_at
            at = max(self._clock(), math.nextafter(before_at or 0.0, math.inf))
            if await self._store.replace(name, Entry(msgspec.json.encode(after), at), before_at):
                return told
        return requests


def _posts_in(entry: Entry | None) -> dict[str, int]:
    try:
        return {} if entry is None else _DECODER.decode(entry.payload)
    except msgspec.MsgspecError:
        return {}
