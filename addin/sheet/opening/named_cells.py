"""Defined names, which the component does not know: formulas get what they stand for in their place."""

from __future__ import annotations

from addin.formulas import MAX_FORMULA, Named, Unworkable
from addin.formulas.lexer import Token, tokens
from addin.formulas.shape import shape_of
from addin.workbook.calculation.names import quoted
from addin.workbook.ooxml.book import Book


def _may_be_name(token: Token, before: Token | None) -> bool:
    """Return whether a token may be a name of this book; behind `!` stand names of others."""
    return token.kind in ("name", "reference") and (before is None or before.text != "!")


class NamedCells:
    """The meaning of a book's names, seen from one of its sheets."""

    def __init__(self, book: Book, sheet: str) -> None:
        self._book = book
        self._sheet = sheet
        self._meanings: dict[str, str | None] = {}
        self._names = tuple(name for name, _ in book.names)

    def written_out(self, formula: str) -> str:
        """The formula with the cells or the computation that each name stands for; what means another place stays.

        So does what would be longer than a formula can be.
        """
        folded = formula.casefold()
        if not any(name in folded for name in self._names):
            return formula
        read = tokens(formula)
        text = "".join(
            (self._meaning(token.text) if _may_be_name(token, before) else None) or token.text
            for token, before in zip(read, (None, *read), strict=False)
        )
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
