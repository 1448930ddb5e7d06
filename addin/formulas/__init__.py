"""Formulas as text, read by one lexer for refresh, costs, names, spills, signing, the sheet and advice.

>>> from addin.formulas import parse
"""

from addin.formulas.areas import MAX_COLUMN, MAX_ROW, Area
from addin.formulas.calls import (
    Argument,
    FormulaError,
    Named,
    ParsedCall,
    Spill,
    call_text,
    may_call,
    mentions,
    parse,
    references,
    stored_form,
)
from addin.formulas.lexer import MAX_FORMULA, Unworkable

__all__ = [
    "MAX_COLUMN",
    "MAX_FORMULA",
    "MAX_ROW",
    "Area",
    "Argument",
    "FormulaError",
    "Named",
    "ParsedCall",
    "Spill",
    "Unworkable",
    "call_text",
    "may_call",
    "mentions",
    "parse",
    "references",
    "stored_form",
]
