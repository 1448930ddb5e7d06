"""What posts were told to have spent, by the ids that they carry.

An answer can be lost between backend and page. The page then posts the same again under the same id, or names the id
with a later post, and is told once more what the lost answer said.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable

MOST_POSTS = 1_000
"""A page has a few posts under way; an office of pages shares one backend."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


class ToldPosts:
    """The requests that answers told, by the id of their post; of the posts without an answer, the newest are known."""

    def __init__(self, most: int = MOST_POSTS) -> None:
        self._most = most
        self._requests: OrderedDict[str, int] = OrderedDict()

    def tell(self, post: str, lost: Iterable[str], requests: int) -> int:
        """What to tell a post that has spent `requests`, with what its own lost answer and those of `lost` told."""
        told = requests + sum(self._requests.pop(each, 0) for each in {post, *lost})
        if told and _ID.fullmatch(post):
            self._requests[post] = told
            if len(self._requests) > self._most:
                self._requests.popitem(last=False)
        return told
