"""Values as a sheet's XML keeps them: type marks, numbers, texts with their escapes."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Any

from addin.workbook.ooxml.errors import damaged
from addin.workbook.ooxml.positions import Spot, address
from udfs.cells import Scalar, serial
from udfs.errors import CellError, ErrorCode

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

CALCULATION_ENGINE = 191029
"""The version of Excel's calculation engine, that of Microsoft 365, by which a book of ours says it was calculated."""
ERROR_CODES = frozenset(
    ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#SPILL!", "#CALC!", "#GETTING_DATA")
)
_T, _PHONETIC = f"{{{MAIN}}}t", f"{{{MAIN}}}rPh"
_UNSAFE_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ESCAPED_XML = re.compile(r"_x([0-9A-Fa-f]{4})_")


def text_of(item: Any) -> str:
    """The text of a rich string, without its phonetic hints."""
    return "".join(run.text or "" for run in item.iter(_T) if run.getparent().tag != _PHONETIC)


def loaded(kind: str, text: str, strings: Any, part: str, spot: Spot) -> Scalar:
    """The value of a cell with the type mark `kind`; raises `WorkbookError` for a shared string that is not there."""
    match kind:
        case "n":
            # Some tools leave the type out for text as well.
            number = _number(text)
            return unescaped(text) if number is None else number
        case "s":
            if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) >= len(strings):
                raise damaged(
                    f"{part}, {address(spot)}",
                    f"a cell shows the shared string {text[:60]!r}, which is not in the book",
                )
            return unescaped(strings[int(text)])
        case "d":
            return day_of(text)
        case "b":
            return text in ("1", "true")
        case "e":
            return CellError(ErrorCode.VALUE if text == ErrorCode.VALUE else ErrorCode.NA, text)
        case _:
            return unescaped(text)


def day_of(text: str) -> float | None:
    """The serial number of a day, or a moment, that a file holds as ISO text; None for what is none.

    >>> day_of("2020-01-01"), day_of("2020-01-01T12:00:00Z"), day_of("2020-13-01")
    (43831.0, 43831.5, None)
    """
    try:
        return serial(datetime.fromisoformat(text.removesuffix("Z")))
    except ValueError:
        return None


def is_result(kind: str, text: str, *, has_placeholders: bool) -> bool:
    """Return whether what the file keeps for a formula is a result of it, a blank one included.

    A blank result is an empty text; some tools write an empty value without a type, which is none. Others, which do not
    calculate, write a `0` for every formula and have it worked out when the book is opened. A zero of ours is `0.0`.

    >>> is_result("n", "0", has_placeholders=False), is_result("n", "0", has_placeholders=True)
    (True, False)
    """
    if has_placeholders and kind == "n" and text == "0":
        return False
    return bool(text) or kind == "str"


def stored(value: Scalar) -> tuple[str | None, str | None]:
    """The type mark and text under which the file keeps a value."""
    if type(value) is float:  # most are
        return None, repr(value)
    match value:
        case None:
            return None, None
        case bool():
            return "b", str(int(value))
        case int() | float():
            return None, repr(value)
        case str():
            return "str", _UNSAFE_XML.sub(_escaped, value)
        case CellError():
            return "e", _code(value)
        case _:
            return None, repr(serial(value))


def same_value(old: Scalar, new: Scalar) -> bool:
    """Return whether a cell that holds `old` would hold the same after `new` is written into it."""
    if type(new) is float:  # most are
        return isinstance(old, float) and old == new
    match new:
        case None | "":
            return old in (None, "")
        case bool() | str():
            return type(old) is type(new) and old == new
        case CellError():
            return isinstance(old, CellError) and old.message == _code(new)
        case int() | float():
            return isinstance(old, float) and old == new
        case _:
            return isinstance(old, float) and old == serial(new)


def unescaped(text: str) -> str:
    """The text with its `_x000A_` forms replaced by the characters."""
    if "_x" not in text:
        return text
    plain = _ESCAPED_XML.sub(lambda match: chr(int(match[1], 16)), text)
    # A character beyond the first 65,536 is escaped in two halves; a half alone is no text.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _code(error: CellError) -> str:
    """The code that a cell shows; an error that was read from a file has it as its message."""
    return error.message if error.message in ERROR_CODES else str(error.code)


def _escaped(match: re.Match[str]) -> str:
    return f"_x{ord(match[0]):04X}_"


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None
