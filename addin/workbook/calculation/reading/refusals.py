"""Formulas that are not worked out because of what they refer to, and whether they may refer to more than was found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from addin.formulas.lexer import Token, is_readable

MAX_DIGITS = 15
"""Programs cut a number off after these."""

LARGEST = 9.99999999999999e307
"""The largest number that can be written into a formula."""

_PLACES = ("name", "reference")
_NO_DIGIT = re.compile(r"[^0-9]")
_FILE = re.compile(r"\[[0-9]+\]")


def why_refused(read: Sequence[Token]) -> str:
    """Return why a formula with these tokens is not worked out, whatever else is in it; empty where it may be."""
    for token, before in zip(read, (None, *read), strict=False):
        if _is_elsewhere(token):
            return "it refers to another file"
        sheet, _, _ = token.text.rpartition("!")
        is_second = before is not None and before.text == ":"
        if token.kind in _PLACES and sheet and (":" in sheet or is_second):
            return "it refers to the same cells of several sheets"
        if token.kind == "number" and (why := _odd_number(token.text)):
            return f"{token.text[:40]} {why}"
    return ""


def _odd_number(text: str) -> str:
    """Return why programs may read a number differently; empty where they do not."""
    if len(_NO_DIGIT.sub("", text.upper().partition("E")[0]).strip("0")) > MAX_DIGITS:
        return f"has more than {MAX_DIGITS} digits, and programs cut it off"
    return "is larger than any number in a formula" if float(text) > LARGEST else ""


def hides_references(read: Sequence[Token]) -> bool:
    """Return whether a formula that was not read to its end may refer to cells that are not among its references."""
    if not is_readable(read):
        return True
    return any(
        token.text == ":" or (token.kind in (*_PLACES, "table") and not (_is_plain(token) or _is_elsewhere(before)))
        for token, before in zip(read, (read[0], *read), strict=False)
    )


def _is_plain(token: Token) -> bool:
    return token.text.upper() in ("TRUE", "FALSE") or _is_elsewhere(token)


def _is_elsewhere(token: Token) -> bool:
    """Return whether a token names another file, as `[2]` and `'[2]Sheet'!A1` do."""
    if token.kind == "table":
        return _FILE.fullmatch(token.text) is not None
    return token.kind in _PLACES and "[" in token.text.rpartition("!")[0]
