"""An API key as somebody copied it; apart from the client, because every command reads one."""

from __future__ import annotations

AROUND_A_KEY = " \t\r\n\f\v\u00a0\u200b\u2060\ufeff\"'"
"""What a copied key may bring along: spaces, quotes that a Windows prompt keeps, and marks that nobody sees."""


def bare_key(text: str) -> str:
    """The key in `text` without what surrounds it.

    >>> bare_key('\\ufeff"ds_0123"\\r\\n')
    'ds_0123'
    """
    return text.strip(AROUND_A_KEY)
