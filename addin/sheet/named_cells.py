"""Defined names, which the component does not know: formulas get what they stand for in their place."""

from __future__ import annotations

import re

from addin.formulas import MAX_FORMULA, Named, Unworkable
from addin.workbook.calculation.names import quoted
from addin.workbook.calculation.reading.lexer import shape_of
from addin.workbook.ooxml.book import Book

_NAME = re.compile(
    r"""(?P<kept>"[^"]*"|'(?:[^']|'')*'!?|\[[^\[\]]*\])|(?<![\w.!\\$\]])(?P<name>[^\W\d][\w.\\?]*)(?![\w.\\?(!\[])"""
)


class NamedCells:
    """What the names of a book stand for, seen from one of its sheets."""

    def __init__(self, book: Book, sheet: str) -> None:
        self._book = book
        self._sheet = sheet
        self._meanings: dict[str, str | None] = {}

    def written_out(self, formula: str) -> str:
        """The formula with the cells or the computation that each name stands for; what means another place stays.

        So does what would be longer than a formula can be.
        """
        text = _NAME.sub(lambda match: (match["name"] and self._meaning(match["name"])) or match[0], formula)
        return text if len(text) <= MAX_FORMULA else formula

    def _meaning(self, name: str) -> str | None:
        folded = name.casefold()
        if folded not in self._meanings:
            self._meanings[folded] = None  # a name that stands for itself stays
            self._meanings[folded] = self._found(name)
        return self._meanings[folded]

    def _found(self, name: str) -> str | None:
        book, sheet = self._book, self._sheet
        if (definition := book.definition(name, sheet)) is None:
            return None
        try:
            area = book.area_of(Named(name), sheet)
            return quoted(area._replace(sheet=book.known_name(area.sheet or sheet)), fixed=True)
        except Unworkable:
            text = definition.removeprefix("=")
        if any("!" not in each or "$" not in each for each in shape_of(text)[1]):
            return None
        return f"({self.written_out(text)})"
