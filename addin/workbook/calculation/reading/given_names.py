"""Names that a formula gives by itself: what LET and LAMBDA introduce, and what LET's stand for."""

from __future__ import annotations

from collections.abc import Iterator

from addin.formulas.lexer import Token
from addin.workbook.calculation.functions import plain_name
from addin.workbook.calculation.reading.cautions import gives_cells
from addin.workbook.calculation.reading.parsing import CallNode, Expression
from addin.workbook.calculation.reading.shapes import Names

_PREFIX = "_xlpm."
"""What stands before such a name in a file."""


def _calls(tree: Expression) -> Iterator[CallNode]:
    """Every call in an expression, the inner ones first."""
    for node in tree:
        if not isinstance(node, Token):
            for part in node.arguments if isinstance(node, CallNode) else node.parts:
                yield from _calls(part)
            if isinstance(node, CallNode):
                yield node


def introduced_names(tree: Expression) -> Iterator[str]:
    """The names that `LET` and `LAMBDA` introduce, in lower case."""
    for node in _calls(tree):
        if (name := plain_name(node.written)) in ("LET", "LAMBDA"):
            for place, part in enumerate(node.arguments[:-1]):
                match part:
                    case [Token(kind="name", text=text)] if name == "LAMBDA" or place % 2 == 0:
                        yield local_name(text)


def names_of_values(tree: Expression, names: Names) -> frozenset[str]:
    """The names of a `LET` that stand for values and not for cells, in lower case."""
    found: frozenset[str] = frozenset()
    while True:  # each round that goes on finds a name whose meaning another one gives
        known = found

        def is_cells(text: str, known: frozenset[str] = known) -> bool:
            return local_name(text) not in known and not names.calls_ours(text)

        found |= {name for name, given in _bindings(tree) if not gives_cells(given, is_cells)}
        if found == known:
            return found


def _bindings(tree: Expression) -> Iterator[tuple[str, Expression]]:
    """The names of every `LET`, in lower case, with what they stand for."""
    for node in _calls(tree):
        if plain_name(node.written) == "LET":
            for named, given in zip(node.arguments[:-1:2], node.arguments[1::2], strict=False):
                match named:
                    case [Token(kind="name", text=text)]:
                        yield local_name(text), given


def local_name(text: str) -> str:
    return text.casefold().removeprefix(_PREFIX)


def lambda_parameters(node: CallNode) -> list[str] | None:
    """The names of what the LAMBDA behind a function's other arguments takes; None where there is none."""
    match node.arguments[-1:]:
        case [[CallNode(written, [*names, _])]] if plain_name(written) == "LAMBDA":
            return [plain_local_name(each[0].text) for each in names if each and isinstance(each[0], Token)]
        case _:
            return None


def plain_local_name(text: str) -> str:
    return text[len(_PREFIX) :] if text.casefold().startswith(_PREFIX) else text
