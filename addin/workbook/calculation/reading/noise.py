"""Steps whose last digits every program rounds in its own way, and formulas with these steps moved by hardly anything.

What follows a step may jump there: `INT`, a comparison, a key of a lookup. Then two programs show different results.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from zlib import crc32

from addin.formulas.lexer import Token
from addin.workbook.calculation.functions import names_in
from addin.workbook.calculation.reading.parsing import CallNode, Expression, Node
from addin.workbook.calculation.reading.shapes import Piece

HARDLY = 1e-12
"""Relative: how far the results of such a step may lie apart in two programs."""

BARELY = 1e-15
"""Relative: how far a number may be from the one that is meant, such as 0.1 from a tenth."""

_POWERS = frozenset(("POWER",))
_STEPPED = names_in(
    """MOD QUOTIENT MROUND CEILING FLOOR CEILING.MATH FLOOR.MATH CEILING.PRECISE FLOOR.PRECISE ISO.CEILING"""
)
"""Functions that count how often one number is in another: programs differ about whole numbers (`MOD(1,0.1)`)."""
_PARTS = 1024
"""Multiples of this part of 1 are exact in every program, as whole numbers are."""
_EXACT_WHERE_WHOLE = names_in(
    """EXP LN LOG10 SIN COS TAN COT SEC CSC ASIN ACOS ATAN ATAN2 ACOT SINH COSH TANH COTH SECH CSCH ASINH ACOSH ATANH
    ACOTH DEGREES RADIANS SQRTPI YEARFRAC FV PV PMT NPER IPMT PPMT CUMIPMT CUMPRINC NPV XNPV IRR XIRR MIRR RATE RRI
    PDURATION FVSCHEDULE EFFECT NOMINAL DB DDB VDB SYD SLN GEOMEAN HARMEAN STDEV STDEV.S STDEV.P STDEVP STDEVA STDEVPA
    VAR VAR.S VAR.P VARP VARA VARPA DEVSQ AVEDEV SKEW SKEW.P KURT DSTDEV DSTDEVP DVAR DVARP PERCENTILE PERCENTILE.INC
    PERCENTILE.EXC QUARTILE QUARTILE.INC QUARTILE.EXC TRIMMEAN STANDARDIZE COMBIN COMBINA PERMUT PERMUTATIONA
    PERCENTRANK PERCENTRANK.INC PERCENTRANK.EXC DOLLARDE DOLLARFR SUMXMY2 SUMX2MY2 SUMX2PY2 SERIESSUM"""
)
"""Functions whose result, where it comes to a whole number, is one in every program."""
_NEVER_EXACT = names_in(
    """LOG MULTINOMIAL GROWTH LOGEST TREND LINEST FORECAST FORECAST.LINEAR SLOPE INTERCEPT RSQ CORREL PEARSON STEYX
    COVAR COVARIANCE.P COVARIANCE.S MDETERM MINVERSE GAMMA GAMMALN GAMMALN.PRECISE CONVERT ERF ERF.PRECISE ERFC
    ERFC.PRECISE FISHER FISHERINV PHI GAUSS PROB BESSELI BESSELJ BESSELK BESSELY IMABS IMREAL IMAGINARY IMARGUMENT
    ACCRINT ACCRINTM AMORDEGRC AMORLINC DISC DURATION INTRATE MDURATION PRICE PRICEDISC PRICEMAT RECEIVED TBILLEQ
    TBILLPRICE TBILLYIELD YIELD YIELDDISC YIELDMAT ODDFPRICE ODDFYIELD ODDLPRICE ODDLYIELD ISPMT CRITBINOM
    CONFIDENCE CONFIDENCE.NORM CONFIDENCE.T"""
)
_DISTRIBUTION = re.compile(
    r"(?:BETA|BINOM|CHI|CHISQ|EXPON|F|GAMMA|HYPGEOM|LOG|LOGNORM|NEGBINOM|NORM|NORMS|NORM\.S|POISSON|T|WEIBULL|Z)"
    r"\.?(?:DIST|INV|TEST)(?:\.RT|\.2T|\.RANGE)?|POISSON|WEIBULL"
)
_MARK, _FINE_MARK, _VARIABLE = "\x02", "\x03", "ds_n"
_MARKS = re.compile(f"([{_MARK}{_FINE_MARK}])")
_ROUNDED = "LET(ds_r,ROUND(ds_n,11-INT(LOG10(ABS(ds_n)))),IFERROR(IF(ABS(ds_r-ds_n)<=1E-13*ABS(ds_n),ds_r,ds_n),ds_n))"
"""What a result is if it hardly differs from a number of twelve digits, as a key or a limit mostly is."""


class Move(IntEnum):
    """A way to move a result within what programs differ by, as a formula's switch says it."""

    DOWN, UP, ROUNDED = -1, 1, 2


def is_noisy(name: str) -> bool:
    """Return whether programs round the last digits of a function differently.

    >>> [is_noisy(each) for each in ("POWER", "MULTINOMIAL", "NORM.S.DIST", "T.INV.2T", "SUM", "INT")]
    [True, True, True, True, False, False]
    """
    known = _POWERS | _STEPPED | _EXACT_WHERE_WHOLE | _NEVER_EXACT
    return name in known or _DISTRIBUTION.fullmatch(name) is not None


def nudged_call(name: str, arguments: Sequence[Sequence[Piece]], call: Sequence[Piece]) -> list[Piece]:
    """A call of a noisy function, with a mark where `written` moves its result; exact results stay as they are."""
    is_whole = f"({_VARIABLE}=INT({_VARIABLE}))"
    if name in _POWERS and len(arguments) == 2:
        base, power = arguments
        is_exact: list[Piece] = ["(((", *power, ")=INT(", *power, "))+((", *base, ")=1)>0)"]
        return [f"LET({_VARIABLE},", *call, f",IF({is_whole}*", *is_exact, f",{_VARIABLE},{_MARK}))"]
    if name in _STEPPED and arguments:
        return _nudged_argument(name, arguments)
    moved = f"IF({is_whole},{_VARIABLE},{_MARK})" if name in _EXACT_WHERE_WHOLE else _MARK
    return [f"LET({_VARIABLE},", *call, f",{moved})"]


def _nudged_argument(name: str, arguments: Sequence[Sequence[Piece]]) -> list[Piece]:
    """A call whose first argument has a mark, unless that and the step are exact."""
    first, *others = arguments
    is_exact: list[Piece] = [f"({_VARIABLE}*{_PARTS}=INT({_VARIABLE}*{_PARTS}))"]
    if others:
        is_exact += ["*((", *others[0], f")*{_PARTS}=INT((", *others[0], f")*{_PARTS}))"]
    given: list[Piece] = ["IF(", *is_exact, f",{_VARIABLE},{_FINE_MARK})"]
    call = [f"{name}(", *given, *(piece for other in others for piece in (",", *other)), ")"]
    return [f"LET({_VARIABLE},", *first, ",", *call, ")"]


def written(text: str, of: str, switch: str) -> str:
    """A formula's text with each marked result moved as `switch`, a cell or a number, says: a `Move`, or 0 for not.

    Each is moved by another part of `HARDLY`, as two that are moved alike could cancel out; `of` tells formulas apart.
    """
    first, *others = _MARKS.split(text)
    marked = zip(others[::2], others[1::2], strict=True)
    return first + "".join(
        f"IF({switch}={Move.ROUNDED:d},{_ROUNDED},{_VARIABLE}*(1+({switch})*{_size(mark, f'{of} {number}'):.3E})){text}"
        for number, (mark, text) in enumerate(marked)
    )


def _size(mark: str, of: str) -> float:
    """How far a marked result is moved: between half of what programs differ by, and all of it."""
    return (HARDLY if mark == _MARK else BARELY) * (0.5 + crc32(of.encode()) / 2**33)


def with_powers_as_calls(tree: Expression) -> Expression:
    """An expression with `POWER(a,b)` for each `a^b`; a sign before a number is closer to it than a power."""
    found: Expression = []
    begin, at = 0, 0
    while at < len(tree):
        node = tree[at]
        at += 1
        if _is_operator(node, "^"):
            end = _end_of_operand(tree, at)
            found[begin:] = [CallNode("POWER", [found[begin:], list(tree[at:end])])]
            at = end
            continue
        found.append(node)
        if _separates(node) and not (_is_operator(node, "+-") and len(found) == begin + 1):
            begin = len(found)
    return found


def _end_of_operand(tree: Expression, at: int) -> int:
    while at < len(tree) and _is_operator(tree[at], "+-"):
        at += 1
    while at < len(tree) and not _separates(tree[at]):
        at += 1
    return at


def _separates(node: Node) -> bool:
    return _is_operator(node, "+-*/^") or (isinstance(node, Token) and node.kind in ("compare", "join"))


def _is_operator(node: Node, signs: str) -> bool:
    return isinstance(node, Token) and node.kind == "operator" and node.text in signs
