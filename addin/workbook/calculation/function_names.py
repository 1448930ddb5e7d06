"""Names of functions as files write them, ours and those of spreadsheets."""

from __future__ import annotations

from collections.abc import Sequence

from addin.workbook.calculation.lexer import Token


def spans_all(read: Sequence[Token], namespace: str) -> bool:
    """Whether the first token opens a call of ours that ends with the formula."""
    if not read or read[0].kind != "call" or not our_function(read[0].text[:-1], namespace):
        return False
    depth = 0
    for place, token in enumerate(read):
        depth += (token.kind in ("call", "open")) - (token.kind == "close")
        if depth == 0:
            return place == len(read) - 1
    return False


def our_prefixes(namespace: str) -> tuple[str, str]:
    """What the names of our functions begin with, in capitals: in files, and as people type them."""
    return f"_XLDUDF_{namespace.upper()}_", f"{namespace.upper()}."


def our_function(written: str, namespace: str) -> str | None:
    """The id of a function of ours, None for any other."""
    plain = written.lstrip("@").upper()
    for prefix in ("_XLL.", "_XLFN."):
        plain = plain.removeprefix(prefix)
    for prefix in our_prefixes(namespace):
        if plain.startswith(prefix):
            return plain[len(prefix) :]
    return None


def plain_name(written: str) -> str:
    """The name of a spreadsheet's function, without what files put before it.

    >>> plain_name("_xlfn._xlws.SORT")
    'SORT'
    """
    plain = written.lstrip("@").upper()
    for prefix in ("_XLFN.", "_XLWS.", "_XLPM."):
        plain = plain.removeprefix(prefix)
    return plain
