"""When two values, formulas or number formats say the same, though another program wrote them down its own way."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from addin.formulas import MAX_FORMULA
from addin.formulas.lexer import Token, is_readable, tokens
from udfs.cells import Scalar, serial
from udfs.errors import CellError

SHOWN_DIGITS = 15
"""What Excel shows, and what Calc writes, of a number."""

_FOREIGN = re.compile(r"_xlfn\.|_xlws\.", re.IGNORECASE)
_QUOTED_PLAIN = re.compile(r"'([A-Za-z_][A-Za-z0-9_.]*)'!")
_OPERANDS = ("text", "error", "number", "reference", "table", "name")
_CONSTANTS = {"TRUE(": "TRUE", "FALSE(": "FALSE"}

_LANGUAGE = r"-(?:0{0,4}[0-9A-E][0-9A-F]{0,3}|[A-Z]{2,3}(?:-[A-Z]{2,4})*)"
_PIECE = re.compile(
    rf'"([^"]*)"|\\(.)|\[\$([^\]-]*)(?:{_LANGUAGE})?\]|(\[[^\]]*\]|[_*].)|([ \-()+/:$€£¥%]|,)|(.)',
    re.DOTALL | re.IGNORECASE,
)
"""The language that a format is written in says nothing; a calendar, other digits, or the system's own format do."""
_MEANT = frozenset("/:%,")
"""Of the marks that may stand in quotes or not, those that mean something without."""


def is_same_value(found: Scalar, signed: Scalar) -> bool:
    """Return whether a cell shows what was signed: numbers agree in 15 digits, texts but for ends of lines."""
    found, signed = _plain(found), _plain(signed)
    if isinstance(found, float) and isinstance(signed, float):
        return found == signed or abs(found - signed) <= _rounding(max(abs(found), abs(signed)))
    if isinstance(found, CellError) and isinstance(signed, CellError):
        return found.message == signed.message
    return type(found) is type(signed) and found == signed


def _rounding(size: float) -> float:
    """The most by which a number may differ that was rounded to the digits that programs write."""
    if not size:
        return 0.0
    return 0.5 * 10.0 ** (math.floor(math.log10(size)) + 1 - SHOWN_DIGITS) + 2 * math.ulp(size)


def _plain(value: Scalar) -> Scalar:
    match value:
        case None | "":
            return None
        case bool() | CellError() | float():
            return value
        case int():
            return float(value)
        case str():
            return value.replace("\r\n", "\n").replace("\r", "\n")
        case _:
            return float(serial(value))


def is_same_formula(found: str, signed: str) -> bool:
    """Return whether two formulas read the same: spaces and capitals of names do not count, texts do."""
    return found == signed or as_read(found) == as_read(signed)


@lru_cache(4096)
def as_read(formula: str) -> str:
    """A formula in the one form of all that are read alike; the formula itself where it cannot be read."""
    text = formula if formula.startswith("=") else f"={formula}"
    if len(text) > MAX_FORMULA or not is_readable(read := tokens(text[1:])):
        return text
    parts: list[str] = []
    previous: Token | None = None
    blank = False
    for token in read:
        if token.kind == "space":
            blank = True
            continue
        if blank and previous is not None and _ends_operand(previous) and _begins_operand(token):
            parts.append(" ")  # the intersection of two areas
        blank = False
        if parts and parts[-1] in _CONSTANTS and token.kind == "close":
            parts[-1] = _CONSTANTS[parts[-1]]
        else:
            parts.append(_token(token))
        previous = token
    return "=" + "".join(parts)


def _token(token: Token) -> str:
    match token.kind:
        case "text":
            return token.text
        case "number":
            return repr(float(token.text))
        case "call":
            return _QUOTED_PLAIN.sub(r"\1!", _FOREIGN.sub("", token.text)).upper()
        case _:
            return _QUOTED_PLAIN.sub(r"\1!", token.text).upper()


def _ends_operand(token: Token) -> bool:
    return token.kind in _OPERANDS or token.text in ")}"


def _begins_operand(token: Token) -> bool:
    return token.kind in _OPERANDS or token.text == "{" or token.kind in ("open", "call")


def is_same_format(found: str, signed: str) -> bool:
    """Return whether two number formats show numbers alike."""
    return found == signed or _format_as_read(found) == _format_as_read(signed)


@lru_cache(1024)
def _format_as_read(code: str) -> str:
    """A number format with all that stands for itself in quotes, and without the language that it is written in."""
    code = code.removesuffix(";@")
    if code.casefold() in ("general", "standard", ""):
        return "general"
    written = ""
    for quoted, escaped, currency, bracket, mark, other in _PIECE.findall(code):
        literal = quoted or escaped or currency
        if not literal and mark and mark not in _MEANT:
            literal = mark
        if literal:
            written = written[:-1] + literal + '"' if written.endswith('"') else f'{written}"{literal}"'
        else:
            written += (bracket or mark or other).casefold()
    return written
