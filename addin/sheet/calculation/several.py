"""Whether a formula as typed may have several values: Excel then fills as many cells, and marks it so in a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from addin.formulas import mentions
from addin.formulas.lexer import PLACEHOLDER, Token, is_readable, tokens
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

_ARGUMENTS = {
    **dict.fromkeys(("AVERAGEIF", "COUNTIF", "IRR", "LARGE", "MIRR", "SUMIF", "TRIMMEAN"), "rvr"),
    **dict.fromkeys(("PERCENTILE", "PERCENTILE.EXC", "PERCENTILE.INC", "QUARTILE", "QUARTILE.EXC", "SMALL"), "rv"),
    **dict.fromkeys(("INDEX", "PERCENTRANK", "PERCENTRANK.EXC", "PERCENTRANK.INC", "QUARTILE.INC"), "rv"),
    **dict.fromkeys(("HLOOKUP", "MATCH", "RANK", "RANK.AVG", "RANK.EQ", "VLOOKUP", "XMATCH"), "vrv"),
    **dict.fromkeys(("FORECAST", "FORECAST.LINEAR", "LOOKUP", "NPV", "SUBTOTAL", "XNPV"), "vr"),
    **dict.fromkeys(("NETWORKDAYS", "TEXTJOIN", "WORKDAY"), "vvr"),
    **dict.fromkeys(("NETWORKDAYS.INTL", "WORKDAY.INTL"), "vvvr"),
    **dict.fromkeys(("AVERAGEIFS", "MAXIFS", "MINIFS", "SUMIFS"), "r" + "rv" * 126),
    "COUNTIFS": "rv" * 127,
}
"""Which arguments of these are whole ranges (r), and which are one value (v); the last letter is that of all others."""

_FREE = frozenset({"SUMPRODUCT"})
"""Functions that work out whatever they are given cell by cell."""

_GIVE_SEVERAL = frozenset({
    "BYCOL", "BYROW", "CHOOSECOLS", "CHOOSEROWS", "DROP", "EXPAND", "FILTER", "FREQUENCY", "HSTACK", "INDIRECT",
    "MAKEARRAY", "MAP", "MODE.MULT", "MUNIT", "RANDARRAY", "SCAN", "SEQUENCE", "SORT", "SORTBY", "TAKE", "TEXTSPLIT",
    "TOCOL", "TOROW", "TRANSPOSE", "UNIQUE", "VSTACK", "WRAPCOLS", "WRAPROWS",
})  # fmt: skip
"""Functions that have several values, whatever they are given."""


def may_spill(text: str, namespace: str) -> bool:
    """Whether a formula of ordinary functions, as typed, may have more than one value, or needs several to get its one.

    Excel takes one cell of each range in a formula that a file does not mark as such.

    >>> may_spill("SUM(A1:A3)/2", "DS"), may_spill("SUM(LEN(A1:A3))", "DS"), may_spill("B2#", "DS")
    (False, True, True)
    >>> may_spill("MATCH(9,A1:A3,0)", "DS"), may_spill("MATCH(B1:B2,A1:A3,0)", "DS"), may_spill("SEQUENCE(3)", "DS")
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
    return _lifts(tree, "v", iter(references))


def _lifts(expression: Expression, taken: str, references: Iterator[str]) -> bool:
    """Whether somewhere several values stand where one is taken; `taken` is r or v, or * for as many as there are."""
    found = False
    for node in expression:
        match node:
            case Token():
                is_several = node.text == PLACEHOLDER and ":" in next(references)
            case CallNode():
                name = node.written.upper().removeprefix("_XLFN.")
                for position, part in enumerate(node.arguments):
                    found |= _lifts(part, _taken(name, position), references)
                is_several = _gives_several(name, node.arguments)
            case GroupNode():
                for part in node.parts:
                    found |= _lifts(part, taken, references)
                is_several = False
        is_taken = taken == "*" or (taken == "r" and len(expression) == 1)
        found |= is_several and not is_taken
    return found


def _taken(function: str, position: int) -> str:
    if function in _FREE:
        return "*"
    letters = _ARGUMENTS.get(function) or ("r" if function in _TAKE_RANGES else "v")
    return letters[min(position, len(letters) - 1)]


def _gives_several(function: str, arguments: Sequence[Expression]) -> bool:
    """Return whether a function has several values: `INDEX` a whole row or column, `OFFSET` with a size."""
    match function:
        case "INDEX":
            return any(not part or (len(part) == 1 and getattr(part[0], "text", "") == "0") for part in arguments[1:])
        case "OFFSET":
            return len(arguments) > 3
        case _:
            return function in _GIVE_SEVERAL
