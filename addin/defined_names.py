"""Which defined names stand for a call of ours, directly or through other names."""

from __future__ import annotations

import re
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
    known = [(name.casefold(), text) for name, text in definitions]
    found = {name for name, text in known if mentions(text, namespace)}
    while found:
        more = {name for name, text in known if name not in found and not found.isdisjoint(words(text))}
        if not more:
            break
        found |= more
    return frozenset(found)
