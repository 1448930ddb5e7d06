"""Functions in formulas: how files write their names, ours and those of spreadsheets, and which the engine works out.

What it works out as spreadsheets do was measured, see `docs.generate.calculation`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path

from addin.workbook.calculation.lexer import Token
from addin.workbook.calculation.shapes import DEPENDS_ON_THE_PROGRAM

EQUAL, DIFFERS, REFUSED = "equal", "differs", "refused"

_MEASURED = Path(__file__).with_name("functions.json")


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


@cache
def measured() -> dict[str, str]:
    """Each measured function with its outcome: `equal`, `differs` or `refused`."""
    found: dict[str, str] = json.loads(_MEASURED.read_text(encoding="utf-8"))
    return found


def doubtful(functions: AbstractSet[str], *, compared: bool) -> str:
    """Why a formula with these functions is not worked out; empty where it is.

    What could be compared with the file may call functions that were never measured; nothing may call one that differs.
    """
    if outside := sorted(functions & DEPENDS_ON_THE_PROGRAM):
        return f"{outside[0]} depends on more than values"
    for name in sorted(functions):
        outcome = measured().get(name)
        if outcome in (DIFFERS, REFUSED):
            return f"{name} is not worked out as spreadsheets do"
        if outcome is None and not compared:
            return f"{name} is not known to be worked out as spreadsheets do, and there was no value to compare with"
    return ""
