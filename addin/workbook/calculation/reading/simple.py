"""Formulas that are nothing but arithmetic on cells, which every engine works out alike."""

from __future__ import annotations

from collections.abc import Iterator

from addin.formulas.lexer import Token
from addin.workbook.calculation.functions import plain_name
from addin.workbook.calculation.reading.parsing import CallNode, Expression, GroupNode, Node

_OF_AREAS = frozenset({"SUM", "MIN", "MAX", "COUNT", "AVERAGE"})
"""Functions of whole areas whose results are the same in every line of the truth, from either engine."""
_OF_NUMBERS = frozenset({"ABS", "ROUND", "SQRT"})
MANY_DIGITS = 1_000
"""More than any number has, and far fewer than any engine can count."""


def is_simple(tree: Expression) -> bool:
    """Return whether a formula calculates with numbers, single cells, and sums of areas."""
    return bool(tree) and all(map(_is_simple, tree))


def _is_simple(node: Node) -> bool:
    if isinstance(node, GroupNode):
        return len(node.parts) == 1 and is_simple(node.parts[0])
    if isinstance(node, CallNode):
        name = plain_name(node.written)
        if name in _OF_AREAS:
            return all(len(each) == 1 and _is_hole(each[0]) for each in node.arguments)
        if name == "IF":
            return len(node.arguments) == 3 and _compares(node.arguments[0]) and all(map(is_simple, node.arguments[1:]))
        if name == "ROUND" and not _counts_few(node.arguments[1:]):
            return False
        return name in _OF_NUMBERS and bool(node.arguments) and all(map(is_simple, node.arguments))
    return node.kind in ("hole", "number") or (node.kind == "operator" and node.text in "+-*/")


def _is_hole(node: Node) -> bool:
    return isinstance(node, Token) and node.kind == "hole"


def _counts_few(digits: list[Expression]) -> bool:
    """Return whether digits are counted by a number in the formula, which is nowhere near to what engines can count."""
    match digits:
        case [[Token(kind="number") as number]] | [[Token(kind="operator", text="-"), Token(kind="number") as number]]:
            return float(number.text) < MANY_DIGITS
        case _:
            return False


def _compares(tree: Expression) -> bool:
    """Return whether two single values are compared, and nothing else."""
    match tree:
        case [Token(kind="hole" | "number"), Token(kind="compare"), Token(kind="hole" | "number")]:
            return True
        case _:
            return False


def comparison(tree: Expression) -> Iterator[tuple[int | float, int | float]]:
    """Return what a simple formula compares: pairs of a reference's index or a number."""
    yield from _compared(tree, iter(range(len(tree) * 10_000)))


def _compared(tree: Expression, holes: Iterator[int]) -> Iterator[tuple[int | float, int | float]]:
    sides: list[int | float] = []
    for node in tree:
        if isinstance(node, Token):
            if node.kind == "hole":
                sides.append(next(holes))
            elif node.kind == "number":
                sides.append(float(node.text))
            continue
        for part in node.arguments if isinstance(node, CallNode) else node.parts:
            yield from _compared(part, holes)
    if any(isinstance(node, Token) and node.kind == "compare" for node in tree):
        yield sides[0], sides[1]
