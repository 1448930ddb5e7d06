"""Pieces of a formula for the engine, put together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from addin.workbook.calculation.lexer import Token
from addin.workbook.calculation.shapes import NUMBER_OF_CELL, Piece

_NO_DIGIT = re.compile(r"[^0-9]")
_FILE = re.compile(r"\[[0-9]+\]")
MAX_DIGITS = 15
"""Programs cut a number off after these."""
MAX_PIECES = 200_000
"""Of one formula, on all its levels; names that stand for names, or IFERROR in IFERROR, could make billions."""
EXACT_IF = {"VLOOKUP": 3, "HLOOKUP": 3, "MATCH": 2, "LOOKUP": None}
"""The argument with which a lookup finds nothing but the value itself."""


def compared(left: list[Piece], operator: str, right: list[Piece]) -> list[Piece]:
    """A comparison that counts numbers with the same 15 digits as equal."""
    if any(len(side) == 1 and isinstance(side[0], str) and _is_no_number(side[0]) for side in (left, right)):
        return [*left, operator, *right]
    if len(right) <= len(left):
        return ["DSSNAP(", *left, ",", *right, ")", operator, *right]
    return [*left, operator, "DSSNAP(", *right, ",", *left, ")"]


def _is_no_number(text: str) -> bool:
    return text.startswith('"') or text.upper() in ("TRUE", "FALSE")


def array(read: Sequence[Token], at: int) -> tuple[list[Piece], int]:
    """An array constant as it is written, and the place behind it."""
    end = next(place for place in range(at + 1, len(read)) if read[place].text == "}")
    return ["".join(token.text for token in read[at : end + 1])], end + 1


def constants(arguments: Sequence[Sequence[Piece]]) -> tuple[Any, ...] | None:
    """The values of arguments that are written into a formula, None for one left out; None if one is something else."""
    found: list[Any] = []
    for argument in arguments:
        match list(argument):
            case []:
                found.append(None)
            case [str(text)] if text.startswith('"'):
                found.append(text[1:-1].replace('""', '"'))
            case [str(text)] if text.upper() in ("TRUE", "FALSE"):
                found.append(text.upper() == "TRUE")
            case [str(text)] if text.replace(".", "", 1).isdigit():
                found.append(float(text))
            case _:
                return None
    return tuple(found)


def why_refused(read: Sequence[Token]) -> str:
    """Why a formula with these tokens is not worked out, whatever else is in it; empty where it may be."""
    for token, before in zip(read, (None, *read), strict=False):
        if _is_elsewhere(token):
            return "it refers to another file"
        sheet, _, _ = token.text.rpartition("!")
        if token.kind == "name" and sheet and (":" in sheet or (before is not None and before.text == ":")):
            return "it refers to the same cells of several sheets"
        if (
            token.kind == "number"
            and len(_NO_DIGIT.sub("", token.text.upper().partition("E")[0]).strip("0")) > MAX_DIGITS
        ):
            return f"{token.text[:40]} has more than {MAX_DIGITS} digits, and programs cut it off"
    return ""


def hides_references(read: Sequence[Token] | None) -> bool:
    """Whether a formula that was not read to its end may refer to cells that are not among its references."""
    if not read:
        return True
    return any(
        token.text == ":" or (token.kind in ("name", "table") and not (_is_plain(token) or _is_elsewhere(before)))
        for token, before in zip(read, (read[0], *read), strict=False)
    )


def _is_plain(token: Token) -> bool:
    return token.text.upper() in ("TRUE", "FALSE") or _is_elsewhere(token)


def _is_elsewhere(token: Token) -> bool:
    """Whether a token names another file, as `[2]` and `'[2]Sheet'!A1` do."""
    if token.kind == "table":
        return _FILE.fullmatch(token.text) is not None
    return token.kind == "name" and "[" in token.text.rpartition("!")[0]


def merged(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces with neighbouring texts joined."""
    text = ""
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
            continue
        if text:
            yield text
        text = ""
        yield piece
    if text:
        yield text


def exponent(written: list[Piece]) -> list[Piece]:
    """What stands behind `^`, so that it is noticed when it is 0; a number in the formula tells that itself."""
    if not written or (len(written) == 1 and isinstance(written[0], str) and written[0].strip("0.") not in ("", "-")):
        return written
    return ["DSPOWER(", NUMBER_OF_CELL, ",", *written, ")"]


def takes_nearest(name: str, arguments: Sequence[Sequence[Piece]]) -> bool:
    """Whether a lookup may find another value than the one that is looked up."""
    if name not in EXACT_IF:
        return False
    at = EXACT_IF[name]
    return at is None or len(arguments) <= at or list(arguments[at]) not in (["0"], ["FALSE"], ["false"])
