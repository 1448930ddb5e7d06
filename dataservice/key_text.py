"""An API key as somebody copied it; apart from the client, because every command reads one."""

from __future__ import annotations

import re

KEY = re.compile(r"\b([A-Za-z][A-Za-z0-9]*)_[0-9a-fA-F]{40}")
"""The contract's form of a key: a prefix, an underscore, 40 hexadecimal digits ("Authentication")."""

AROUND_A_KEY = " \t\r\n\f\v\u00a0\u200b\u2060\ufeff\"'"
"""What a copied key may bring along: spaces, quotes that a Windows prompt keeps, and marks that nobody sees."""


def bare_key(text: str) -> str:
    """The key in `text` without what surrounds it.

    >>> bare_key('\\ufeff"ds_0123"\\r\\n')
    'ds_0123'
    """
    return text.strip(AROUND_A_KEY)


def quoted(given: object) -> str:
    """What was given as a message shows it: its repr, without the API key that somebody may have put in its place.

    >>> quoted(0), quoted("ds_" + "0" * 40)
    ('0', "'ds_…'")
    """
    return without_keys(repr(given))


def without_keys(text: str) -> str:
    """The text with every API key replaced by its prefix and three dots.

    >>> without_keys("asked with ds_" + "0" * 40)
    'asked with ds_…'
    """
    return KEY.sub(r"\1_…", text)
