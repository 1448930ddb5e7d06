"""Formulas that users entered in the sheet: whether a file may hold them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from addin.formulas.grammar import foreign_reference
from addin.formulas.lexer import PLACEHOLDER, Token, is_readable, tokens
from addin.formulas.shape import shape_of
from addin.workbook.calculation.reading.parsing import CallNode, Expression, GroupNode, UnreadableError, parsed


def is_formula(text: str) -> bool:
    """Return whether spreadsheet programs can read this as a formula (without its `=`).

    >>> is_formula("SUM(A1:A3)*-2%"), is_formula("1+"), is_formula("SUM(A1"), is_formula("A1 B2 is nice")
    (True, False, False, False)
    >>> is_formula("SUM({1;2})"), is_formula("SUM(1;2)"), is_formula("SUM(A1:A)")
    (True, False, False)
    """
    read = _read(text)
    if read is None:
        return False
    try:
        return all(map(_is_complete, _expressions(parsed(read))))
    except UnreadableError:
        return False


def _read(text: str) -> Sequence[Token] | None:
    read = tokens(shape_of(text)[0])
    if not is_readable(read) or foreign_reference(text) is not None or _has_semicolons(read):
        return None
    return [token for token in read if token.kind != "space"]


def _has_semicolons(read: Sequence[Token]) -> bool:
    """Return whether they separate arguments, and not only the rows of arrays."""
    in_array = False
    for token in read:
        if token.kind == "brace":
            in_array = token.text == "{"
        elif token.text == ";" and not in_array:
            return True
    return False


def _expressions(expression: Expression) -> Iterator[Expression]:
    """An expression and all those inside of it."""
    yield expression
    for node in expression:
        for part in _parts(node):
            yield from _expressions(part)


def _parts(node: Token | CallNode | GroupNode) -> Sequence[Expression]:
    if isinstance(node, CallNode):
        return node.arguments
    return node.parts if isinstance(node, GroupNode) else ()


def _is_complete(expression: Expression) -> bool:
    """Return whether operands and operators take turns; an argument may be left out."""
    needs_operand = bool(expression)
    in_array = False
    for before, node in zip([None, *expression], expression, strict=False):
        if isinstance(node, Token) and (node.kind == "brace" or in_array):
            in_array = node.text != "}"
            needs_operand = in_array
        elif isinstance(node, Token) and node.kind in ("compare", "join", "operator"):
            if node.text in "%#":
                continue
            if needs_operand and node.text not in "+-@":
                return False
            needs_operand = True
        elif needs_operand:
            needs_operand = False
        elif not _is_range(before) or not _is_range(node):  # two areas: the cells that both have
            return False
    return not needs_operand


def _is_range(node: Token | CallNode | GroupNode | None) -> bool:
    return isinstance(node, Token) and node.text == PLACEHOLDER
