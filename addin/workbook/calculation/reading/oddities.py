"""Values that functions take otherwise than their neighbours do, or that engines take otherwise than Excel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from addin.workbook.calculation.reading.shapes import Piece

DATABASE = ("AVERAGE", "COUNT", "COUNTA", "GET", "MAX", "MIN", "PRODUCT", "STDEV", "STDEVP", "SUM", "VAR", "VARP")
COUNTING = frozenset(("COUNTIF", "COUNTIFS", "SUMIF", "SUMIFS", "AVERAGEIF", "AVERAGEIFS", "MAXIFS", "MINIFS"))
OF_CRITERIA = COUNTING | frozenset(f"D{name}" for name in DATABASE)
"""Functions that compare cells with a criterion."""
INTEREST = frozenset(("FV", "PV", "PMT", "NPER", "IPMT", "PPMT", "CUMIPMT", "CUMPRINC"))
TINY_RATE = 1e-4
"""An interest rate below which powers of it lose the digits that programs then differ in."""
RATES = frozenset(("RATE", "IRR", "XIRR", "MIRR"))
NO_RATE = 1e-6
"""A rate below which a search for it ends anywhere around 0."""

OF_DAYS = frozenset(("YEAR", "MONTH", "DAY", "WEEKDAY"))
HALF_A_SECOND = 0.5 / 86_400
"""In days."""

_COUPONS = ("COUPDAYBS", "COUPDAYS", "COUPDAYSNC", "COUPNCD", "COUPNUM", "COUPPCD")
OF_CALENDAR: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("YEARFRAC", "DAYS360", "DATEDIF", *_COUPONS), (0, 1)),
    **dict.fromkeys(("EDATE", "EOMONTH", "ISOWEEKNUM"), (0,)),
}
"""Functions that count by months or years, and which of their arguments are days."""
LAST_OLD_DAY = 60
"""29 February 1900, which only Excel has: before March of that year, days are counted otherwise in every program."""

OF_COUNTS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("ROUND", "ROUNDUP", "ROUNDDOWN", "TRUNC", "FIXED", "DOLLAR", "REPT"), (1,)),
    **dict.fromkeys(("LEFT", "LEFTB", "RIGHT", "RIGHTB", "LARGE", "SMALL"), (1,)),
    **dict.fromkeys(("EDATE", "EOMONTH", "WORKDAY", "WORKDAY.INTL"), (1,)),
    **dict.fromkeys(("MID", "MIDB", "REPLACE", "REPLACEB", "INDEX", "BASE"), (1, 2)),
    **dict.fromkeys(("FIND", "FINDB", "SEARCH", "SEARCHB", "VLOOKUP", "HLOOKUP"), (2,)),
    **dict.fromkeys(("DATE", "TIME"), (0, 1, 2)),
    **dict.fromkeys(("COMBIN", "COMBINA", "PERMUT", "PERMUTATIONA"), (0, 1)),
    **dict.fromkeys(("CHOOSE", "CHAR", "UNICHAR"), (0,)),
    **dict.fromkeys(("TAKE", "DROP", "EXPAND"), (1, 2)),
    "OFFSET": (1, 2, 3, 4),
    "SUBSTITUTE": (3,),
}
"""Functions that count by some of their arguments: digits, letters, rows, months, days."""
COUNT_BITS = 31

OF_BLANKS = frozenset(
    ("VLOOKUP", "HLOOKUP", "MATCH", "FORECAST", "FORECAST.LINEAR", "SERIESSUM", "Z.TEST", "ZTEST", "LCM")
)
"""Functions of which every program makes something else where a cell is blank."""
OF_SURE_ERRORS = frozenset(("FLOOR", "CEILING", "MROUND", "XNPV", "NA", "DATE", "SUM"))
"""Functions whose errors are Excel's, in many results of it; another engine gives numbers."""

OF_KEYS = OF_CRITERIA | {"VLOOKUP", "HLOOKUP", "MATCH", "LOOKUP"}
"""Functions that look for a text, which may not be long in Excel."""
OF_PATTERNS = OF_CRITERIA | {"VLOOKUP", "HLOOKUP", "MATCH", "XLOOKUP", "XMATCH", "SEARCH", "SEARCHB"}
"""Functions in which `~` makes a letter of a `*` or `?` behind it."""
COMPARING = OF_PATTERNS | {
    "LOOKUP",
    "UNIQUE",
    "SWITCH",
    "FREQUENCY",
    "MODE",
    "MODE.SNGL",
    "MODE.MULT",
    "SORT",
    "SORTBY",
}
"""Functions that compare values as they please, and not as `=` does."""
_FEW_DIGITS = 12
OF_JOINED_TEXTS = frozenset(("CONCATENATE", "CONCAT", "TEXTJOIN", "REPT", "SUBSTITUTE"))
LONGEST_KEY, LONG_PART_OF_KEY, LONG_PART = 255, 100, 10_000
"""Letters: what Excel looks for, what may be a part of longer texts, and of those that do not fit into a cell."""

UNKNOWN_FUNCTION = "no calculation engine knows the function {}"
UNKNOWN_NAME = "the calculation engine came to #NAME?"
EMPTY_TEXT = "it reads an empty text that was no result of a formula, which some programs take for a blank cell"
OTHER_VALUE = (
    "it reads a cell in which Excel shows another value than old programs find there: a data type, a picture, an error"
)
LONG_KEY = "it looks for a text that may be longer than the 255 letters of which Excel finds any"
LONG_TEXT = "it joins texts that may be longer than the 32,767 letters that a text of Excel has"
DOUBTFUL_NUMBER = "it holds or reads a text that only some programs, or some languages, take for a number"
COUNTS_ODD_VALUES = "it counts what looks like an error or a logical value"
READS_DAY = "it may read a day from a text, and the book counts days from 1904"
NO_SPILL = "it refers to the spill of a cell that holds no array formula"
BLANK = "it looks at a blank cell, which programs take differently"
COUNTS_ODD_TEXTS = "it counts cells with a text that looks like a number, a day or a logical value"
HARDLY_ANY = "its rate is hardly any, and what rounding left of it programs show differently"
ONLY_ONE_FAILS = "one engine comes to an error, and another does not"
MORE_THAN_48_BITS = "it shifts a number to more than 48 bits"
MORE_THAN_31_BITS = "it counts by a number of more than 31 bits, which programs take differently"
BEFORE_MARCH_1900 = "it counts months or years from before March 1900, which programs do differently"
SPLITS_BY_NOTHING = "it splits a text by nothing"
MORE_THAN_THE_TEXT = "it looks for a delimiter more often than the text has letters"
NEAR_MIDNIGHT = "it reads a time within half a second before midnight, which programs take for either day"
PARTS_OF_DAYS = "it counts parts of days, which programs round differently"
UNSORTED_CLASSES = "it counts by classes that do not rise, which programs show in another order"
OTHER_TILDE = "its criterion has a ~ in a place where programs read it differently"
NEARLY_WHOLE = "it reads a number whose first 15 digits are whole, which programs cut off differently"
COMPARES_NEAR_MISSES = "it compares numbers whose first 15 digits are the same, which programs take for equal or not"
SEVERAL_SHEETS = "it looks for what areas have in common that may be on different sheets"
OTHER_SIZE = "it tests more or fewer cells than it adds up"

_SIGNS = r"[-+($€£¥\s]*"
_LIKE_A_VALUE = re.compile(
    rf"""true|false
    |{_SIGNS}[0-9][0-9,.]*(?:e[-+]?[0-9]+)?[\s%)]*      # a number in any form
    |[0-9]{{1,4}}[-/.][0-9]{{1,2}}(?:[-/.][0-9]{{1,4}})?(?:[\sT].*)?|[0-9]{{1,2}}:[0-9]{{2}}.*""",
    re.VERBOSE | re.IGNORECASE,
)
_DAY = re.compile(
    r"[0-9]\s*[-/.]\s*[0-9]|(?=.*[0-9]).*\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE
)
_OTHER_TILDE = re.compile(r"~(?![*?])")
_DOUBTFUL_NUMBER = re.compile(
    r"""[-+(\s]*[€£¥₹]\s*[0-9][0-9.,]*[)\s]* | [-+(]*[0-9][0-9.,]*\s*[€£¥₹][)\s]*     # another currency's sign
    | (?![-+$(\s]*[0-9]{1,3}(?:,[0-9]{3})+(?![0-9,]))[-+$(\s]*[0-9]+,[0-9,]*[0-9](?:\.[0-9]*)?[)%\s]*  # odd groups
    | .*(?![0-9])\d.* | .*[0-9][\u00a0\u2000-\u200b\u202f\u3000]+[0-9].* | %\s*[0-9.,]+     # digits of other scripts
    | [0-9.,]+\s*-\s* | [0-9]+:(?:[6-9][0-9]|[0-9]+:[6-9][0-9]).*""",
    re.VERBOSE,
)
_FEW = re.compile(r"[-+]?[0-9]{1,9}(?:\.[0-9]*)?")
_PLAIN_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def is_doubtful_number(value: Any) -> bool:
    """Return whether a text is a number to some programs, or in some languages, and not to others.

    >>> [is_doubtful_number(each) for each in ("12,34", "€5", "5 €", "1,2,3", "5-", "1:60", "(1,23)")]
    [True, True, True, True, True, True, True]
    >>> [is_doubtful_number(each) for each in ("٣", "１２", "1\\u00a0000", "%10")]
    [True, True, True, True]
    >>> [is_doubtful_number(each) for each in ("1,234", "$1,234.50", "12", "12:30", "2020-01-02", "a,b", "1,234,567")]
    [False, False, False, False, False, False, False]
    """
    return isinstance(value, str) and _DOUBTFUL_NUMBER.fullmatch(value) is not None


def is_unknown_name(value: Any) -> bool:
    """Return whether a value is the error of a name that nobody knows."""
    return isinstance(value, dict) and value["error"] == "#NAME?"


def is_long_key(value: Any) -> bool:
    """Return whether a text is longer than any that Excel looks for."""
    return isinstance(value, str) and len(value) > LONGEST_KEY


def is_long_part_of_key(value: Any) -> bool:
    """Return whether a text may be a part of one that is longer than any that Excel looks for."""
    return isinstance(value, str) and len(value) > LONG_PART_OF_KEY


def is_long_part(value: Any) -> bool:
    """Return whether a text may be a part of one that no cell of Excel can hold."""
    return isinstance(value, str) and len(value) > LONG_PART


def is_odd_text(value: Any) -> bool:
    """Return whether a cell holds a text that some programs count as a value, and others do not.

    >>> [is_odd_text(each) for each in ("1,234", "12%", "(5)", "2020-01-02", "TRUE", "1e3")]
    [True, True, True, True, True, True]
    >>> [is_odd_text(each) for each in ("us-10y", "2020", "Q1-20", "", 5.0)]
    [False, False, False, False, False]
    """
    if type(value) is not str:
        return False
    text = value.strip()
    return _LIKE_A_VALUE.fullmatch(text) is not None and _PLAIN_NUMBER.fullmatch(value) is None


def odd_input(functions: AbstractSet[str], value: Any) -> str:
    """Return why a single value that a formula reads makes its result doubtful; empty where it does not.

    >>> odd_input({"COUNTIF"}, "true"), odd_input({"SUM"}, "true")
    ('it counts what looks like an error or a logical value', '')
    """
    looks_odd = isinstance(value, dict) or (
        isinstance(value, str) and (value.startswith("#") or value.upper() in ("TRUE", "FALSE"))
    )
    if looks_odd and functions & COUNTING:
        return COUNTS_ODD_VALUES
    if functions & INTEREST and type(value) is float and 0 < abs(value) < TINY_RATE:
        return "an interest rate so small loses digits, in which programs differ"
    return ""


def counts_odd_values(functions: AbstractSet[str], texts: Sequence[str]) -> bool:
    """Return whether a criterion among the texts of a formula asks for an error or a logical value.

    >>> [counts_odd_values({"COUNTIF"}, [text]) for text in ("<>#N/A", "true", ">5", "x")]
    [True, True, False, False]
    """
    criteria = (text.lstrip("<>=").upper() for text in texts)
    return bool(functions & COUNTING) and any(each.startswith("#") or each in ("TRUE", "FALSE") for each in criteria)


def is_nearly_whole(value: Any) -> bool:
    """Return whether a number is not whole, and its first 15 digits are.

    >>> [is_nearly_whole(each) for each in (28.999999999999996, 29.0, 28.9999999, 0.29, -7.000000000000001)]
    [True, False, False, False, True]
    """
    return type(value) is float and value % 1 != 0 and float(f"{value:.15g}") % 1 == 0


def in_15_digits(value: float) -> float:
    """A number in the 15 digits that a spreadsheet shows of it."""
    return float(f"{value:.15g}")


def is_near_miss(value: Any) -> bool:
    """Return whether a number is hardly another one than one of few digits, as sums of tenths are.

    >>> [is_near_miss(each) for each in (0.1 + 0.2, 110.00000000000001, 0.3, 1 / 3, 7.0)]
    [True, True, False, False, False]
    """
    if type(value) is not float or in_15_digits(value) == value:
        return False
    return len(f"{value:.15g}".partition("e")[0].replace(".", "").strip("-0")) <= _FEW_DIGITS


def has_other_tilde(text: Any) -> bool:
    """Return whether a criterion has a `~` that stands before neither `*` nor `?`.

    >>> [has_other_tilde(each) for each in ("a~~b", "a~b", "~", "~*", "what~?", "a~~*", 5.0)]
    [True, True, True, False, False, True, False]
    """
    return isinstance(text, str) and _OTHER_TILDE.search(text) is not None


def is_day(value: Any) -> bool:
    """Return whether a value is a text that may be read as a day.

    >>> [is_day(each) for each in ("1904-01-03", "3 Jan 1904", "3.1.04", "us-cpi", "10", 1462.0)]
    [True, True, True, False, False, False]
    """
    return isinstance(value, str) and _DAY.search(value) is not None


def is_hardly_any(functions: AbstractSet[str], rate: Any) -> bool:
    """Return whether a rate is nothing but where a search for it ended.

    >>> is_hardly_any({"RATE"}, -2e-9), is_hardly_any({"RATE"}, 0.05), is_hardly_any({"SUM"}, -2e-9)
    (True, False, False)
    """
    return bool(functions & RATES) and type(rate) is float and 0 < abs(rate) < NO_RATE


def counts_by_value(uses: AbstractSet[tuple[str, str]]) -> bool:
    """Return whether a formula counts what may be a number, by the kinds of the criteria; a plain text is none.

    >>> counts_by_value({("COUNTIF", "reference,text")}), counts_by_value({("COUNTIF", "reference,number")})
    (False, True)
    """
    return any(
        kind not in ("text", "pattern")
        for name, kinds in uses
        if name in COUNTING
        for kind in _criteria(name, kinds.split(","))
    )


def _criteria(name: str, kinds: Sequence[str]) -> Iterator[str]:
    """The kinds of a function's criteria."""
    if name in ("COUNTIF", "SUMIF", "AVERAGEIF"):
        yield from kinds[1:2]
    else:
        yield from kinds[1::2] if name == "COUNTIFS" else kinds[2::2]


def is_same_size(one: Sequence[Piece], other: Sequence[Piece]) -> tuple[Piece, ...]:
    """The formula that says whether two areas have the same size."""
    rows: list[Piece] = ["ROWS(", *one, ")=ROWS(", *other, ")"]
    columns: list[Piece] = ["COLUMNS(", *one, ")=COLUMNS(", *other, ")"]
    return ("AND(", *rows, ",", *columns, ")")


def _rises(values: Sequence[Piece]) -> tuple[Piece, ...]:
    """The formula that says whether values rise from one to the next."""
    return ("AND(SORT(UNIQUE(TOCOL(", *values, ",1)))=TOCOL(", *values, ",1))")


def _given(places: Sequence[int], arguments: Sequence[Sequence[Piece]]) -> list[Sequence[Piece]]:
    """The arguments at these places, without those that are left out."""
    return [arguments[place] for place in places if place < len(arguments) and arguments[place]]


def _is_small(count: Sequence[Piece]) -> bool:
    """Return whether an argument is a number of few digits in the formula itself."""
    return all(isinstance(piece, str) for piece in count) and _FEW.fullmatch("".join(map(str, count))) is not None


def _limits_of(name: str, arguments: Sequence[Sequence[Piece]]) -> Iterator[tuple[tuple[Piece, ...], str]]:
    """What has to hold for the sizes of counts and days; what is no number has none."""
    for count in _given(OF_COUNTS.get(name, ()), arguments):
        if not _is_small(count):
            yield ("AND(IFERROR(ABS(", *count, f")<2^{COUNT_BITS},TRUE))"), MORE_THAN_31_BITS
    for day in _given(OF_CALENDAR.get(name, ()), arguments):
        yield ("AND(IFERROR((", *day, f")+0>{LAST_OLD_DAY},TRUE))"), BEFORE_MARCH_1900
    if name in ("EDATE", "EOMONTH"):
        yield (f"AND(IFERROR({name}(", *arguments[0], ",", *arguments[1], f")>{LAST_OLD_DAY},TRUE))"), BEFORE_MARCH_1900


def conditions_of(name: str, arguments: Sequence[Sequence[Piece]]) -> Iterator[tuple[tuple[Piece, ...], str]]:
    """What has to hold for the arguments of a function, each with what speaks against it else."""
    yield from _limits_of(name, arguments)
    if name == "TEXTSPLIT":
        for delimiter in filter(None, arguments[1:3]):
            yield ("AND(LEN(", *delimiter, ")>0)"), SPLITS_BY_NOTHING
    elif name in ("BITLSHIFT", "BITRSHIFT") and len(arguments) == 2:
        sign = "" if name == "BITLSHIFT" else "-"
        yield ("AND((", *arguments[0], f")*2^({sign}(", *arguments[1], "))<2^48)"), MORE_THAN_48_BITS
    elif name in ("WORKDAY", "WORKDAY.INTL") and len(arguments) > 1:
        yield ("AND(TRUNC(", *arguments[1], ")=(", *arguments[1], "))"), PARTS_OF_DAYS
    elif name in OF_DAYS and arguments[0]:
        day = "IFERROR(MOD((", *arguments[0], "),1),0)"
        yield ("AND(", *day, f"<={1 - HALF_A_SECOND:.9f})"), NEAR_MIDNIGHT
    elif name == "FREQUENCY" and len(arguments) == 2:
        yield _rises(arguments[1]), UNSORTED_CLASSES
    elif name in ("TEXTBEFORE", "TEXTAFTER") and len(arguments) > 2 and arguments[2]:
        yield ("AND(ABS(", *arguments[2], ")<=LEN(", *arguments[0], "))"), MORE_THAN_THE_TEXT
