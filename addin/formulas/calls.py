"""Formulas as text: which of our functions they call, and with which arguments.

A formula can be read if it is one call of ours, as typed (`=DS.SIGNAL("us-cpi")`) or as Excel stores it
(`_xldudf_DS_SIGNAL("us-cpi")`), and its arguments are constants, array constants, references, spill references or
defined names. Everything else is `Unworkable`: only a spreadsheet program can evaluate it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec

from addin.errors import AddinError
from addin.formulas.areas import Area, area_of
from addin.formulas.lexer import MAX_FORMULA, QUOTED_SHEET, Token, Unworkable, is_readable, tokens

MAX_PERCENTS = 100
"""Percent signs after one number; more would leave the range of numbers."""


class FormulaError(AddinError, ValueError):
    """The formula cannot be evaluated outside of a workbook; the message says why."""


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


_FOREIGN = r"(?:_xll\.|_xlfn\.)*"
"""What Excel puts before the name of a function that it does not know."""
_ANCHOR = re.compile(r"(?:_xlfn\.)?ANCHORARRAY\(", re.IGNORECASE)


def mentions(formula: str, namespace: str = "DS") -> bool:
    """Return whether the formula calls a function of ours, outside of any text in quotes."""
    return may_call(formula, namespace) and any(ours for _, ours in _with_calls(tokens(formula), namespace))


def stored_form(formula: str, namespace: str = "DS") -> str:
    """The formula with every call of ours as Excel stores it, which is the only form that Excel computes after loading.

    This also mends what Excel leaves behind when the add-in was missing: the name of a book or sheet before the call.

    >>> stored_form("IFERROR('C:\\\\Add-ins\\\\DS.XLAM'!_xldudf_DS_SIGNAL(A1),0)&DS.INDEX(B1)")
    'IFERROR(_xldudf_DS_SIGNAL(A1),0)&_xldudf_DS_INDEX(B1)'
    """
    if not may_call(formula, namespace):
        return formula
    read = tokens(formula)
    if any(token.kind == "other" and token.text != "!" for token in read):
        return formula  # nobody knows where a text or a sheet's name ends in it
    written: list[str] = []
    was_ours = False
    for token, ours in _with_calls(read, namespace):
        if was_ours and token.kind == "space":
            continue  # between a function and its bracket, where spreadsheets leave none
        was_ours = ours is not None and token.kind == "name"
        if ours is None:
            written.append(token.text)
            continue
        written += filter(None, (ours["sign"], ours["qualifier"], ours["mark"]))
        del written[_without_qualifiers(written) :]
        written.append(f"_xldudf_{namespace}_{ours['id'].upper()}{ours['bracket']}")
    return "".join(written)


def may_call(formula: str, namespace: str) -> bool:
    """Return whether a formula may hold a call of ours; far cheaper than its tokens, and nearly all end here."""
    if "." not in formula and "_" not in formula:
        return False
    dotted, stored = _marks(namespace)
    folded = formula.casefold()
    return dotted in folded or stored in folded


@lru_cache(maxsize=16)
def _marks(namespace: str) -> tuple[str, str]:
    space = namespace.casefold()
    return f"{space}.", f"_{space}_"


@lru_cache(maxsize=16)
def _call_of_ours(namespace: str) -> re.Pattern[str]:
    space = re.escape(namespace)
    name = rf"{_FOREIGN}(?:_xldudf_{space}_|{space}\.)(?P<id>[A-Z0-9_]+)"
    return re.compile(
        rf"(?P<sign>@?)(?:(?P<qualifier>.*)(?P<mark>!))?{name}(?P<bracket>\(?)", re.IGNORECASE | re.DOTALL
    )


def call_id(called: str, namespace: str) -> str | None:
    """The function of ours that a name with what stands before it means; None for any other.

    >>> call_id("'C:\\Add-ins\\DS.XLAM'!_xldudf_DS_SIGNAL", "DS")
    'SIGNAL'
    """
    ours = _call_of_ours(namespace).fullmatch(called)
    return None if ours is None else ours["id"].upper()


def argument_counts(formula: str, namespace: str = "DS") -> list[tuple[str, int]]:
    """Every call of ours in a formula: the function's id, and how many arguments stand in its brackets.

    >>> argument_counts('=SUM(DS.SIGNAL("us-cpi",),DS.QUOTA())')
    [('SIGNAL', 2), ('QUOTA', 0)]
    """
    try:
        read = readable_tokens(formula)
        ours = [(place, match) for place, (_, match) in enumerate(_with_calls(read, namespace)) if match]
        return [(match["id"].upper(), len(_arguments(read[place:])[0])) for place, match in ours]
    except Unworkable:
        return []


def _with_calls(read: Sequence[Token], namespace: str) -> Iterator[tuple[Token, re.Match[str] | None]]:
    """The tokens of a formula; with the parts of one that calls a function of ours."""
    for place, token in enumerate(read):
        ours = None
        if token.kind == "call" or (token.kind == "name" and _opens(read, place + 1)):
            ours = _call_of_ours(namespace).fullmatch(token.text)
        yield token, ours


def _opens(read: Sequence[Token], place: int) -> bool:
    """Return whether white space and an opening bracket follow."""
    following = (token.kind for token in read[place : place + 2])
    return list(following) == ["space", "open"]


_QUALIFIER = re.compile(rf"{QUOTED_SHEET}|[\w.\[\]]+")
_NUMBER_OF_FILE = re.compile(r"\[\w+\]")
_END_OF_WORD = re.compile(r"[\w.\\?\]'!@]$")


def _without_qualifiers(written: Sequence[str]) -> int:
    """Return how many pieces are left without the names of books and sheets, and signs of intersection, at the end."""
    end = len(written)
    while end and written[end - 1] in ("!", "@"):
        end -= 1
        if written[end] == "!" and end and _QUALIFIER.fullmatch(written[end - 1]):
            end -= 1
            if end and _NUMBER_OF_FILE.fullmatch(written[end - 1]):
                end -= 1
    # Without anything between them, a word and the call after it would become another word.
    return len(written) if end and _END_OF_WORD.search(written[end - 1]) else end


def parse(formula: str, namespace: str = "DS") -> ParsedCall:
    """The one call that the formula (with or without its `=`) consists of; raises `Unworkable` for anything else."""
    read = readable_tokens(formula)
    if not read:
        raise Unworkable("the formula is not complete")
    ours = _call_of_ours(namespace).fullmatch(read[0].text) if read[0].kind == "call" else None
    if ours is None or ours["qualifier"]:
        raise Unworkable("our function stands inside another formula")
    arguments, end = _arguments(read)
    if end != len(read):
        raise Unworkable("our function stands inside another formula")
    return ParsedCall(ours["id"].upper(), tuple(map(_argument, arguments)))


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
        read = readable_tokens(formula)
    except Unworkable:
        return []
    return [reference for token in read if (reference := _reference(token)) is not None]


def readable_tokens(formula: str) -> list[Token]:
    """The tokens of a formula (with or without its `=`), without white space; raises `Unworkable`."""
    if len(formula) > MAX_FORMULA:
        raise Unworkable(f"the formula is longer than {MAX_FORMULA:,} characters")
    read = tokens(formula.removeprefix("="))
    if read and not is_readable(read):
        raise Unworkable("the formula cannot be read")
    return [token for token in read if token.kind != "space"]


_CLOSED_BY = {"(": ")", "{": "}"}


def _arguments(read: Sequence[Token]) -> tuple[list[Sequence[Token]], int]:
    """The arguments of the call that `read` begins with, and the place behind its closing bracket."""
    found: list[Sequence[Token]] = []
    awaited = [")"]
    begin = 1
    for place, token in enumerate(read[1:], start=1):
        if token.kind in ("call", "open") or token.text == "{":
            awaited.append(_CLOSED_BY[token.text[-1]])
        elif token.kind == "close" or token.text == "}":
            if token.text != awaited.pop():
                raise Unworkable("the formula cannot be read")
            if not awaited:
                is_empty = not found and place == begin
                return ([] if is_empty else [*found, read[begin:place]]), place + 1
        elif token.text == "," and len(awaited) == 1:
            found.append(read[begin:place])
            begin = place + 1
    raise Unworkable("the formula is not complete")


def _argument(part: Sequence[Token]) -> Argument:
    match part:
        case []:
            return None
        case [Token(text="{"), *cells, Token(text="}")]:
            return _array(cells)
        case [Token(kind="call", text=call), cell, Token(kind="close")] if _ANCHOR.fullmatch(call):
            return _spill(cell)
        case [cell, Token(text="#")]:
            return _spill(cell)
        case [one] if (reference := _reference(one)) is not None:
            return reference
        case _:
            if (constant := _constant(part)) is not None:
                return constant
    raise Unworkable(f"the argument {''.join(token.text for token in part)[:60]} is a calculation")


def _spill(cell: Token) -> Spill:
    if not isinstance(anchor := _reference(cell), Area):
        raise Unworkable(f"{cell.text[:60]} is not a reference to a cell")
    return Spill(anchor)


def _constant(part: Sequence[Token]) -> bool | float | str | None:
    """The value of a constant: text, TRUE, an error as its code, or a number with its signs and percents."""
    match part:
        case [Token(kind="text", text=text)]:
            return text[1:-1].replace('""', '"')
        case [Token(kind="name", text=text)] if text.upper() in ("TRUE", "FALSE"):
            return text.upper() == "TRUE"
        case [Token(kind="error", text=text)]:
            return text
    texts = [token.text for token in part]
    at = next((place for place, token in enumerate(part) if token.kind == "number"), None)
    if at is None:
        return None
    signs, percents = texts[:at], texts[at + 1 :]
    if not {"+", "-"}.issuperset(signs) or not {"%"}.issuperset(percents) or len(percents) > MAX_PERCENTS:
        return None
    number = float(texts[at]) * (-1 if signs.count("-") % 2 else 1) / 100.0 ** len(percents)
    return number if math.isfinite(number) else None


def _array(cells: Sequence[Token]) -> list[list[Any]]:
    rows: list[list[list[Token]]] = [[[]]]
    for token in cells:
        if token.kind != "separator":
            rows[-1][-1].append(token)
        elif token.text == ";":
            rows.append([[]])
        else:
            rows[-1].append([])
    return [[_constant(cell) for cell in row] for row in rows]


def _reference(token: Token) -> Area | Named | None:
    """The area or name that a token is; None for what is neither (`Table1[Column]`, other books, several sheets)."""
    if token.kind == "reference":
        return area_of(token.text)
    if token.kind != "name" or "!" in token.text or token.text.upper() in ("TRUE", "FALSE"):
        return None
    return Named(token.text)
