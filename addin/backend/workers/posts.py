"""What posts were told to have spent, by the ids that they carry.

An answer can be lost between backend and page. The page then posts the same again under the same id, or names the id
with a later post, and is told once more what the lost answer said. A repeat may come to another process of a backend.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice

import msgspec

from dataservice.stores import Entry, ResilientStore

MOST_OF_PROCESS = 1_000
"""A page has a few posts under way; an office of pages shares one backend."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def retold(
    known: Mapping[str, int], post: str, ids: Collection[str], requests: int, most: int
) -> tuple[int, dict[str, int]]:
    """Return what to tell `post`, which has spent `requests` and names `ids`, and what is known of posts then."""
    told = requests + sum(known.get(each, 0) for each in ids)
    after = {each: spent for each, spent in known.items() if each not in ids}
    if told and _ID.fullmatch(post):
        after[post] = told
    return told, dict(islice(after.items(), max(0, len(after) - most), None))


class ToldPosts:
    """The requests that answers told, by the id of their post; of the posts without an answer, the newest are known."""

    def __init__(self, most: int = MOST_OF_PROCESS) -> None:
        self._most = most
        self._requests: dict[str, int] = {}
        self._under_way: dict[str, asyncio.Event] = {}

    def tell(self, post: str, lost: Iterable[str], requests: int) -> int:
        """Return what to tell a post that spent `requests`, with what its own lost answer and those of `lost` told."""
        told, self._requests = retold(self._requests, post, {post, *lost}, requests, self._most)
        return told

    @contextmanager
    def answering(self, post: str) -> Iterator[None]:
        """Have a post count as under way inside the block."""
        over = asyncio.Event()
        self._under_way[post] = over
        try:
            yield
        finally:
            over.set()
            if self._under_way.get(post) is over:
                del self._under_way[post]

    async def have_ended(self, posts: Iterable[str], within_s: float) -> None:
        """Wait until none of these is under way: a page may have left one, and what it spends is known at its end."""
        waiting = [self._under_way[post] for post in posts if post in self._under_way]
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s if waiting else None):
                for over in waiting:
                    await over.wait()


MOST_SHARED = 200
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
            told, after = retold(known, post, ids, requests, MOST_SHARED)
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
