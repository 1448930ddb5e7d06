"""Steps whose last digits every program rounds in its own way, and formulas with these steps moved by hardly anything.

What follows a step may jump there: `INT`, a comparison, a key of a lookup. Then two programs show different results.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from enum import IntEnum
from zlib import crc32

from addin.formulas.lexer import Token
from addin.workbook.calculation.functions import names_in, plain_name
from addin.workbook.calculation.reading.parsing import CallNode, Expression, GroupNode, Node
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
_EVERY = frozenset(range(8))
_CUT_OFF: dict[str, AbstractSet[int]] = {
    **dict.fromkeys(
        names_in("INT TRUNC ROUNDUP ROUNDDOWN EVEN ODD ISEVEN ISODD FACT FACTDOUBLE ROMAN"), frozenset({0})
    ),
    **dict.fromkeys(names_in("CHAR UNICHAR CHOOSE DEC2BIN DEC2HEX DEC2OCT WEEKDAY DAY MONTH YEAR"), frozenset({0})),
    **dict.fromkeys(names_in("LEFT RIGHT REPT LARGE SMALL EOMONTH"), frozenset({1})),
    **dict.fromkeys(names_in("MID REPLACE INDEX"), frozenset({1, 2})),
    **dict.fromkeys(names_in("VLOOKUP HLOOKUP"), frozenset({2})),
    **dict.fromkeys(names_in("DATE TIME EDATE COMBIN COMBINA PERMUT GCD LCM BASE"), _EVERY),
    **dict.fromkeys(names_in("BITAND BITOR BITXOR BITLSHIFT BITRSHIFT SWITCH DELTA GESTEP"), _EVERY),
}
"""Arguments of which the whole number counts, or that are compared: Excel takes 15 digits of them, others all."""
CUTTING = frozenset(_CUT_OFF)
_TESTED: dict[str, AbstractSet[int]] = {
    **dict.fromkeys(names_in("IFS AND OR XOR"), frozenset(range(250))),
    **dict.fromkeys(names_in("IF NOT SIGN SQRT LN LOG LOG10 TEXT MATCH XMATCH LOOKUP XLOOKUP"), frozenset({0})),
    **dict.fromkeys((*names_in("VLOOKUP HLOOKUP"), *_STEPPED), frozenset({0})),
}
"""Arguments of which it counts whether they are 0."""
_WHOLE = names_in(
    """MATCH XMATCH ROW ROWS COLUMN COLUMNS COUNT COUNTA COUNTBLANK COUNTIF COUNTIFS LEN FIND SEARCH INT RANDBETWEEN
    SEQUENCE YEAR MONTH DAY WEEKDAY DATE TODAY EOMONTH EDATE HOUR MINUTE SECOND"""
)
"""Functions that come to whole numbers."""
DIFFERENCES = {"ds.-": "-", "ds.+": "+"}
"""How differences and sums stand in a tree whose residue may decide, with their operators."""
_MARK, _FINE_MARK, _DIGITS_MARK, _RESIDUE_MARK, _VARIABLE = "\x02", "\x03", "\x04", "\x05", "ds_n"
_MARKS = re.compile(f"([{_MARK}{_FINE_MARK}{_DIGITS_MARK}{_RESIDUE_MARK}])")
_IN_15_DIGITS = (
    f"IF(ISNUMBER({_VARIABLE}),IFERROR(ROUND({_VARIABLE},14-INT(LOG10(ABS({_VARIABLE})))),{_VARIABLE}),{_VARIABLE})"
)
_WITHOUT_RESIDUE = f"IF(ABS({_VARIABLE})<=1E-14*ABS(ds_b),0,{_VARIABLE})"
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
    marked = enumerate(zip(others[::2], others[1::2], strict=True))
    return first + "".join(_moved(mark, f"{of} {number}", switch) + text for number, (mark, text) in marked)


_ROUNDINGS = {_DIGITS_MARK: _IN_15_DIGITS, _RESIDUE_MARK: _WITHOUT_RESIDUE}


def _moved(mark: str, of: str, switch: str) -> str:
    """Return what a marked result is: rounded, moved to a side unless only its rounding counts, or as it is."""
    beside = _VARIABLE if mark in _ROUNDINGS else f"{_VARIABLE}*(1+({switch})*{_size(mark, of):.3E})"
    return f"IF({switch}={Move.ROUNDED:d},{_ROUNDINGS.get(mark, _ROUNDED)},{beside})"


def _size(mark: str, of: str) -> float:
    """Return how far a marked result is moved: between half of what programs differ by, and all of it."""
    return (HARDLY if mark == _MARK else BARELY) * (0.5 + crc32(of.encode()) / 2**33)


def cut_off(name: str, arguments: Sequence[Expression]) -> list[int]:
    """The arguments of a function of which the whole number counts, and which may be hardly anything less."""
    places = _CUT_OFF.get(name, ())
    return [at for at, each in enumerate(arguments) if at in places and not _is_whole(each)]


def in_15_digits(argument: Sequence[Piece]) -> list[Piece]:
    """An argument with a mark, where only its first 15 digits may count."""
    return [f"LET({_VARIABLE},", *argument, f",{_DIGITS_MARK})"]


def difference(operator: str, one: Sequence[Piece], other: Sequence[Piece]) -> list[Piece]:
    """A difference or sum with a mark, where what rounding left of it may count as 0."""
    return ["LET(ds_a,", *one, ",ds_b,", *other, f",LET({_VARIABLE},ds_a{operator}ds_b,{_RESIDUE_MARK}))"]


def _is_whole(tree: Expression) -> bool:
    """Return whether an expression is a constant, a single reference or comes to a whole number."""
    references = 0
    for node in tree:
        match node:
            case CallNode(written, _):
                if plain_name(written) not in _WHOLE:
                    return False
            case GroupNode([part]):
                if not _is_whole(part):
                    return False
            case Token(kind="hole" | "name" | "table"):
                references += 1
            case Token(kind="number", text=text):
                if len(tree) > 1 and not text.isdigit():
                    return False
            case Token(kind="operator", text="+" | "-") | Token(kind="text" | "array" | "boolean"):
                pass
            case _:
                return False
    return references <= 1


def tested(name: str, place: int) -> bool:
    """Return whether it counts of an argument whether it is 0."""
    return place in _TESTED.get(name, ()) or place in _CUT_OFF.get(name, ())


def with_difference_as_call(tree: Expression) -> Expression:
    """An expression whose last step is a sum or a difference, with a call for that; any other as it is."""
    match tree:
        case [GroupNode([part])]:
            return [GroupNode([with_difference_as_call(part)])]
        case [CallNode("ABS", [argument])]:
            return [CallNode("ABS", [with_difference_as_call(argument)])]
        case _:
            pass
    if any(isinstance(node, Token) and node.kind in ("compare", "join") for node in tree):
        return tree
    for at in range(len(tree) - 2, 0, -1):
        for name, operator in DIFFERENCES.items():
            if _is_operator(tree[at], operator) and not _is_operator(tree[at - 1], "+-*/^"):
                return [CallNode(name, [tree[:at], tree[at + 1 :]])]
    return tree


def with_tested_differences(tree: Expression) -> Expression:
    """An expression with calls for the differences that it compares or divides by."""
    found: Expression = []
    begin = 0
    compares = any(isinstance(node, Token) and node.kind == "compare" for node in tree)
    for at, node in enumerate(tree):
        if compares and isinstance(node, Token) and node.kind == "compare":
            found[begin:] = with_difference_as_call(found[begin:])
            begin = len(found) + 1
        is_divisor = isinstance(node, GroupNode) and at and _is_operator(tree[at - 1], "/")
        found += with_difference_as_call([node]) if is_divisor else [node]
    return found[:begin] + with_difference_as_call(found[begin:]) if compares else found


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
