"""Which defined names stand for a call of ours, directly or through other names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from addin.formulas import mentions

_NO_NAMES = re.compile(r""""[^"]*"|'[^']*'|\[[^\[\]]*\]""")
"""Texts, quoted sheets and columns of tables."""
_WORD = re.compile(r"[^\W\d][\w.\\?]*")


def words(formula: str) -> set[str]:
    """What may be a name in a formula, in lower case.

    >>> sorted(words('Price("name")*My.Rate+A1'))
    ['a1', 'my.rate', 'price']
    """
    return {word.casefold() for word in _WORD.findall(_NO_NAMES.sub(" ", formula))}


def names_with_calls(definitions: Iterable[tuple[str, str]], namespace: str) -> frozenset[str]:
    """The names, in lower case, whose definition calls a function of ours or uses another one of these names."""
    found: set[str] = set()
    users: defaultdict[str, set[str]] = defaultdict(set)
    for name, text in definitions:
        if mentions(text, namespace):
            found.add(name.casefold())
        for word in words(text):
            users[word].add(name.casefold())
    left = list(found)
    while left:
        new = users[left.pop()] - found
        found |= new
        left += new
    return frozenset(found)
