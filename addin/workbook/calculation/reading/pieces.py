"""Pieces of a formula that is written anew: joined, searched for names, and moved behind the calls of another one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from addin.formulas.lexer import Token
from addin.workbook.calculation.reading.oddities import SEVERAL_SHEETS
from addin.workbook.calculation.reading.parsing import Expression
from addin.workbook.calculation.reading.shapes import Answer, CallSite, Fixed, Guard, Piece


def mentions(pieces: Sequence[Piece], names: frozenset[str]) -> bool:
    """Return whether an expression uses one of these names."""
    texts = (piece for piece in pieces if isinstance(piece, str) and not piece.startswith('"'))
    words = (word for piece in texts for word in re.findall(r"[^\W\d][\w.\\?]*", piece))
    return any(word.casefold() in names for word in words)


def joined(parts: Iterable[Iterable[Piece]]) -> Iterator[Piece]:
    """Pieces of several expressions with commas between them."""
    for number, part in enumerate(parts):
        if number:
            yield ","
        yield from part


def moved(pieces: Sequence[Piece], by: int) -> tuple[Piece, ...]:
    return tuple(Answer(piece.site + by) if isinstance(piece, Answer) else piece for piece in pieces)


def moved_site(site: CallSite, by: int, guards: tuple[Guard, ...]) -> CallSite:
    own = tuple(Guard(moved(guard.pieces, by), guard.wanted) for guard in site.guards)
    arguments = tuple(moved(each, by) for each in site.arguments)
    return replace(site, arguments=arguments, rounds=moved(site.rounds, by), guards=(*guards, *own))


def merged(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces with neighbouring texts joined."""
    text = ""
    for piece in pieces:
        if isinstance(piece, str | Fixed):
            text += piece if isinstance(piece, str) else piece.text
            continue
        if text:
            yield text
        text = ""
        yield piece
    if text:
        yield text


def on_one_sheet(tree: Expression, parts: Sequence[Sequence[Piece]]) -> Iterator[tuple[tuple[Piece, ...], str]]:
    """What has to hold for references that are intersected, or span a range, each with what speaks against it else."""
    for place, node in enumerate(tree[:-1]):
        if place and isinstance(node, Token) and node.kind == "operator" and node.text in (" ", ":"):
            one, other = _where(parts[place - 1]), _where(parts[place + 1])
            if node.text == " " or (one and other):  # nobody knows the sheet of what XLOOKUP and the like find
                sheets = (*(one or parts[place - 1]), ")=SHEET(", *(other or parts[place + 1]))
                yield ("AND(SHEET(", *sheets, "))"), SEVERAL_SHEETS


def _where(operand: Sequence[Piece]) -> Sequence[Piece]:
    """Return what stands on the sheet of an operand: of `INDEX` and `OFFSET` the first argument; empty if not known."""
    match operand:
        case ["INDEX(" | "OFFSET(" | "(", *inside]:
            return _where(inside)
        case [str(written), *_] if written.endswith("("):
            return ()
        case _:
            return operand[:1]
