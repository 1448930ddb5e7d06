"""What to change in a formula that cannot be read: the same advice in a terminal, pane, sheet and Calc."""

from __future__ import annotations

import re
from collections.abc import Mapping

from addin.formulas.calls import argument_counts
from addin.formulas.grammar import foreign_reference
from udfs.engine import Udf
from udfs.records import nearest

_TEXT = re.compile(r'"(?:[^"]|"")*"')
_ARRAY = re.compile(r"\{[^{}]*\}")
_CALL = re.compile(r"([^\W\d][\w.]*)\s*\(")
_CURLED = re.compile("[“”„«»]")
_FULL_WIDTH = re.compile("[（），；＂＇＝｛｝]")
_OTHER_QUOTES = re.compile(r"(?<=[(,;])\s*['`´‘’]([^'`´‘’]*)['`´‘’]\s*(?=[,;)])")
_BARE_TEXT = re.compile(r"(?<=[(,;])\s*([^\W\d]\w*(?:[.-]\w+)+)\s*(?=[,;)])")
_DECIMAL_COMMA = re.compile(r"\d,\d+\s*;")


def advice(formula: str, namespace: str, function_ids: frozenset[str], *, alone: bool = True) -> str | None:
    """Return what to change in the formula, in one sentence, or None where only that it cannot be read is known.

    `alone` is whether only calls of ours can be read, and not, as in a sheet, functions of the program's own.

    >>> advice('=SIGNAL("us-cpi")', "DS", frozenset({"SIGNAL"}))
    'SIGNAL lacks the prefix DS: =DS.SIGNAL(…)'
    """
    text = formula.strip().removeprefix("=").strip()
    if not text:
        return f"the formula is empty; expected one call such as ={namespace}.SIGNAL(…)"
    if _CURLED.search(text):
        return 'text stands in straight double quotes: "us-cpi"'
    bare = _TEXT.sub('""', text)  # what is quoted may hold anything
    if found := _FULL_WIDTH.search(bare):
        return f"{found[0]} is a full-width character; formulas are written with {chr(ord(found[0]) - 0xFEE0)}"
    return (
        _about_calls(bare, namespace, function_ids, alone) or _about_punctuation(bare, alone) or foreign_reference(text)
    )


def unknown_function(formula: str, namespace: str, function_ids: frozenset[str]) -> str | None:
    """Return what to call in place of the first function with our prefix that there is not; None where all exist.

    >>> unknown_function('=DS.SIGNALS_HISTORY("us-cpi")', "DS", frozenset({"SIGNAL", "SIGNAL_HISTORY"}))
    'there is no function DS.SIGNALS_HISTORY; did you mean DS.SIGNAL_HISTORY?'
    """
    for name in _CALL.findall(_TEXT.sub('""', formula)):
        prefix, _, function_id = name.upper().partition(".")
        if prefix != namespace.upper() or function_id in function_ids:
            continue
        guess = nearest(function_id, sorted(function_ids))
        advice = f"did you mean {namespace}.{guess}?" if guess else f"there are {', '.join(sorted(function_ids))}"
        return f"there is no function {namespace}.{function_id}; {advice}"
    return None


def wrong_count(formula: str, namespace: str, functions: Mapping[str, Udf]) -> str | None:
    """Return which argument the first call of ours with too few or too many lacks, or how many it may have.

    >>> from udfs import REGISTRY
    >>> wrong_count('=1+DS.SIGNAL("us-cpi","value",,,1)', "DS", REGISTRY)
    'SIGNAL takes at most 4 arguments, not 5'
    """
    counts = argument_counts(formula, namespace)
    wrong = (functions[called].miscounted(count) for called, count in counts if called in functions)
    return next(filter(None, wrong), None)


def _about_calls(bare: str, namespace: str, function_ids: frozenset[str], alone: bool) -> str | None:
    """Return what is wrong with the functions it calls, or with there being none."""
    called = _CALL.findall(bare)
    if not called and not alone:
        return None
    if not called:
        if re.fullmatch(r"[\w.-]+", bare) and not re.fullmatch(r"[\d.]+", bare):
            return f'this is no formula; expected a call such as ={namespace}.SIGNAL("{bare}")'
        return f"it calls no function; expected one call such as ={namespace}.SIGNAL(…)"
    ours = f"{namespace}.".casefold(), f"_xldudf_{namespace}_".casefold()
    if any(name.casefold().startswith(ours) for name in called):
        return unknown_function(bare, namespace, function_ids)
    for name in called:
        function_id = _without_prefix(name, function_ids)
        if function_id is None:
            continue
        what = "lacks the prefix" if name.upper() == function_id else "has another prefix than"
        return f"{name.upper()} {what} {namespace}: ={namespace}.{function_id}(…)"
    if not alone:
        return None
    return f"{called[0]} is no function of ours; expected one call such as ={namespace}.SIGNAL(…)"


def _about_punctuation(bare: str, alone: bool) -> str | None:
    """Return what is wrong with quotes, separators and brackets; `bare` holds no text in quotes but empty ones."""
    outside = _ARRAY.sub("{}", bare)
    if '"' in bare.replace('""', ""):
        return 'a text has no closing quote (")'
    if found := _OTHER_QUOTES.search(outside):
        return f'text stands in double quotes: "{found[1][:40]}"'
    if found := _BARE_TEXT.search(outside):
        shell = "; a shell removes them unless it is told to keep them" if alone else ""
        return f'text stands in double quotes: "{found[1][:40]}"{shell}'
    if ";" in outside:
        decimals = ", and numbers have a decimal point" if _DECIMAL_COMMA.search(outside) else ""
        return f"arguments are separated by commas, not by semicolons{decimals}"
    opened, closed = outside.count("("), outside.count(")")
    if opened != closed:
        return "a closing bracket is missing" if opened > closed else "there is a closing bracket too many"
    return None


def _without_prefix(name: str, function_ids: frozenset[str]) -> str | None:
    """The function of ours that the name means, whatever stands before it; the longest of several."""
    upper = name.upper()
    found = [each for each in function_ids if upper == each or upper.endswith((f".{each}", f"_{each}"))]
    return max(found, key=len, default=None)
