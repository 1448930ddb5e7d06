"""Formulas that only show another cell, or link to what is in it; they need no calculation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from addin.formulas.areas import Area, area_of
from addin.formulas.lexer import REFERENCE, Token, tokens


@dataclass(frozen=True, slots=True)
class Substitute:
    """The text or other cell shown where a cell holds this text, of which a blank cell holds none."""

    text: str
    by: str | Area

    def fits(self, value: object) -> bool:
        """Return whether a cell with this value holds the text; as in every spreadsheet, case does not count."""
        return (value is None and not self.text) or (
            isinstance(value, str) and value.casefold() == self.text.casefold()
        )


@dataclass(frozen=True, slots=True)
class CellReference:
    """A formula that only shows another cell, or a link to what is in it.

    `=A1`, `=A1&""` (a blank cell stays blank), `=HYPERLINK(A1)`, `=HYPERLINK(A1,"Open")`, `=IF(A1="","",A1)`,
    `=IF(A2="",B1,A2)`, `=IF(A1&""="name","Name",A1)`, `=IF(A1="","","More")` and `=IF(A1="","",HYPERLINK(A1,"Open"))`.
    `label` is shown instead of what the cell holds; `=IF(ISERR(A1),"",…)` around any of them is `blank_if_failed`.
    """

    source: Area
    as_text: bool = False
    label: str | None = None
    substitute: Substitute | None = None
    blank_if_failed: bool = False
    """Whether an error other than `#N/A` in the cell shows as nothing."""

    @property
    def cells(self) -> tuple[Area, ...]:
        """The cells that it may show."""
        by = None if self.substitute is None else self.substitute.by
        return (self.source, by) if isinstance(by, Area) else (self.source,)


def cell_reference(formula: str) -> CellReference | None:
    """The cell that the formula only shows; None for a formula that does anything else."""
    if not _may_be(formula):  # nearly all end here
        return None
    match _named(tokens(formula.removeprefix("="))):
        case ["IF(", "ISERR(", Area() as source, ")", ",", '""', ",", *shown, ")"]:
            reference = _shown(shown)
            return replace(reference, blank_if_failed=True) if reference and reference.source == source else None
        case read:
            return _shown(read)


LONGEST = 400
"""Characters of such a formula; texts in it are short."""

_AS_TEXT = r'(?:&"")?'
_BEGINNING = re.compile(
    rf"=?(?:{REFERENCE}{_AS_TEXT}\Z|HYPERLINK\(|IF\((?:ISERR\(|{REFERENCE}{_AS_TEXT}=))", re.IGNORECASE
)


def _may_be(formula: str) -> bool:
    """Return whether a formula is short, and one cell, or begins as these do."""
    return len(formula) <= LONGEST and _BEGINNING.match(formula) is not None


def _named(read: Sequence[Token]) -> list[str | Area]:
    """The tokens of a formula: a cell as its area, names of functions in capitals, all others as they are written."""
    return [_one_named(token) for token in read]


def _one_named(token: Token) -> str | Area:
    if token.kind == "reference" and (area := area_of(token.text)) is not None and area.is_cell:
        return area
    return token.text.upper() if token.kind == "call" else token.text


def _shown(read: Sequence[str | Area]) -> CellReference | None:
    match read:
        case [Area() as source]:
            return CellReference(source)
        case [Area() as source, "&", '""'] | ["HYPERLINK(", Area() as source, ")"]:
            return CellReference(source, as_text=True)
        case ["HYPERLINK(", Area() as source, ",", str() as label, ")"] if _is_text(label):
            return CellReference(source, as_text=True, label=_unquoted(label))
        case ["IF(", Area() as source, "&", '""', "=", *rest] | ["IF(", Area() as source, "=", *rest]:
            is_joined = len(read) - len(rest) == len(("IF(", source, "&", '""', "="))
            return _chosen(source, rest, is_joined=is_joined)
        case _:
            return None


def _chosen(source: Area, rest: Sequence[str | Area], *, is_joined: bool) -> CellReference | None:
    """Return what is shown behind `IF(A1=`; `is_joined` is whether the cell is compared as a text (`A1&""`)."""
    match rest:
        case [str() as text, ",", str() | Area() as by, ",", *shown, ")"] if _is_text(text):
            if isinstance(by, str) and not _is_text(by):
                return None
            if is_joined and _may_be_a_value(_unquoted(text)):
                return None  # a number or a logical value becomes this text as well
            substitute = Substitute(_unquoted(text), by if isinstance(by, Area) else _unquoted(by))
        case _:
            return None
    match shown:
        case [Area() as again] if again == source:
            return CellReference(source, substitute=substitute)
        case [str() as label] | ["HYPERLINK(", Area(), ",", str() as label, ")"] if _is_text(label):
            if len(shown) > 1 and shown[1] != source:
                return None
            return CellReference(source, as_text=True, label=_unquoted(label), substitute=substitute)
        case _:
            return None


def _is_text(token: str) -> bool:
    return token.startswith('"')


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"')


def _may_be_a_value(text: str) -> bool:
    """Return whether a number or a logical value reads like this.

    >>> _may_be_a_value("12"), _may_be_a_value("true"), _may_be_a_value("name"), _may_be_a_value("")
    (True, True, False, False)
    """
    return text.upper() in ("TRUE", "FALSE") or any(each.isdigit() for each in text)
