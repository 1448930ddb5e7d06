"""Functions in formulas: how files write their names, ours and others, and how often they came out right.

This was measured against results that Excel itself had shown, see `docs.generate.calculation`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path
from typing import NamedTuple

from addin.formulas.lexer import Token
from addin.workbook.calculation.reading.shapes import DEPENDS_ON_THE_PROGRAM

_MEASURED = Path(__file__).with_name("functions.json")


def names_in(text: str) -> frozenset[str]:
    """The functions that a text names, with white space between them."""
    return frozenset(text.split())


def spans_all(read: Sequence[Token], namespace: str) -> bool:
    """Return whether the first token opens a call of ours that ends with the formula."""
    if not read or read[0].kind != "call" or not our_function(read[0].text[:-1], namespace):
        return False
    depth = 0
    for place, token in enumerate(read):
        depth += (token.kind in ("call", "open")) - (token.kind == "close")
        if depth == 0:
            return place == len(read) - 1
    return False


def our_prefixes(namespace: str) -> tuple[str, str]:
    """Return what the names of our functions begin with, in capitals: in files, and as people type them."""
    return f"_XLDUDF_{namespace.upper()}_", f"{namespace.upper()}."


def our_function(written: str, namespace: str) -> str | None:
    """The id of a function of ours, None for any other."""
    plain = written.rpartition("!")[2].lstrip("@").upper()
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


class Measured(NamedTuple):
    """The rate at which the engine came to what Excel itself had shown."""

    lines: int
    """Formulas with this function whose result by Excel is known."""
    right: int
    wrong: Mapping[str, float]
    """The kinds of arguments with which it came to something else at least once, and the share that was right."""
    by_excel: bool = True
    """Whether these results are Excel's; else they are LibreOffice's, or follow from the function's definition."""
    skipped: Sequence[str] = ()
    """The ways to leave arguments out (`2,4/5`: of five the second and the fourth) that always came out right."""

    @property
    def is_known(self) -> bool:
        """Return whether anything can be said about it; without Excel's results it must never have been wrong."""
        return self.by_excel or self.lines == self.right


ALMOST_ALWAYS = 0.8
"""A share of right results below which not even a second engine is believed: both may be wrong alike."""


@cache
def measured() -> dict[str, Measured]:
    """Each function that was compared with Excel's own results."""
    found = json.loads(_MEASURED.read_text(encoding="utf-8"))
    return {name: Measured(**each) for name, each in found.items()}


def all_measured(functions: AbstractSet[str]) -> bool:
    """Return whether every one of these functions, and at least one, was compared with Excel."""
    return bool(functions) and functions <= measured().keys()


def outside_of_values(functions: AbstractSet[str]) -> str:
    """Return why a formula with these functions is never worked out; empty where it is."""
    if outside := sorted(functions & DEPENDS_ON_THE_PROGRAM):
        return f"{outside[0]} depends on more than values"
    return ""


def differs(uses: AbstractSet[tuple[str, str]]) -> str:
    """Return why a formula with these functions and kinds of arguments is not worked out; empty where it may be."""
    for name, kinds in sorted(uses):
        if name in measured() and measured()[name].wrong.get(kinds, 1.0) < ALMOST_ALWAYS:
            return f"{name} often came to something else than Excel shows"
        skipped = skipped_in(kinds)
        if skipped and (name not in measured() or skipped not in measured()[name].skipped):
            return f"{name} was never compared with Excel with these arguments left out"
    return ""


def skipped_in(kinds: str) -> str:
    """The arguments that are left out between commas, and how many there are; empty where none is.

    >>> skipped_in("reference,empty,number,empty"), skipped_in("reference,number"), skipped_in("")
    ('2,4/4', '', '')
    """
    each = kinds.split(",")
    places = [str(place) for place, kind in enumerate(each, 1) if kind == "empty"]
    return f"{','.join(places)}/{len(each)}" if places else ""


_UNLIKE_OTHERS = frozenset(("ACCRINT", "BINOM.INV", "CRITBINOM"))
"""Functions that came to Excel's results, and in other cases to something that no other program shows."""
_OF_SEVERAL, _ONE_CONDITION = frozenset(("MAXIFS", "MINIFS")), 2
"""Functions that are not sure of more than one condition, and the commas in their arguments up to then."""


def needs_judge(uses: AbstractSet[tuple[str, str]]) -> str:
    """Why a formula with these functions and kinds of arguments needs a second engine; empty where it does not."""
    for name, kinds in sorted(uses):
        known = measured().get(name)
        if known is None or not known.is_known:
            return f"{name} was never compared with Excel"
        if (
            kinds in known.wrong
            or name in _UNLIKE_OTHERS
            or (name in _OF_SEVERAL and kinds.count(",") > _ONE_CONDITION)
        ):
            return f"{name} did not always come to what Excel shows"
    return ""
