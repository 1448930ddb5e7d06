"""Formulas in help and examples are written as DS.NAME(...), and shown with the namespace in use."""

from __future__ import annotations

import re

__all__ = ["in_namespace"]

_USUAL = re.compile(r"\bDS\.(?=[A-Z])")


def in_namespace(text: str, namespace: str) -> str:
    """The text with formulas as users of `namespace` type them.

    >>> in_namespace('=DS.SIGNAL("us-cpi")', "ACME")
    '=ACME.SIGNAL("us-cpi")'
    """
    return _USUAL.sub(f"{namespace}.", text)
