"""Defined names, which the component does not know: formulas get what they stand for in their place."""

from __future__ import annotations

import re

from addin.formulas import Named, Unworkable
from addin.workbook.calculation.lexer import shape_of
from addin.workbook.calculation.names import MAX_DEPTH, quoted
from addin.workbook.ooxml.book import Book

_NAME = re.compile(
    r"""(?P<kept>"[^"]*"|'(?:[^']|'')*'!?|\[[^\[\]]*\])|(?<![\w.!\\$\]])(?P<name>[^\W\d][\w.\\?]*)(?![\w.\\?(!\[])"""
)


def without_names(formula: str, book: Book, sheet: str, depth: int = MAX_DEPTH) -> str:
    """The formula with the cells or the computation that each name stands for; what means another place stays."""

    def meant(match: re.Match[str]) -> str:
        name = match["name"]
        definition = book.definition(name, sheet) if name else None
        if definition is None or depth == 0:
            return match[0]
        try:
            area = book.area_of(Named(name), sheet)
            return quoted(area._replace(sheet=book.known_name(area.sheet or sheet)), fixed=True)
        except Unworkable:
            text = definition.removeprefix("=")
        if any("!" not in each or "$" not in each for each in shape_of(text)[1]):
            return match[0]
        return f"({without_names(text, book, sheet, depth - 1)})"

    return _NAME.sub(meant, formula)
