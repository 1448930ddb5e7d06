"""Calls of ours inside a LAMBDA, made once for each value that `MAP`, `BYROW`, `REDUCE` … hand to it.

An engine says what is handed: the formula is worked out with the arguments of a call, as a text, in place of its
LAMBDA's result. In the formula itself the same text finds the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, TypeAlias

from addin.workbook.calculation.reading.shapes import Piece

Pieces: TypeAlias = "Sequence[Piece]"

EACH = frozenset({"MAP", "BYROW", "BYCOL", "MAKEARRAY", "SCAN", "REDUCE"})
"""Functions that hand values to a LAMBDA."""
ACCUMULATING = frozenset({"SCAN", "REDUCE"})
"""Those that also hand it what it came to before."""

UNKNOWN = "LAMBDA(ds_key,#N/A)"
"""What stands for the answers before any is known."""
MAX_ANSWERS = 250
"""Calls of one place in a formula; `CHOOSE` takes 254 values."""

MAX_IN_TURN = 20
"""Calls of one place that are made one after the other: each works out anew all that `SCAN` or `REDUCE` did before."""

_CELLS, _ARGUMENTS, _CALLS = "\ue001", "\ue002", "\ue003"
"""Characters that no text has: they belong to nobody's alphabet."""
_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")
_TOLD = (
    f',IFERROR(ROWS(ds_v),1)&"|"&TEXTJOIN("{_CELLS}",FALSE,IF(ISERROR(ds_v),"e"&ERROR.TYPE(ds_v),IF(ISTEXT(ds_v),"t"&ds_v,'
    'IF(ISLOGICAL(ds_v),"b"&ds_v,IF(ISBLANK(ds_v),"z","n"&ds_v))))))'
)


def key_of(arguments: Sequence[Pieces]) -> list[Piece]:
    """The formula of the text that tells what a call is made with."""
    found: list[Piece] = ['"="']
    for pieces in arguments:
        found += [f'&"{_ARGUMENTS}"', *(("&LET(ds_v,", *pieces, _TOLD) if pieces else ())]
    return found


def only_where(guard: Pieces, wanted: int, key: Pieces) -> list[Piece]:
    """The keys of calls that stand in a branch."""
    return ["IF(IFERROR((", *guard, f")={wanted},FALSE),", *key, ',"")']


def keys_of_all(
    name: str, arguments: Sequence[Pieces], names: Sequence[str], key: Pieces, *, accumulates: bool
) -> list[Piece]:
    """The keys of all calls that a function makes by its LAMBDA, whose parameters have these `names`."""
    *given, whole = arguments
    if not accumulates:
        if name in ACCUMULATING:
            name, given, names = "MAP", given[1:], names[1:]
        inner: list[Piece] = ["LAMBDA(", ",".join(names), ",", *key, ")"]
        return [f"{name}(", *(piece for each in given for piece in (*each, ",")), *inner, ")"]
    values: list[Piece] = ["TOCOL(", *given[1], ")"]
    before: list[Piece] = ["REDUCE(", *given[0], ",TAKE(", *values, ",ds_n-1),", *whole, ")"]
    step = [names[1], ",INDEX(", *values, f",ds_n),{names[0]},IF(ds_n=1,", *given[0], ",", *before, "),"]
    return ["MAP(SEQUENCE(ROWS(", *values, ")),LAMBDA(ds_n,LET(", *step, *key, ")))"]


def as_one_text(keys: Pieces) -> list[Piece]:
    """The keys of an inner function as one text, which an outer one can hand on."""
    return [f'TEXTJOIN("{_CALLS}",TRUE,', *keys, ")"]


def calls_told(rows: Sequence[Sequence[Any]]) -> tuple[dict[str, list[Any]], bool]:
    """The arguments of the calls that are made, by their keys, in order; and whether the engine could tell them all.

    >>> calls_told([["=\ue0021|tus-cpi\ue0021|n2"], [""]])
    ({'=\ue0021|tus-cpi\ue0021|n2': ['us-cpi', 2.0]}, True)
    """
    values = [value for row in rows for value in row]
    texts = list(takewhile(lambda value: isinstance(value, str), values))
    keys = dict.fromkeys(key for text in texts for key in text.split(_CALLS) if key)
    return {key: [_argument(each) for each in key.split(_ARGUMENTS)[1:]] for key in keys}, len(texts) == len(values)


def all_answered(
    discover: Callable[[], Sequence[Sequence[Any]] | None],
    answer_of: Callable[[list[Any]], Any],
    put: Callable[[Mapping[str, Any]], None],
    *,
    accumulates: bool,
) -> bool:
    """Return whether every call that a LAMBDA makes has an answer, which `put` puts where the formula finds it.

    `discover` gives the rows of the calls' keys, `answer_of` what a call with these arguments was answered, or None.
    Where answers decide on the calls that follow, one is looked at after the other.
    """
    known: dict[str, Any] = {}
    while (rows := discover()) is not None:
        told, is_whole = calls_told(rows)
        new = [key for key in told if key not in known]
        if is_whole and not new:
            return True
        is_too_much = len(known) >= MAX_IN_TURN if accumulates else len(told) > MAX_ANSWERS
        if is_too_much or not (is_whole or (accumulates and new)):
            return False
        found = {key: answer_of(told[key]) for key in (new[:1] if accumulates else new)}
        if None in found.values():
            return False
        known |= found
        put(known)
    return False  # nobody could work it out


def _argument(text: str) -> Any:
    if not text:
        return None
    height, _, cells = text.partition("|")
    values = [_value(each) for each in cells.split(_CELLS)]
    width = len(values) // int(height)
    return values[0] if len(values) == 1 else [values[at : at + width] for at in range(0, len(values), width)]


def _value(text: str) -> Any:
    kind, told = text[:1], text[1:]
    match kind:
        case "t":
            return told
        case "n":
            return float(told)
        case "b":
            return told == "TRUE"
        case "e":
            return {"error": _ERRORS[int(told) - 1] if int(told) <= len(_ERRORS) else "#VALUE!"}
        case _:
            return None


def chosen(keys: str, answers: Sequence[str]) -> str:
    """Return what finds the answer of a call by its key, where its `keys` and `answers` stand in these areas."""
    return f"LAMBDA(ds_key,CHOOSE(XMATCH(TRUE,EXACT(ds_key,{keys}),0),{','.join(answers)}))"
