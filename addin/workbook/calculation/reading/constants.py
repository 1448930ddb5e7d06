"""What is written into a formula as it is: its kind, its value, and where programs disagree about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from addin.formulas.lexer import Token
from addin.workbook.calculation.functions import plain_name
from addin.workbook.calculation.reading.parsing import CallNode, Expression

OTHER_MARKS = "its format writes numbers with a decimal comma, as programs in other languages do"
FIRST_YEAR, LONGEST_MONTH = 1900, 31
_NO_LETTERS = re.compile(
    r'"[^"]*"?|\\.|[_*].|\[(?!\$-F[48]00)[^\]]*\]|General|AM/PM|A/P|E[+-]', re.IGNORECASE | re.DOTALL
)
"""What stands in a number format for itself, or has a meaning as a whole."""
_ODD_LETTER = re.compile(r"(?![ymdhsxk])[^\W\d_]|\[\$-F[48]00\]", re.IGNORECASE)
"""What has a meaning in some languages only, or is a date as this computer shows it; an x or k is shown as it is."""

_OTHER_MARKS = re.compile(r",(?=[#0?])(?![#0?]{3}(?![#0?]))(?![^;]*[.,])|\.[#0?]*,(?=[#0?])|\.[#0?]+\.|\.#+0")
"""Points and commas in a number format that mean something in languages with a decimal comma: `0,00`, `#.##0`."""

_SEVERAL_PERCENT, _HALF_DAY = re.compile(r"%[^;\"]*%"), re.compile(r"a/p|A/p|a/P")
ODD_SIGNS = "its format has signs that programs show differently"

MAX_REPEATED = 2_000
"""Times; a cell holds 32,767 characters, and engines differ about what does not fit."""


def odd_constants(name: str, node: CallNode) -> str:
    """Return why what is written into a call makes its result doubtful; empty where it does not."""
    if name == "REPT" and _is_long(node):
        return "it repeats a text that may be longer than a cell can hold"
    if name == "DATE" and _is_first_year(node):
        return "programs disagree about days counted from 1900"
    return _odd_format(node) if name == "TEXT" else ""


def _odd_format(node: CallNode) -> str:
    """Return why a number format is doubtful: letters neither of a date nor quoted, or marks of another language."""
    match node.arguments[1:]:
        case [[Token(kind="text", text=text)]]:
            if _SEVERAL_PERCENT.search(text) or _HALF_DAY.search(text):
                return ODD_SIGNS
            plain = _NO_LETTERS.sub("", text[1:-1].replace('""', '"'))
            if _ODD_LETTER.search(plain) is not None:
                return "its format has letters that mean something else in other programs, or nothing"
            return OTHER_MARKS if has_other_marks(plain) else ""
        case _:
            return ""


def has_other_marks(number_format: str) -> bool:
    """Return whether a number format is written for a language with a decimal comma.

    >>> [has_other_marks(each) for each in ("0,00", "#.##0", "#.##0,00", "# ##0,0")]
    [True, True, True, True]
    >>> [has_other_marks(each) for each in ("#,##0.00", "#,#.0", "#,##,,", "#,##0,", "0.000", "dd.mm.yyyy")]
    [False, False, False, False, False, False]
    """
    return _OTHER_MARKS.search(number_format) is not None


def _is_first_year(node: CallNode) -> bool:
    """Whether days are counted on from 1900, where engines do not agree about the leap year that Excel makes of it."""
    match node.arguments:
        case [[Token(kind="number", text=year)], *others] if float(year) == FIRST_YEAR:
            days = [part[0].text for part in others if part and isinstance(part[0], Token) and part[0].kind == "number"]
            return any(float(each) > LONGEST_MONTH for each in days)
        case _:
            return False


def _is_long(node: CallNode) -> bool:
    """Return whether a text is repeated so often that joined to another it may not fit into a cell."""
    match node.arguments[1:]:
        case [[Token(kind="number", text=text)]]:
            return float(text) > MAX_REPEATED
        case _:
            return False


def constants_of(arguments: Sequence[Expression]) -> tuple[Any, ...] | None:
    """The values of arguments that are written into a formula, None for one left out; None if one is something else."""
    found: list[Any] = []
    for argument in arguments:
        match argument:
            case []:
                found.append(None)
            case [Token(kind="text", text=text)]:
                found.append(text[1:-1].replace('""', '"'))
            case [Token(kind="name", text=text)] if text.upper() in ("TRUE", "FALSE"):
                found.append(text.upper() == "TRUE")
            case [Token(kind="number", text=text)]:
                found.append(float(text))
            case [Token(kind="operator", text="-"), Token(kind="number", text=text)]:
                found.append(-float(text))
            case _:
                return None
    return tuple(found)


def kind_of(argument: Expression) -> str:
    """The kind of an argument, by which the results of functions were compared with Excel's."""
    match argument:
        case []:
            return "empty"
        case [Token(kind="hole" | "table")]:
            return "reference"
        case [Token(kind="name", text=text)]:
            return "logical" if text.upper() in ("TRUE", "FALSE") else "reference"
        case [Token(kind="text", text=text)]:
            return kind_of_text(text[1:-1])
        case [Token(kind="number" | "error" | "array" as kind)]:
            return kind
        case [Token(kind="operator"), Token(kind="number")]:
            return "number"
        case [CallNode(written)]:
            return "reference" if plain_name(written) == "ANCHORARRAY" else "call"
        case _:
            return "expression"


def kind_of_text(text: str) -> str:
    """The kind of a text that is written into a formula: functions read some texts as something else.

    >>> kind_of_text("true"), kind_of_text("a*"), kind_of_text("1,5"), kind_of_text("apple")
    ('logical text', 'pattern', 'number text', 'text')
    """
    if text.upper() in ("TRUE", "FALSE"):
        return "logical text"
    if set(text) & set("*?~"):
        return "pattern"
    if any(each.isdigit() for each in text):
        return "dated text" if set(text) & set("/-:") else "number text"
    return "text"
