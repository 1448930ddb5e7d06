"""Formulas as a workbook file has them, `_xldudf_DS_SIGNAL(A1)`, and as users type them, `DS.SIGNAL(A1)`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from addin.formulas import may_call, stored_form
from addin.formulas.lexer import Token, tokens

_PREFIX = re.compile(r"(?:_xl(?:fn|ws|pm|ll)\.)+", re.IGNORECASE)
"""What Excel puts before the names of functions, and of variables, that are younger than its file format."""

_YOUNG = frozenset({
    "ARRAYTOTEXT", "BYCOL", "BYROW", "CHOOSECOLS", "CHOOSEROWS", "CONCAT", "DROP", "EXPAND", "FILTER", "HSTACK",
    "IFNA", "IFS", "LAMBDA", "LET", "MAKEARRAY", "MAP", "MAXIFS", "MINIFS", "RANDARRAY", "REDUCE", "SCAN",
    "SEQUENCE", "SORT", "SORTBY", "SWITCH", "TAKE", "TEXTAFTER", "TEXTBEFORE", "TEXTJOIN", "TEXTSPLIT", "TOCOL",
    "TOROW", "UNIQUE", "VALUETOTEXT", "VSTACK", "WRAPCOLS", "WRAPROWS", "XLOOKUP", "XMATCH", "XOR",
})  # fmt: skip
"""Functions whose names a file has with `_xlfn.` before them."""

_IN_WORKSHEETS = frozenset({"FILTER", "SORT"})
"""Of these Excel writes `_xlfn._xlws.FILTER`."""

_OF_FILES = re.compile(r"_xl|\b(?:ANCHORARRAY|SINGLE)\(", re.IGNORECASE)
"""What a formula contains that is typed otherwise; nearly none does, and is left as it is."""


def typed_form(formula: str, namespace: str = "DS") -> str:
    """The formula as a user types it, from the one in a file (both without `=`).

    >>> typed_form('_xldudf_DS_SIGNAL(_xlfn.ANCHORARRAY(A1),"_xlfn.x")')
    'DS.SIGNAL(A1#,"_xlfn.x")'
    """
    if not may_call(formula, namespace) and not _OF_FILES.search(formula):
        return formula
    ours = re.compile(rf"_xldudf_{re.escape(namespace)}_(\w+)", re.IGNORECASE)
    written: list[str] = []
    closing: list[str] = []
    """What stands for the closing bracket of each open one."""
    for token in tokens(stored_form(formula, namespace)):
        text = token.text
        if token.kind in ("call", "name"):
            text = _PREFIX.sub("", text)
            text = ours.sub(lambda found: f"{namespace}.{found[1].upper()}", text) if token.kind == "call" else text
        if token.kind in ("call", "open"):
            # Excel's sign that a function may return one value only is left out: ours may exceed it.
            without = {"ANCHORARRAY(": "#", "SINGLE(": ""}.get(text.upper())
            closing.append(")" if without is None else without)
            text = text if without is None else ""
        elif token.kind == "close" and closing:
            text = closing.pop()
        written.append(text)
    return "".join(written)


def file_form(formula: str, namespace: str = "DS") -> str:
    """The formula as Excel stores it, from the one typed (both without `=`).

    >>> file_form('SUM(DS.SIGNAL(A1#, "A1#"))+XLOOKUP(1,B:B,C:C)')
    'SUM(_xldudf_DS_SIGNAL(_xlfn.ANCHORARRAY(A1), "A1#"))+_xlfn.XLOOKUP(1,B:B,C:C)'
    """
    read = tokens(formula)
    return stored_form("".join(_stored(read, place) for place in range(len(read))), namespace)


def _stored(read: Sequence[Token], place: int) -> str:
    """A token as files have it."""
    token, before = read[place], read[place - 1] if place else None
    following = read[place + 1] if place + 1 < len(read) else None
    match token.kind:
        case "call":
            return _prefixed(token.text)
        case "reference" if following is not None and following.text == "#":
            return f"_xlfn.ANCHORARRAY({token.text})"
        case "operator" if token.text == "#" and before is not None and before.kind == "reference":
            return ""
        case "name" if before is not None and before.text == "#" and token.text.upper() == "REF":
            return f"{token.text}!"  # the component shows `#REF` in place of a cell that is gone
        case _:
            return token.text


def _prefixed(call: str) -> str:
    name = _PREFIX.sub("", call)[:-1].upper()
    if name not in _YOUNG:
        return call
    return f"_xlfn.{'_xlws.' if name in _IN_WORKSHEETS else ''}{name}("
