"""Formulas as trees of calls: what is called, with what, and under which condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from addin.formulas.lexer import Token

MAX_DEPTH = 256
"""Brackets inside one another; spreadsheets allow 64 functions."""


class UnreadableError(ValueError):
    """The formula is none."""


@dataclass(slots=True)
class CallNode:
    """A function with its arguments; an argument that is left out is empty."""

    written: str
    arguments: list[Expression] = field(default_factory=list)


@dataclass(slots=True)
class GroupNode:
    """Something in round brackets: one expression, or several areas."""

    parts: list[Expression] = field(default_factory=list)


Node: TypeAlias = "Token | CallNode | GroupNode"
Expression: TypeAlias = "list[Node]"
"""Operands and operators in their order."""


def parsed(read: Sequence[Token]) -> Expression:
    """The tree of a whole formula; raises `UnreadableError`."""
    expression, end = _expression(read, 0, 0)
    if end != len(read) or not expression:
        raise UnreadableError
    return expression


def _expression(read: Sequence[Token], at: int, depth: int) -> tuple[Expression, int]:
    """Everything up to what closes or separates it, and the place of that."""
    if depth > MAX_DEPTH:
        raise UnreadableError
    found: Expression = []
    while at < len(read) and read[at].kind not in ("close", "separator"):
        token = read[at]
        match token.kind:
            case "call":
                parts, at = _parts(read, at + 1, depth + 1)
                found.append(CallNode(token.text[:-1], [] if parts == [[]] else parts))
            case "open":
                parts, at = _parts(read, at + 1, depth + 1)
                found.append(GroupNode(parts))
            case "brace":
                end = _end_of_array(read, at)
                found.append(Token("array", "".join(each.text for each in read[at : end + 1])))
                at = end + 1
            case "space":
                if _intersects(found, read, at):
                    found.append(Token("operator", " "))
                at += 1
            case _:
                found.append(token)
                at += 1
    return found, at


def _parts(read: Sequence[Token], at: int, depth: int) -> tuple[list[Expression], int]:
    """The expressions between separators up to the closing bracket, and the place behind it."""
    parts: list[Expression] = []
    while True:
        expression, at = _expression(read, at, depth)
        parts.append(expression)
        if at >= len(read):
            raise UnreadableError
        at += 1
        if read[at - 1].kind == "close":
            return parts, at


def _end_of_array(read: Sequence[Token], at: int) -> int:
    for place in range(at + 1, len(read)):
        if read[place].text == "}":
            return place
    raise UnreadableError


_OPERANDS = ("hole", "name", "table", "call", "open")


def _intersects(found: Expression, read: Sequence[Token], at: int) -> bool:
    """Return whether white space stands between two references, where it means their intersection."""
    if not found or at + 1 >= len(read) or read[at + 1].kind not in _OPERANDS:
        return False
    before = found[-1]
    return not isinstance(before, Token) or before.kind in _OPERANDS
