"""Arguments that a function takes otherwise in Excel than in an engine: several values, areas, cells that are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from addin.formulas.lexer import Token
from addin.workbook.calculation.functions import names_in, plain_name
from addin.workbook.calculation.reading.oddities import DATABASE
from addin.workbook.calculation.reading.parsing import CallNode, Expression, GroupNode

ALL, ANY = frozenset(range(8)), frozenset(range(250))

_BONDS = (
    *(
        "ACCRINT",
        "ACCRINTM",
        "COUPDAYBS",
        "COUPDAYS",
        "COUPDAYSNC",
        "COUPNCD",
        "COUPNUM",
        "COUPPCD",
        "DISC",
        "DURATION",
    ),
    *("INTRATE", "MDURATION", "PRICE", "PRICEDISC", "PRICEMAT", "RECEIVED", "TBILLEQ", "TBILLPRICE", "TBILLYIELD"),
    *("YIELD", "YIELDDISC", "YIELDMAT"),
)
ONE_VALUE: dict[str, AbstractSet[int]] = {
    **dict.fromkeys(_BONDS, ALL),
    **dict.fromkeys(("RANK", "RANK.EQ", "RANK.AVG", "CODE", "NPV"), frozenset({0})),
    **dict.fromkeys(("VLOOKUP", "HLOOKUP", "T.TEST", "TTEST"), frozenset({2, 3})),
    **dict.fromkeys(("MIRR", "Z.TEST", "ZTEST"), frozenset({1, 2})),
    **dict.fromkeys(("NETWORKDAYS", "WORKDAY", "AGGREGATE"), frozenset({0, 1})),
    **dict.fromkeys(("NETWORKDAYS.INTL", "WORKDAY.INTL", "SERIESSUM"), frozenset({0, 1, 2})),
    **dict.fromkeys(("LOOKUP", "SUBTOTAL", "N", "T", "TYPE"), frozenset({0})),
    **dict.fromkeys(("OFFSET", "INDIRECT"), ALL - {0}),
    "WEEKNUM": ALL,
}
"""Arguments of which Excel takes several values, one after the other, and an engine does not."""

NO_AREA = frozenset(
    (
        *("EDATE", "EOMONTH", "MROUND", "QUOTIENT", "YEARFRAC", "ISEVEN", "ISODD", "CONVERT", "DOLLARDE", "DOLLARFR"),
        *("EFFECT", "NOMINAL", "DELTA", "GESTEP", "ERF", "ERFC", "FACTDOUBLE", "SQRTPI", "COMPLEX", "IMABS", "IMREAL"),
        *(
            "IMAGINARY",
            "BIN2DEC",
            "BIN2HEX",
            "BIN2OCT",
            "DEC2BIN",
            "DEC2HEX",
            "DEC2OCT",
            "HEX2BIN",
            "HEX2DEC",
            "HEX2OCT",
        ),
        *("OCT2BIN", "OCT2DEC", "OCT2HEX", "BESSELI", "BESSELJ", "BESSELK", "BESSELY"),
    )
)
"""Functions that take several values, but refuse an area: Excel had them from an add-in."""

_EVEN, _ODD = frozenset(range(0, 250, 2)), frozenset(range(1, 250, 2))
CELLS: dict[str, AbstractSet[int]] = {
    **dict.fromkeys(("COUNTIF", "COUNTBLANK"), frozenset({0})),
    **dict.fromkeys(("SUMIF", "AVERAGEIF"), frozenset({0, 2})),
    **dict.fromkeys(("SUMIFS", "AVERAGEIFS", "MAXIFS", "MINIFS"), _ODD | {0}),
    **dict.fromkeys(("RANK", "RANK.EQ", "RANK.AVG"), frozenset({1})),
    **dict.fromkeys((f"D{name}" for name in DATABASE), frozenset({0, 2})),
    **dict.fromkeys(("OFFSET", "ROW", "COLUMN", "AREAS"), frozenset({0})),
    "COUNTIFS": _EVEN,
    "SUBTOTAL": frozenset(range(1, 250)),
}
"""Arguments that have to be cells; values, such as our functions give, are an error."""

WHOLE_AREAS = names_in(
    """SUM COUNT COUNTA COUNTBLANK AVERAGE AVERAGEA MIN MINA MAX MAXA PRODUCT SUMSQ MEDIAN ROWS COLUMNS COUNTIF COUNTIFS
    SUMIF SUMIFS AVERAGEIF SUBTOTAL"""
)
"""Functions that take an area of one cell (`A$1:A1`) as one of many: engines agree whatever the cell holds."""

_OF_AREAS: dict[str, AbstractSet[int]] = {
    **dict.fromkeys(("VLOOKUP", "HLOOKUP", "MATCH", "XMATCH", "RANK", "RANK.EQ", "RANK.AVG"), frozenset({1})),
    **dict.fromkeys(("LOOKUP", "XLOOKUP", "FORECAST", "FORECAST.LINEAR"), frozenset({1, 2})),
    **dict.fromkeys(("INDEX", "LARGE", "SMALL", "PERCENTILE", "PERCENTILE.INC", "QUARTILE", "COUNTIF"), frozenset({0})),
    **dict.fromkeys(("SUMIF", "AVERAGEIF"), frozenset({0, 2})),
    **dict.fromkeys(("SUMIFS", "AVERAGEIFS", "MAXIFS", "MINIFS"), _ODD | {0}),
    "COUNTIFS": _EVEN,
    "IRR": frozenset({0}),
    "NPV": frozenset(range(1, 250)),
}
"""Arguments that are areas as a whole, so that one value comes of them."""
_ONE_OF_ALL = frozenset(
    (
        *("SUM", "SUMPRODUCT", "SUMSQ", "PRODUCT", "MIN", "MAX", "MINA", "MAXA", "COUNT", "COUNTA", "COUNTBLANK"),
        *("AVERAGE", "AVERAGEA", "MEDIAN", "MODE", "STDEV", "STDEV.S", "STDEV.P", "VAR", "VAR.S", "VAR.P", "GEOMEAN"),
        *("ROWS", "COLUMNS", "AND", "OR", "XOR", "CONCAT", "TEXTJOIN", "SUBTOTAL", "AGGREGATE", "REDUCE", "GCD", "LCM"),
        *("CORREL", "SLOPE", "INTERCEPT", "XNPV", "XIRR", "MIRR", "AREAS", "SINGLE"),
    )
)
"""Functions that make one value of all that they are given."""
ONE_OF_ONE = names_in(
    """ABS SIGN INT TRUNC ROUND ROUNDUP ROUNDDOWN MROUND CEILING FLOOR MOD QUOTIENT SQRT POWER EXP LN LOG LOG10 PI SIN
    COS TAN IF IFERROR IFNA NOT TRUE FALSE NA ISNUMBER ISTEXT ISBLANK ISERROR ISNA ISERR LEN LEFT RIGHT MID TRIM UPPER
    LOWER PROPER TEXT VALUE FIND SEARCH SUBSTITUTE REPLACE REPT EXACT CONCATENATE DATE YEAR MONTH DAY EDATE EOMONTH
    WEEKDAY DAYS YEARFRAC TODAY NOW HOUR MINUTE SECOND PMT IPMT PPMT PV FV NPER RATE EFFECT NOMINAL RRI SLN DDB CUMIPMT
    CUMPRINC NORM.DIST NORM.S.DIST NORM.INV NORM.S.INV"""
) | (_ONE_OF_ALL | _OF_AREAS.keys() - {"INDEX", "XLOOKUP"} - {"REDUCE", "SINGLE"})
"""Functions that give one value where they are given single ones, and areas only where they take them as a whole."""

_MANY = frozenset(
    (
        *(
            "SEQUENCE",
            "FILTER",
            "SORT",
            "SORTBY",
            "UNIQUE",
            "TRANSPOSE",
            "CHOOSECOLS",
            "CHOOSEROWS",
            "VSTACK",
            "HSTACK",
        ),
        *(
            "TOCOL",
            "TOROW",
            "TAKE",
            "DROP",
            "EXPAND",
            "WRAPROWS",
            "WRAPCOLS",
            "RANDARRAY",
            "MMULT",
            "MINVERSE",
            "MUNIT",
        ),
        *(
            "FREQUENCY",
            "LINEST",
            "LOGEST",
            "TREND",
            "GROWTH",
            "TEXTSPLIT",
            "MAP",
            "BYROW",
            "BYCOL",
            "SCAN",
            "MAKEARRAY",
        ),
        *("MODE.MULT", "ANCHORARRAY"),
    )
)
"""Functions that give several values."""


def references_in(tree: Expression) -> int:
    """The number of references in an expression."""
    count = 0
    for node in tree:
        if isinstance(node, Token):
            count += node.kind == "hole"
        else:
            count += sum(map(references_in, node.arguments if isinstance(node, CallNode) else node.parts))
    return count


def areas_in(name: str, arguments: Sequence[Expression], first: int) -> Iterator[int]:
    """The references that a function takes as areas; `first` is the number of the first one in its arguments."""
    places = _OF_AREAS.get(name, ANY if name in _ONE_OF_ALL else frozenset())
    for place, argument in enumerate(arguments):
        match argument:
            case [Token(kind="hole")] if place in places:
                yield first
            case _:
                pass
        first += references_in(argument)


def single_values(name: str, arguments: Sequence[Expression], first: int) -> tuple[bool, list[int]]:
    """Whether a function is given several values where an engine takes one; and the references that must be one cell.

    `first` is the number of the first reference in the arguments.
    """
    has_many, ones = False, list[int]()
    for place, argument in enumerate(arguments):
        if place in ONE_VALUE.get(name, ()):
            many, found = _spread(argument, first)
            has_many, ones = has_many or many, [*ones, *found]
        elif name in NO_AREA:
            match argument:
                case [Token(kind="hole")]:
                    ones.append(first)
                case [Token(kind="table", text=text)] if not _is_of_row(text):
                    has_many = True
                case _:
                    pass
        first += references_in(argument)
    return has_many, ones


def _spread(tree: Expression, first: int) -> tuple[bool, list[int]]:
    """Return whether an expression comes to several values, and the references that decide on it."""
    many, ones = False, list[int]()
    for node in tree:
        if isinstance(node, Token):
            many = many or _is_array(node)
            if node.kind == "hole":
                ones.append(first)
                first += 1
            continue
        name = plain_name(node.written) if isinstance(node, CallNode) else ""
        many = many or name in _MANY
        for place, part in enumerate(node.arguments if isinstance(node, CallNode) else node.parts):
            if name not in _ONE_OF_ALL and place not in _OF_AREAS.get(name, ()):
                is_many, found = _spread(part, first)
                many, ones = many or is_many, [*ones, *found]
            first += references_in(part)
    return many, ones


def _is_array(token: Token) -> bool:
    if token.kind == "table":
        return not _is_of_row(token.text)
    return token.kind == "array" and any(sign in token.text for sign in ",;")


def _is_of_row(table: str) -> bool:
    return "@" in table or "#this row" in table.casefold()


_GIVES_CELLS: dict[str, AbstractSet[int]] = {
    **dict.fromkeys(("OFFSET", "INDIRECT", "ANCHORARRAY"), frozenset()),
    **dict.fromkeys(("INDEX", "TAKE", "DROP"), frozenset({0})),
    "IF": frozenset({1, 2}),
    "CHOOSE": ANY - {0},
    "XLOOKUP": frozenset({2, 3}),
}
"""Functions that give cells, and the arguments of which those have to be."""


def gives_cells(tree: Expression, is_cells: Callable[[str], bool]) -> bool:
    """Return whether an expression comes to cells, and not to values; `is_cells` tells it of a name."""
    match tree:
        case [] | [Token(kind="hole" | "table" | "error")]:
            return True
        case [Token(kind="name", text=text)]:
            return is_cells(text)
        case [GroupNode(parts)]:
            return all(gives_cells(part, is_cells) for part in parts)
        case [CallNode(written, arguments)] if (name := plain_name(written)) in _GIVES_CELLS:
            return all(
                gives_cells(part, is_cells) for place, part in enumerate(arguments) if place in _GIVES_CELLS[name]
            )
        case _:
            return any(isinstance(node, Token) and node.kind == "operator" and node.text in ": " for node in tree)
