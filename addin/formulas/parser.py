"""Formulas of ours as text: which function they call, and with what arguments.

Understood are a formula that is one call of ours, in the form typed (`=DS.SIGNAL("us-cpi")`) or stored by Excel
(`_xldudf_DS_SIGNAL("us-cpi")`), with constants, array constants, references, spill references and defined names as
arguments. Everything else is `Unworkable`: only a spreadsheet program can work it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from openpyxl.formula.tokenizer import Token, Tokenizer, TokenizerError
from openpyxl.utils.cell import column_index_from_string, get_column_letter

MAX_ROW, MAX_COLUMN = 1_048_576, 16_384
"""The last row and column of a sheet."""


class Unworkable(ValueError):  # noqa: N818 - it names a state of the formula, not a failure of ours
    """The formula holds a call of ours, but only a spreadsheet program can work it out; the message says why."""


@dataclass(frozen=True, slots=True)
class Area:
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


_AREA = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})(?::\$?([A-Za-z]{1,3})\$?(\d{1,7}))?")
_COLUMNS = re.compile(r"\$?([A-Za-z]{1,3}):\$?([A-Za-z]{1,3})")
_ROWS = re.compile(r"\$?(\d{1,7}):\$?(\d{1,7})")
_NAME = re.compile(r"[^\W\d][\w.]*")
_ANCHOR = re.compile(r"_xlfn\.ANCHORARRAY", re.IGNORECASE)


def _prefix(namespace: str) -> str:
    return rf"(?:_xldudf_{re.escape(namespace)}_|{re.escape(namespace)}\.)"


def mentions(formula: str, namespace: str = "DS") -> bool:
    """Whether the formula calls a function of ours, outside of any text in quotes."""
    unquoted = re.sub(r'"[^"]*"', '""', formula)
    return re.search(rf"(?<![\w.]){_prefix(namespace)}\w+\s*\(", unquoted, re.IGNORECASE) is not None


def parse(formula: str, namespace: str = "DS") -> ParsedCall:
    """The one call that the formula (with or without its `=`) consists of; raises `Unworkable` for anything else."""
    tokens = _tokens(formula)
    head = tokens.next()
    match = re.fullmatch(rf"@?{_prefix(namespace)}(\w+)\s*\(", head.value, re.IGNORECASE)
    if not (head.type == Token.FUNC and match):
        raise Unworkable("our function stands inside another formula")
    args = _arguments(tokens)
    if tokens.more():
        raise Unworkable("our function stands inside another formula")
    return ParsedCall(match[1].upper(), args)


def references(formula: str) -> list[Area | Named]:
    """Every area and defined name that any formula refers to."""
    try:
        items = _tokens(formula).items
    except Unworkable:
        return []
    found = [_reference(token.value) for token in items if token.type == Token.OPERAND and token.subtype == Token.RANGE]
    return [reference for reference in found if reference is not None]


class _Tokens:
    """The tokens of a formula, read from left to right, white space left out."""

    def __init__(self, items: list[Token]) -> None:
        self.items = [token for token in items if token.type != Token.WSPACE]
        self._at = 0

    def next(self) -> Token:
        if not self.more():
            raise Unworkable("the formula is not complete")
        self._at += 1
        return self.items[self._at - 1]

    def peek(self) -> Token | None:
        return self.items[self._at] if self.more() else None

    def more(self) -> bool:
        return self._at < len(self.items)

    def until_closed(self) -> Iterator[Token]:
        """The tokens up to the matching close, which is taken too."""
        depth = 1
        while True:
            token = self.next()
            depth += (token.subtype == Token.OPEN) - (token.subtype == Token.CLOSE)
            if depth == 0:
                return
            yield token


def _tokens(formula: str) -> _Tokens:
    try:
        return _Tokens(Tokenizer(formula if formula.startswith("=") else f"={formula}").items)
    except (TokenizerError, IndexError) as error:
        raise Unworkable("the formula cannot be read") from error


def _arguments(tokens: _Tokens) -> tuple[Argument, ...]:
    """The arguments up to the closing bracket."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens.until_closed():
        depth += (token.subtype == Token.OPEN) - (token.subtype == Token.CLOSE)
        if depth == 0 and token.type == Token.SEP and token.subtype == Token.ARG:
            parts.append([])
        else:
            parts[-1].append(token)
    return () if parts == [[]] else tuple(_argument(part) for part in parts)


def _argument(part: list[Token]) -> Argument:
    match [token.type for token in part], [token.value for token in part]:
        case [], _:
            return None
        case [Token.ARRAY, *_], _ if part[-1].subtype == Token.CLOSE:
            return _array(part[1:-1])
        case [Token.FUNC, Token.OPERAND, Token.FUNC], [name, cell, _] if _ANCHOR.match(name):
            return Spill(_area(cell))
        case [Token.OPERAND], [value] if part[0].subtype == Token.RANGE:
            if (reference := _reference(value)) is not None:
                return reference
        case _:
            if (constant := _constant(part)) is not None:
                return constant
    raise Unworkable(f"the argument {''.join(token.value for token in part)[:60]} is a calculation")


def _constant(part: list[Token]) -> bool | float | str | None:
    """The value of a constant: text, TRUE, or a number with its signs and percents."""
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
        case Token.NUMBER:
            return float(text) * (-1 if signs.count("-") % 2 else 1) / 100.0 ** len(percents)
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


def _area(text: str) -> Area:
    reference = _reference(text)
    if not isinstance(reference, Area):
        raise Unworkable(f"{text[:60]} is not a reference to a cell")
    return reference


def _reference(text: str) -> Area | Named | None:
    """The area or name in `text`; None for what is neither (`Table1[Column]`, other workbooks, several sheets)."""
    sheet, bang, cells = text.rpartition("!")
    if sheet.startswith("'") and sheet.endswith("'"):
        sheet = sheet[1:-1].replace("''", "'")
    if "[" in sheet or ":" in sheet:
        return None
    corners = _corners(cells)
    if corners is not None:
        return Area(*corners, sheet=sheet or None) if corners[2] <= MAX_ROW and corners[3] <= MAX_COLUMN else None
    return Named(cells) if not bang and _NAME.fullmatch(cells) else None


def _corners(cells: str) -> tuple[int, int, int, int] | None:
    if match := _AREA.fullmatch(cells):
        letters, digits, last_letters, last_digits = match.groups()
        rows = sorted((int(digits), int(last_digits or digits)))
        columns = sorted((column_index_from_string(letters), column_index_from_string(last_letters or letters)))
        return rows[0], columns[0], rows[1], columns[1]
    if match := _COLUMNS.fullmatch(cells):
        columns = sorted(column_index_from_string(letters) for letters in match.groups())
        return 1, columns[0], MAX_ROW, columns[1]
    if match := _ROWS.fullmatch(cells):
        rows = sorted(int(digits) for digits in match.groups())
        return rows[0], 1, rows[1], MAX_COLUMN
    return None
