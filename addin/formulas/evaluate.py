"""Formulas worked out without any spreadsheet program: text in, answers out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import orjson

from addin.errors import AddinError
from addin.formulas.parser import Area, Named, Spill, Unworkable, parse
from addin.protocol.batch import Batches


class FormulaError(AddinError, ValueError):
    """The text is no formula that can be worked out by itself; the message says why."""


def call_text(formula: str, namespace: str = "DS") -> bytes:
    """The call in a formula, as batches take it; raises `FormulaError`.

    >>> call_text('=DS.SIGNAL("us-cpi", , -1)')
    b'["SIGNAL","us-cpi",null,-1.0]'
    """
    try:
        parsed = parse(formula, namespace)
    except Unworkable as error:
        raise FormulaError(f"{formula[:80]}: {error}; expected one call such as ={namespace}.SIGNAL(…)") from None
    for argument in parsed.args:
        if isinstance(argument, Area | Spill | Named):
            shown = argument.name if isinstance(argument, Named) else "a reference to cells"
            raise FormulaError(f"{formula[:80]}: {shown} means nothing outside of a workbook; give the value itself")
    return msgspec.json.encode([parsed.function_id, *parsed.args])


async def evaluate(batches: Batches, formulas: Sequence[str], namespace: str = "DS") -> list[dict[str, Any]]:
    """The answers to `formulas` in their order, in the form of the backend's protocol; raises `FormulaError`."""
    answers = await batches.answer([call_text(formula, namespace) for formula in formulas])
    found: list[dict[str, Any]] = orjson.loads(answers.text)
    return found
