"""Formulas that users entered in the sheet: whether a file may hold them, and whether they may fill several cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from addin.formulas import mentions
from addin.formulas.lexer import HOLE, Token, is_readable, tokens
from addin.formulas.shape import shape_of
from addin.workbook.calculation.reading.parsing import CallNode, Expression, GroupNode, UnreadableError, parsed

_TAKE_RANGES = frozenset({
    "AND", "AREAS", "AVEDEV", "AVERAGE", "AVERAGEA", "AVERAGEIF", "AVERAGEIFS", "COLUMNS", "CONCAT", "CORREL",
    "COUNT", "COUNTA", "COUNTBLANK", "COUNTIF", "COUNTIFS", "COVARIANCE.P", "COVARIANCE.S", "DAVERAGE", "DCOUNT",
    "DCOUNTA", "DEVSQ", "DGET", "DMAX", "DMIN", "DPRODUCT", "DSTDEV", "DSUM", "DVAR", "FORECAST", "FORECAST.LINEAR",
    "GCD", "GEOMEAN", "HARMEAN", "HLOOKUP", "INDEX", "INTERCEPT", "IRR", "ISREF", "KURT", "LARGE", "LCM", "LOOKUP",
    "MATCH", "MAX", "MAXA", "MAXIFS", "MEDIAN", "MIN", "MINA", "MINIFS", "MIRR", "MODE", "MODE.SNGL", "MULTINOMIAL",
    "NETWORKDAYS", "NETWORKDAYS.INTL", "NPV", "OR", "PEARSON", "PERCENTILE", "PERCENTILE.EXC", "PERCENTILE.INC",
    "PERCENTRANK", "PERCENTRANK.EXC", "PERCENTRANK.INC", "PRODUCT", "QUARTILE", "QUARTILE.EXC", "QUARTILE.INC",
    "RANK", "RANK.AVG", "RANK.EQ", "ROWS", "RSQ", "SKEW", "SLOPE", "SMALL", "STDEV", "STDEV.P", "STDEV.S", "STDEVA",
    "STDEVP", "STDEVPA", "STEYX", "SUBTOTAL", "SUM", "SUMIF", "SUMIFS", "SUMPRODUCT", "SUMSQ", "SUMX2MY2",
    "SUMX2PY2", "SUMXMY2", "TEXTJOIN", "TRIMMEAN", "VAR", "VAR.P", "VAR.S", "VARA", "VARP", "VARPA", "VLOOKUP",
    "WORKDAY", "WORKDAY.INTL", "XIRR", "XMATCH", "XNPV", "XOR",
})  # fmt: skip
"""Functions that take whole ranges and have one value; what else is given a range has a value for each of its cells."""

_FREE = frozenset({"SUMPRODUCT"})
"""Functions that work out whatever they are given cell by cell."""


def is_formula(text: str) -> bool:
    """Whether spreadsheet programs can read this as a formula (without its `=`).

    >>> is_formula("SUM(A1:A3)*-2%"), is_formula("1+"), is_formula("SUM(A1"), is_formula("A1 B2 is nice")
    (True, False, False, False)
    """
    read = _read(text)
    if read is None:
        return False
    try:
        return all(map(_is_complete, _expressions(parsed(read))))
    except UnreadableError:
        return False


def may_spill(text: str, namespace: str) -> bool:
    """Whether a formula of ordinary functions, as typed, may have more than one value, or needs several to get its one.

    Excel takes one cell of each range in a formula that a file does not mark as such.

    >>> may_spill("SUM(A1:A3)/2", "DS"), may_spill("SUM(LEN(A1:A3))", "DS"), may_spill("B2#", "DS")
    (False, True, True)
    """
    shape, references = shape_of(text)
    read = tokens(shape)
    if not is_readable(read) or "#" in shape or "{" in shape or mentions(text, namespace):
        return True
    try:
        tree = parsed([token for token in read if token.kind != "space"])
    except UnreadableError:
        return False
    return _lifts(tree, "", iter(references))


def _read(text: str) -> Sequence[Token] | None:
    read = tokens(shape_of(text)[0])
    return [token for token in read if token.kind != "space"] if is_readable(read) else None


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
    """Whether operands and operators take turns; an argument may be left out."""
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
    return isinstance(node, Token) and node.text == HOLE


def _lifts(expression: Expression, function: str, references: Iterator[str]) -> bool:
    """Whether somewhere a range stands where one value is taken."""
    found = False
    for node in expression:
        if isinstance(node, Token):
            is_range = node.text == HOLE and ":" in next(references)
            alone = len(expression) == 1 and function in _TAKE_RANGES
            found |= is_range and not alone and function not in _FREE
        else:
            name = node.written.upper().removeprefix("_XLFN.") if isinstance(node, CallNode) else function
            for part in _parts(node):
                found |= _lifts(part, name, references)
    return found
