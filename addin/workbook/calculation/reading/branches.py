"""Conditions under which a function works out its arguments: a call of ours in a branch is made only there."""

from __future__ import annotations

from collections.abc import Sequence

from addin.formulas.lexer import Token
from addin.workbook.calculation.reading.parsing import Expression
from addin.workbook.calculation.reading.shapes import Piece

_OF_ORDER = frozenset(("<", ">", "<=", ">="))


def condition_of(
    name: str, before: Sequence[list[Piece]], place: int, count: int
) -> tuple[tuple[Piece, ...], int] | None:
    """A formula, and the number that it comes to where this argument is worked out; None where it always is."""
    if not place:
        return None
    first = before[0]
    match name:
        case "IF":
            return ("IF(", *first, ",1,2)"), place
        case "IFS":
            asked = place - place % 2
            earlier = [piece for number in range(0, asked, 2) for piece in (*before[number], ",0,")]
            own = [*before[asked], ",1,"] if place % 2 else []
            return ("IFS(", *earlier, *own, "TRUE,", "0)" if place % 2 else "1)"), 1
        case "CHOOSE":
            return ("CHOOSE(", *first, *(f",{number}" for number in range(1, count)), ")"), place
        case "SWITCH":
            return _switched(before, place)
        case "IFERROR" | "IFNA":
            check = "ISERROR" if name == "IFERROR" else "ISNA"
            return (f"IF({check}(", *first, "),1,2)"), 1
        case _:
            return None


def _switched(before: Sequence[list[Piece]], place: int) -> tuple[tuple[Piece, ...], int] | None:
    """Return what `SWITCH` compares until it comes to this argument: results stand behind what they belong to."""
    earlier = [piece for number in range((place - 1) // 2) for piece in (",", *before[1 + 2 * number], ",0")]
    if place % 2 == 0:  # a result, behind what it belongs to
        return ("SWITCH(", *before[0], *earlier, ",", *before[place - 1], ",1,0)"), 1
    # Another value to compare with, or the default: asked for when none before was equal.
    return (("SWITCH(", *before[0], *earlier, ",1)"), 1) if earlier else None


def compares_by_size(tree: Expression) -> bool:
    """Return whether an expression asks which of two values is smaller."""
    return any(isinstance(node, Token) and node.kind == "compare" and node.text in _OF_ORDER for node in tree)
