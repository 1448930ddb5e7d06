"""The lexer of formulas, the only one: every other reader goes by its tokens, or is made of its patterns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

MAX_FORMULA = 16_384
"""Characters of a formula: twice what Excel lets anyone type, because it stores some names in a longer form."""

PLACEHOLDER = "\x00"
"""What stands in place of a reference where formulas are compared without theirs."""

TEXT = r'"(?:[^"]|"")*+"'
QUOTED_SHEET = r"'(?:[^']|'')*+'"
SHEET = rf"(?:{QUOTED_SHEET}|[^\W\d][\w.]*)!"
CELL = r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}"
REFERENCE = (
    rf"(?:{SHEET})?(?:{CELL}(?::{CELL})?|\$?[A-Za-z]{{1,3}}:\$?[A-Za-z]{{1,3}}|\$?[0-9]{{1,7}}:\$?[0-9]{{1,7}})"
    r"(?![\w(.!\[\\?])"
)
BRACKETS = r"\[(?:[^\[\]']|'.|\[(?:[^\[\]']|'.)*+\])*+\]"
"""The columns of a table, or the number of another file."""

_TOKEN = re.compile(
    rf"""(?P<hole>{PLACEHOLDER})
    |(?P<text>{TEXT})
    |(?P<error>\#(?:NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|N/A|SPILL!|CALC!|GETTING_DATA))
    |(?P<call>@?(?:{SHEET})?[^\W\d][\w.\\]*\()
    |(?P<table>(?:[^\W\d][\w.\\]*)?{BRACKETS})
    |(?P<reference>{REFERENCE})
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?)
    |(?P<name>(?:{SHEET})?[^\W\d][\w.\\?]*)
    |(?P<compare><>|<=|>=|[<>=])
    |(?P<join>&)
    |(?P<open>\()
    |(?P<close>\))
    |(?P<brace>[{{}}])
    |(?P<separator>[,;])
    |(?P<space>\s+)
    |(?P<operator>[-+*/^%@\#:])
    |(?P<other>['"](?:[^'"]|''|"")*+|.)""",
    re.VERBOSE | re.DOTALL,
)


class Unworkable(ValueError):  # noqa: N818 - it names a state of the formula, not a failure of ours
    """The formula contains a call of ours, but only a spreadsheet program can evaluate it; the message says why."""


class Token(NamedTuple):
    """A piece of a formula: its kind, which is a group's name in the lexer's pattern, and its text."""

    kind: str
    text: str


def tokens(formula: str) -> list[Token]:
    """All of a formula (without its `=`) as tokens; what belongs to none is `other`.

    >>> [token.kind for token in tokens('SUM(A1:B2)*"x"')]
    ['call', 'reference', 'close', 'operator', 'text']
    """
    return [Token(str(match.lastgroup), match[0]) for match in _TOKEN.finditer(formula)]


def is_readable(read: Sequence[Token]) -> bool:
    """Return whether there are tokens, and every one is of a kind that formulas have."""
    return bool(read) and all(token.kind != "other" for token in read)
