"""Formulas for the reference, computed from the made-up data of a fixed day.

Outputs in the pages are never written by hand: a result that changes shows up in the diff of its page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from addin.formulas import FormulaError, call_text
from addin.workbook.template.build import example_session
from udfs import REGISTRY, Call, Session
from udfs.cells import Grid, Scalar, cells_of
from udfs.engine.registry import Udf

__all__ = ["EXAMPLES", "Examples", "Shown", "worked_out"]

Shown = Scalar | Grid
"""What a formula shows."""


@dataclass(frozen=True, slots=True)
class Examples:
    """The formulas on one function's page: some return a value, some show an error."""

    values: Sequence[str]
    errors: Sequence[str] = ()


CHOSEN: Mapping[str, Examples] = {
    "SIGNAL": Examples(
        (
            '=DS.SIGNAL("us-cpi")',
            '=DS.SIGNAL("WTI", "observed_at")',
            '=DS.SIGNAL("eia.wti.spot", "value", "2026-06-30")',
            '=DS.SIGNAL({"us-10y"; "sp-500"; "btc-usd"}, {"name", "value", "pct_change"})',
        ),
        (
            '=DS.SIGNAL("us-cpii")',
            '=DS.SIGNAL("us-cpi", "price")',
            '=DS.SIGNAL("us-cpi", "value", "yesterday")',
            '=DS.SIGNAL("us-cpi", "value", "1850-01-01")',
            '=DS.SIGNAL("us-cpi", "value", , "decimals=2")',
        ),
    ),
    "SIGNAL_HISTORY": Examples(
        (
            '=DS.SIGNAL_HISTORY("us-cpi", "N6")',
            '=DS.SIGNAL_HISTORY("eia.wti.spot, eia.henry-hub", "-6M", , "freq=M; agg=mean")',
            '=DS.SIGNAL_HISTORY("us-cpi", "-1Y", , "freq=Q; transform=yoy")',
            '=DS.SIGNAL_HISTORY("sp-500", "YTD", , "transform=drawdown; order=desc; limit=5; header=name")',
        ),
        (
            '=DS.SIGNAL_HISTORY("us-cpi", "5 years")',
            '=DS.SIGNAL_HISTORY("us-cpi", "-1Y", , "freq=weekly")',
            '=DS.SIGNAL_HISTORY("us-cpi", "-1Y", , "transform=volatility(20)")',
            '=DS.SIGNAL_HISTORY("us-cpi", "2026-06-01", "2026-01-01")',
        ),
    ),
    "INDEX": Examples(
        (
            '=DS.INDEX("risk-dial")',
            '=DS.INDEX("risk-dial", "scale")',
            '=DS.INDEX("risk-dial", "components")',
            '=DS.INDEX("risk-dial", "weight:sp-500")',
        ),
        ('=DS.INDEX("risk-dail")', '=DS.INDEX("risk-dial", "weight:us-cpi")', '=DS.INDEX("risk-dial", "colour")'),
    ),
    "CURRENT": Examples(
        (
            '=DS.CURRENT("energy-repricing")',
            '=DS.CURRENT("energy-repricing", "maturity_stage")',
            '=DS.CURRENT("energy-repricing", "*")',
        ),
        ('=DS.CURRENT("energy")', '=DS.CURRENT("energy-repricing", "score")'),
    ),
    "WIRE": Examples(
        (
            '=DS.WIRE(, , 70, "-14D", 5)',
            '=DS.WIRE("CPI", "data_release", , "-3M", 3, , , "published_at, headline, source")',
            '=DS.WIRE(, , , , 3, , , "published_at, headline", "signal=us-cpi")',
        ),
        ('=DS.WIRE(, "tweet")', "=DS.WIRE(, , 200)", '=DS.WIRE(, , , , , , , , "author=x")'),
    ),
    "SIGNALS": Examples(
        ('=DS.SIGNALS("oil price")', '=DS.SIGNALS("usd", , "slug, name, unit", 3)'),
        ('=DS.SIGNALS("inflatoin")', '=DS.SIGNALS(, "metals")'),
    ),
    "INDICES": Examples(
        ("=DS.INDICES()", '=DS.INDICES("name, components")'),
        ('=DS.INDICES("name, reading")',),
    ),
    "CURRENTS": Examples(
        ("=DS.CURRENTS()", '=DS.CURRENTS(, "name, belief_score", "sort=belief_score; top=3")'),
        ('=DS.CURRENTS("macros")', '=DS.CURRENTS(, , "top=0")'),
    ),
    "CODEX": Examples(
        ("=DS.CODEX(, , , 4)", '=DS.CODEX("report", , "-3M", , , "published_at, title, display_name")'),
        ('=DS.CODEX("essay")', "=DS.CODEX(, , , 500)"),
    ),
    "CODEX_POST": Examples(
        (
            '=DS.CODEX_POST("what-moved-12", "title")',
            '=DS.CODEX_POST("what-moved-12", "published_at")',
            '=DS.CODEX_POST("what-moved-12", "citations")',
        ),
        ('=DS.CODEX_POST("what-moved-99")',),
    ),
    "QUOTA": Examples(
        ("=DS.QUOTA()", '=DS.QUOTA({"tier", "cap", "remaining", "used_here"})'),
        ('=DS.QUOTA("left")',),
    ),
    "STATUS": Examples(('=DS.STATUS("us-cpi")',)),
    "EXPLAIN": Examples(('=DS.EXPLAIN("us-cpi")', '=DS.EXPLAIN("risk-dial")'), ('=DS.EXPLAIN("us-cpii")',)),
    "SPARK": Examples(
        ('=DS.SPARK("us-cpi", "-5Y", 20)', '=DS.SPARK({"eia.wti.spot"; "cboe.vix"}, "-6M", 30)'),
        ('=DS.SPARK("us-cpi", "-5Y", 1)',),
    ),
    "REVISIONS": Examples(
        (
            '=DS.REVISIONS("us-cpi")',
            '=DS.REVISIONS("us-cpi", "2026-06-01")',
            '=DS.SIGNAL("us-cpi", "value", , "asof=2026-07-31")',
        ),
        ('=DS.REVISIONS("no.such")', '=DS.SIGNAL("us-cpi", "value", , "asof=2026-05-01")'),
    ),
}
"""Formulas that show a function at work better than those in its own declaration, and its errors."""


def _shown_alone(function: Udf) -> Examples:
    """The examples in a function's declaration that need no cells."""
    return Examples([formula for formula in function.examples if _stands_alone(formula)])


def _stands_alone(formula: str) -> bool:
    try:
        call_text(formula)
    except FormulaError:
        return False
    return True


EXAMPLES: Mapping[str, Examples] = {
    function.id: CHOSEN.get(function.id) or _shown_alone(function) for function in REGISTRY.values()
}
"""The formulas by function, in the order of the reference."""


async def worked_out(examples: Mapping[str, Examples] = EXAMPLES) -> dict[str, Shown]:
    """What every formula shows, computed one after the other in one session, with the catalogue loaded first."""
    formulas = [formula for each in examples.values() for formula in (*each.values, *each.errors)]
    async with example_session() as session:
        await session.value("SIGNALS", [])
        return {formula: await _shown(session, formula) for formula in formulas}


async def _shown(session: Session, formula: str) -> Shown:
    function_id, *arguments = orjson.loads(call_text(formula))
    (outcome,) = await session.answer([Call(function_id, arguments)])
    return cells_of(outcome.result)
