"""Which defined names stand for a call of ours, directly or through other names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from addin.formulas.calls import mentions
from addin.formulas.lexer import tokens
from addin.formulas.shape import shape_of


def words(formula: str) -> frozenset[str]:
    """Return what may be a name in a formula, in lower case; references are none.

    >>> sorted(words('Price("name")*My.Rate+A1'))
    ['my.rate', 'price']
    """
    return _words(shape_of(formula)[0])


@lru_cache(maxsize=4096)  # copied formulas have one shape
def _words(shape: str) -> frozenset[str]:
    named = (token.text for token in tokens(shape) if token.kind in ("name", "call", "reference"))
    return frozenset(text.removesuffix("(").rpartition("!")[2].lstrip("@").casefold() for text in named)


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
