"""Letters that programs change, count and order differently, and numbers in texts as another language writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import Any

BEYOND_ONE_UNIT = "\U00010000"
"""The first of the letters that take two places in a text of Excel."""


class Letters(StrEnum):
    """The letters that make a result doubtful, and why."""

    CASE = "it changes the case of letters that programs change differently"
    CODES = "the number of a letter depends on the computer"
    PLACES = "it counts letters that programs count as one or as two"
    ORDER = "the order of letters with accents depends on the language"


_BY_FUNCTION: dict[str, Letters] = {
    **dict.fromkeys(("UPPER", "LOWER", "PROPER"), Letters.CASE),
    **dict.fromkeys(("CODE", "CHAR"), Letters.CODES),
    **dict.fromkeys(
        (f"{name}B" for name in ("LEN", "LEFT", "RIGHT", "MID", "FIND", "SEARCH", "REPLACE")), Letters.CODES
    ),
    **dict.fromkeys(("LEN", "LEFT", "RIGHT", "MID", "FIND", "SEARCH", "REPLACE"), Letters.PLACES),
    **dict.fromkeys(("SORT", "SORTBY"), Letters.ORDER),
}


def depends_on(functions: AbstractSet[str]) -> frozenset[Letters]:
    """Return the kinds of letters on which the results of functions depend.

    >>> sorted(depends_on({"SUM", "LEN", "UPPER"})) == [Letters.CASE, Letters.PLACES]
    True
    """
    return frozenset(_BY_FUNCTION[name] for name in functions & _BY_FUNCTION.keys())


def letters_in(text: str) -> frozenset[Letters]:
    """Return the kinds of doubtful letters that a text holds.

    >>> letters_in("us-cpi"), Letters.CASE in letters_in("ß"), Letters.CASE in letters_in("é")
    (frozenset(), True, False)
    """
    if text.isascii():
        return frozenset()
    found = {Letters.CODES}
    if any(each >= BEYOND_ONE_UNIT for each in text):
        found.add(Letters.PLACES)
    if any(each.isalpha() and not each.isascii() for each in text):
        found.add(Letters.ORDER)
    if any(len(each.upper()) + len(each.lower()) > 2 or each.upper().lower() != each.lower() for each in text):
        found.add(Letters.CASE)
    return frozenset(found)


def letters_of(values: Iterable[Any]) -> frozenset[Letters]:
    """Return the kinds of doubtful letters in those values that are texts."""
    return frozenset[Letters]().union(*(letters_in(value) for value in values if isinstance(value, str)))


def has_letters(kind: Letters, value: Any) -> bool:
    """Return whether a value is a text with doubtful letters of a kind."""
    return isinstance(value, str) and kind in letters_in(value)


_DECIMAL_COMMA = re.compile(r"(?<![0-9,])[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})(?![0-9,])")
_NO_DIGIT = re.compile(r"[^0-9]")
_DECIMAL_POINT = re.compile(r"[0-9]\.[0-9]")

OF_LANGUAGE = frozenset(("TEXT", "FIXED", "DOLLAR", "VALUE", "DATEVALUE", "TIMEVALUE"))
"""Functions that read or write numbers and dates as a language does."""
OTHER_TEXTS = "texts of numbers or dates elsewhere in the file could not be worked out: it may be in another language"
OTHER_LANGUAGE = "texts in the file write numbers with a decimal comma, as the program in which it was calculated does"


def speaks_otherwise(old: object, found: object) -> bool:
    """Return whether two results may be the same in different languages: alike in their digits, or an error instead.

    >>> speaks_otherwise("3. Mai 2020", "3. May 2020"), speaks_otherwise("3,14", "3.14"), speaks_otherwise("1.5", "2.5")
    (True, True, False)
    """
    if isinstance(old, str) and isinstance(found, str):
        return _NO_DIGIT.sub("", old) == _NO_DIGIT.sub("", found)
    return isinstance(found, dict) and not isinstance(old, dict)


def has_point(value: object) -> bool:
    """Return whether a value is a text that writes a number with a decimal point."""
    return isinstance(value, str) and _DECIMAL_POINT.search(value) is not None


def is_of_other_language(old: object, new: object) -> bool:
    """Return whether a text shows a number with a decimal comma that is now written with a point.

    >>> is_of_other_language("CPI: 3,14 %", "CPI: 320.32 %"), is_of_other_language("1,234.5", "2,234.5")
    (True, False)
    """
    if not isinstance(old, str) or not isinstance(new, str) or not has_point(new):
        return False
    return _DECIMAL_COMMA.search(old) is not None and _DECIMAL_COMMA.search(new) is None
