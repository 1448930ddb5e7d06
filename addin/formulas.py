"""Formulas as text: which of our functions they call, and with which arguments.

A formula can be read if it is one call of ours, as typed (`=DS.SIGNAL("us-cpi")`) or as Excel stores it
(`_xldudf_DS_SIGNAL("us-cpi")`), and its arguments are constants, array constants, references, spill references or
defined names. Everything else is `Unworkable`: only a spreadsheet program can evaluate it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import msgspec

from addin.errors import AddinError
from addin.openpyxl_parts import Token, Tokenizer, TokenizerError, get_column_letter, range_boundaries

MAX_ROW, MAX_COLUMN = 1_048_576, 16_384
"""The last row and column of a sheet."""

MAX_FORMULA = 16_384
"""Characters of a formula: twice what Excel lets anyone type, because it stores some names in a longer form."""


MAX_PERCENTS = 100
"""Percent signs after one number; more would leave the range of numbers."""


class FormulaError(AddinError, ValueError):
    """The formula cannot be evaluated outside of a workbook; the message says why."""


class Unworkable(ValueError):  # noqa: N818 - it names a state of the formula, not a failure of ours
    """The formula contains a call of ours, but only a spreadsheet program can evaluate it; the message says why."""


class Area(NamedTuple):
    """A rectangle of cells, both corners included, rows and columns from 1; `sheet` None is the formula's own."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int
    sheet: str | None = None

    def __str__(self) -> str:
        first = f"{get_column_letter(self.first_column)}{self.first_row}"
        last = f"{get_column_letter(self.last_column)}{self.last_row}"
        cells = first if first == last else f"{first}:{last}"
        return f"{self.sheet}!{cells}" if self.sheet else cells

    @property
    def is_cell(self) -> bool:
        """Whether it is one cell."""
        return (self.first_row, self.first_column) == (self.last_row, self.last_column)

    def contains(self, row: int, column: int) -> bool:
        """Whether the cell lies inside."""
        return self.first_row <= row <= self.last_row and self.first_column <= column <= self.last_column


@dataclass(frozen=True, slots=True)
class Spill:
    """All cells that the array formula in one cell fills (`A1#`)."""

    anchor: Area


@dataclass(frozen=True, slots=True)
class Named:
    """A defined name."""

    name: str


Argument: TypeAlias = bool | float | str | list[list[Any]] | Area | Spill | Named | None


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """One call of ours with its arguments, references not yet looked up."""

    function_id: str
    args: tuple[Argument, ...]


_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?")
_NAME = re.compile(r"[^\W\d][\w.]*")
_PIECE = re.compile(r""""[^"]*+"|'(?:[^']++|'')*+'|[\w.\[\]]++(?P<call>(?=\s*+\())?|.""", re.DOTALL)
_QUALIFIER = re.compile(r"""'.*'|[\w.\[\]]+""", re.DOTALL)
_FOREIGN = r"(?:_xll\.|_xlfn\.)*"
"""What Excel puts before the name of a function that it does not know."""
_ANCHOR = re.compile(r"_xlfn\.ANCHORARRAY", re.IGNORECASE)


def _prefix(namespace: str) -> str:
    return rf"(?:_xldudf_{re.escape(namespace)}_|{re.escape(namespace)}\.)"


def mentions(formula: str, namespace: str = "DS") -> bool:
    """Whether the formula calls a function of ours, outside of any text in quotes."""
    return _may_call(formula, namespace) and any(ours for _, ours in _pieces(formula, namespace))


def stored_form(formula: str, namespace: str = "DS") -> str:
    """The formula with every call of ours as Excel stores it, which is the only form that Excel computes after loading.

    This also mends what Excel leaves behind when the add-in was missing: the name of a book or sheet before the call.

    >>> stored_form("IFERROR('C:\\\\Add-ins\\\\DS.XLAM'!_xldudf_DS_SIGNAL(A1),0)&DS.INDEX(B1)")
    'IFERROR(_xldudf_DS_SIGNAL(A1),0)&_xldudf_DS_INDEX(B1)'
    """
    if not _may_call(formula, namespace):
        return formula
    pieces: list[str] = []
    was_ours = False
    for piece, ours in _pieces(formula, namespace):
        if was_ours and piece.isspace():
            continue  # between a function and its bracket, where spreadsheets leave none
        was_ours = ours is not None
        if ours:
            del pieces[_without_qualifiers(pieces) :]
        pieces.append(f"_xldudf_{namespace}_{ours}" if ours else piece)
    return "".join(pieces)


def _may_call(formula: str, namespace: str) -> bool:
    """Whether a formula may hold a call of ours: nearly all end here."""
    dotted, stored = _marks(namespace)
    folded = formula.casefold()
    return dotted in folded or stored in folded


@lru_cache(maxsize=16)
def _marks(namespace: str) -> tuple[str, str]:
    space = namespace.casefold()
    return f"{space}.", f"_{space}_"


def _pieces(formula: str, namespace: str) -> Iterator[tuple[str, str | None]]:
    """The texts, quoted names, words and other characters of a formula; with the id of a function of ours called."""
    call = re.compile(rf"{_FOREIGN}{_prefix(namespace)}([A-Z0-9_]+)", re.IGNORECASE)
    for piece in _PIECE.finditer(formula):
        ours = call.fullmatch(piece[0]) if piece["call"] is not None else None
        yield piece[0], ours[1].upper() if ours else None


def _without_qualifiers(pieces: list[str]) -> int:
    """How many pieces are left without the names of books and sheets, and signs of intersection, at the end."""
    end = len(pieces)
    while end and pieces[end - 1] in ("!", "@"):
        end -= 1
        if pieces[end] == "!" and end and _QUALIFIER.fullmatch(pieces[end - 1]):
            end -= 1
    # Without anything between them, a word and the call after it would become another word.
    return len(pieces) if end and _QUALIFIER.fullmatch(pieces[end - 1]) else end


def parse(formula: str, namespace: str = "DS") -> ParsedCall:
    """The one call that the formula (with or without its `=`) consists of; raises `Unworkable` for anything else."""
    rest = iter(tokens(formula))
    head = next(rest, None)
    if head is None:
        raise Unworkable("the formula is not complete")
    match = re.fullmatch(rf"@?{_prefix(namespace)}([A-Z0-9_]+)\s*\(", head.value, re.IGNORECASE)
    if not (head.type == Token.FUNC and match):
        raise Unworkable("our function stands inside another formula")
    args = _arguments(rest)
    if next(rest, None) is not None:
        raise Unworkable("our function stands inside another formula")
    return ParsedCall(match[1].upper(), args)


def call_text(formula: str, namespace: str = "DS") -> bytes:
    """The call in the formula as a batch contains it; raises `FormulaError`.

    >>> call_text('=DS.SIGNAL("us-cpi", , -1)')
    b'["SIGNAL","us-cpi",null,-1.0]'
    """
    try:
        parsed = parse(formula, namespace)
    except Unworkable as error:
        raise FormulaError(f"{formula[:80]}: {error}; expected one call such as ={namespace}.SIGNAL(…)") from None
    for argument in parsed.args:
        if isinstance(argument, Area | Spill | Named):
            shown = argument.name if isinstance(argument, Named) else "a reference to cells"
            advice = "give the value itself, text in double quotes"
            raise FormulaError(f"{formula[:80]}: {shown} means nothing outside of a workbook; {advice}")
    return msgspec.json.encode([parsed.function_id, *parsed.args])


def references(formula: str) -> list[Area | Named]:
    """Every area and defined name that any formula refers to."""
    try:
        parts = tokens(formula)
    except Unworkable:
        return []
    found = [_reference(part.value) for part in parts if part.type == Token.OPERAND and part.subtype == Token.RANGE]
    return [reference for reference in found if reference is not None]


def tokens(formula: str) -> list[Token]:
    """The tokens of a formula from left to right, without white space; raises `Unworkable`."""
    if len(formula) > MAX_FORMULA:
        raise Unworkable(f"the formula is longer than {MAX_FORMULA:,} characters")
    try:
        items = Tokenizer(formula if formula.startswith("=") else f"={formula}").items
    except (TokenizerError, IndexError) as error:
        raise Unworkable("the formula cannot be read") from error
    return [token for token in items if token.type != Token.WSPACE]


def _arguments(tokens: Iterator[Token]) -> tuple[Argument, ...]:
    """The arguments up to the closing bracket, which is consumed too."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.subtype == Token.OPEN) - (token.subtype == Token.CLOSE)
        if depth < 0:
            return () if parts == [[]] else tuple(_argument(part) for part in parts)
        if depth == 0 and token.type == Token.SEP and token.subtype == Token.ARG:
            parts.append([])
        else:
            parts[-1].append(token)
    raise Unworkable("the formula is not complete")


def _argument(part: list[Token]) -> Argument:
    match [token.type for token in part], [token.value for token in part]:
        case [], _:
            return None
        case [Token.ARRAY, *_], _ if part[-1].subtype == Token.CLOSE:
            return _array(part[1:-1])
        case [Token.FUNC, Token.OPERAND, Token.FUNC], [name, cell, _] if _ANCHOR.match(name):
            if not isinstance(anchor := _reference(cell), Area):
                raise Unworkable(f"{cell[:60]} is not a reference to a cell")
            return Spill(anchor)
        case [Token.OPERAND], [value] if part[0].subtype == Token.RANGE:
            if (reference := _reference(value)) is not None:
                return reference
        case _:
            if (constant := _constant(part)) is not None:
                return constant
    raise Unworkable(f"the argument {''.join(token.value for token in part)[:60]} is a calculation")


def _constant(part: list[Token]) -> bool | float | str | None:
    """The value of a constant: text, TRUE, an error as its code, or a number with its signs and percents."""
    signs = [token.value for token in part if token.type == Token.OP_PRE]
    percents = [token for token in part if token.type == Token.OP_POST]
    operands = [token for token in part if token.type == Token.OPERAND]
    if len(operands) != 1 or len(signs) + len(percents) + 1 != len(part):
        return None
    text = operands[0].value
    match operands[0].subtype:
        case Token.TEXT if len(part) == 1:
            return str(text[1:-1]).replace('""', '"')
        case Token.LOGICAL if len(part) == 1:
            return bool(text.upper() == "TRUE")
        case Token.ERROR if len(part) == 1:
            return str(text)
        case Token.NUMBER if _NUMBER.fullmatch(text) and len(percents) <= MAX_PERCENTS:
            number = float(text) * (-1 if signs.count("-") % 2 else 1) / 100.0 ** len(percents)
            return number if math.isfinite(number) else None
        case _:
            return None


def _array(part: list[Token]) -> list[list[Any]]:
    rows: list[list[list[Token]]] = [[[]]]
    for token in part:
        if token.type != Token.SEP:
            rows[-1][-1].append(token)
        elif token.subtype == Token.ROW:
            rows.append([[]])
        else:
            rows[-1].append([])
    return [[_constant(cell) for cell in row] for row in rows]


def _reference(text: str) -> Area | Named | None:
    """The area or name in `text`; None for what is neither (`Table1[Column]`, other workbooks, several sheets)."""
    sheet, bang, cells = text.rpartition("!")
    if sheet.startswith("'") and sheet.endswith("'"):
        sheet = sheet[1:-1].replace("''", "'")
    if "[" in sheet or ":" in sheet:
        return None
    corners = _corners(cells)
    if corners is not None:
        return Area(*corners, sheet=sheet or None) if corners[3] <= MAX_COLUMN else None
    return Named(cells) if not bang and _NAME.fullmatch(cells) else None


def _corners(cells: str) -> tuple[int, int, int, int] | None:
    """The first row and column and the last ones; None for what is no area, such as the name `Q20240331`."""
    try:
        left, top, right, bottom = range_boundaries(cells)
    except ValueError:
        return None
    if ":" not in cells and (left is None or top is None):
        return None
    (top, bottom), (left, right) = sorted((top or 1, bottom or MAX_ROW)), sorted((left or 1, right or MAX_COLUMN))
    return (top, left, bottom, right) if bottom <= MAX_ROW else None
