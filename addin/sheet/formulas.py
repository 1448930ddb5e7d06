"""Formulas as a workbook file has them, `_xldudf_DS_SIGNAL(A1)`, and as users type them, `DS.SIGNAL(A1)`."""

from __future__ import annotations

import re
from collections.abc import Callable

from addin.formulas import stored_form

_TEXT_OR_NAME = re.compile(r'"(?:[^"]|"")*"|' + r"'(?:[^']|'')*'")
"""Text in quotes, and sheets' names in quotes."""

_PREFIX = re.compile(r"_xl(?:fn|ws|pm|ll)\.", re.IGNORECASE)
"""What Excel puts before the names of functions, and of variables, that are younger than its file format."""

_ANCHOR = re.compile(r"(?:_xlfn\.)?ANCHORARRAY\(([^()]*)\)", re.IGNORECASE)
_SINGLE = re.compile(r"(?:_xlfn\.)?SINGLE\(", re.IGNORECASE)
_SPILL = re.compile(r"((?:\x00\d+\x00!|[\w.]+!)?\$?[A-Z]{1,3}\$?[0-9]{1,7})#(?!\w)", re.IGNORECASE)

_NO_CELL = re.compile(r"#REF(?!!)", re.IGNORECASE)
"""What the component shows in place of a cell that is gone."""

_YOUNG = (
    "ARRAYTOTEXT|BYCOL|BYROW|CHOOSECOLS|CHOOSEROWS|CONCAT|DROP|EXPAND|FILTER|HSTACK|IFNA|IFS|LAMBDA|LET|MAKEARRAY|MAP|"
    "MAXIFS|MINIFS|RANDARRAY|REDUCE|SCAN|SEQUENCE|SORT|SORTBY|SWITCH|TAKE|TEXTAFTER|TEXTBEFORE|TEXTJOIN|TEXTSPLIT|"
    "TOCOL|TOROW|UNIQUE|VALUETOTEXT|VSTACK|WRAPCOLS|WRAPROWS|XLOOKUP|XMATCH|XOR"
)
"""Functions whose names a file has with `_xlfn.` before them."""

_IN_WORKSHEETS = frozenset({"FILTER", "SORT"})
"""Of these Excel writes `_xlfn._xlws.FILTER`."""

_YOUNG_CALL = re.compile(rf"(?<![\w.])(?:_xlfn\.)?({_YOUNG})(?=\()", re.IGNORECASE)


def typed_form(formula: str, namespace: str = "DS") -> str:
    """The formula as a user types it, from the one in a file (both without `=`).

    >>> typed_form('_xldudf_DS_SIGNAL(_xlfn.ANCHORARRAY(A1),"_xlfn.x")')
    'DS.SIGNAL(A1#,"_xlfn.x")'
    """
    ours = re.compile(rf"(?:_xll\.)?_xldudf_{re.escape(namespace)}_(\w+)(?=\s*\()", re.IGNORECASE)

    def typed(text: str) -> str:
        text = _without_single(_ANCHOR.sub(r"\1#", text))
        return _PREFIX.sub("", ours.sub(lambda found: f"{namespace}.{found[1].upper()}", text))

    return _outside_quotes(stored_form(formula, namespace), typed)


def file_form(formula: str, namespace: str = "DS") -> str:
    """The formula as Excel stores it, from the one typed (both without `=`).

    >>> file_form('SUM(DS.SIGNAL(A1#, "A1#"))+XLOOKUP(1,B:B,C:C)')
    'SUM(_xldudf_DS_SIGNAL(_xlfn.ANCHORARRAY(A1), "A1#"))+_xlfn.XLOOKUP(1,B:B,C:C)'
    """

    def stored(text: str) -> str:
        text = _SPILL.sub(r"_xlfn.ANCHORARRAY(\1)", _NO_CELL.sub("#REF!", text))
        return _YOUNG_CALL.sub(_prefixed, text)

    return stored_form(_outside_quotes(formula, stored), namespace)


def _prefixed(call: re.Match[str]) -> str:
    name = call[1].upper()
    return f"_xlfn.{'_xlws.' if name in _IN_WORKSHEETS else ''}{name}"


def _without_single(text: str) -> str:
    """The text without Excel's sign that a function may return one value only, which ours may exceed."""
    while found := _SINGLE.search(text):
        depth, end = 1, found.end()
        while end < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        inner = text[found.end() : end - (depth == 0)]
        text = f"{text[: found.start()]}{inner}{text[end:]}"
    return text


def _outside_quotes(formula: str, change: Callable[[str], str]) -> str:
    """The formula with everything changed but what stands in quotes, for which `change` sees a mark."""
    quoted: list[str] = []

    def hide(found: re.Match[str]) -> str:
        quoted.append(found[0])
        return f"\x00{len(quoted) - 1}\x00"

    changed = change(_TEXT_OR_NAME.sub(hide, formula))
    return re.sub(r"\x00(\d+)\x00", lambda mark: quoted[int(mark[1])], changed)
