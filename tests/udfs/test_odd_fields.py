"""A field of one record that is nothing the contract names harms no neighbour: no formula fails with it."""

import copy
from typing import Any

import pytest

from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer
from udfs.cells import cells_of, in_python
from udfs.engine.session import Call, Session

ODD: tuple[Any, ...] = (True, 10**30, [], {}, [{}], {"slug": []})

LATEST = {"observed_at": "2026-08-01T00:00:00Z", "value": 1.0}
SIGNAL = {
    "slug": "a.b", "shortcode": "AB", "name": "A", "category": "macro", "signal_type": "x", "source": "s",
    "description": "d", "unit": "u", "is_premium": False, "mine": 1,
}  # fmt: skip
INDEX = {
    "slug": "a.i", "name": "I", "summary": "s", "category": "c", "baseline_window_months": 12, "scale": "x",
    "components": [{"slug": "a.b", "weight": 0.5}, {"signal_slug": "c.d", "weight": 0.5}], "latest": LATEST,
}  # fmt: skip
CURRENT = {
    "slug": "a.c", "name": "C", "family": "f", "phrase": "p", "momentum_score": 1.0, "belief_score": 1.0,
    "maturity_stage": "m",
}  # fmt: skip
POST = {
    "slug": "p", "url": "https://x.example/p", "title": "A", "subtitle": "s", "body_md": "a.b",
    "published_at": "2026-08-01T00:00:00Z", "story_type": "brief", "view_count": 1,
    "byline": {"handle": "h", "display_name": "H"},
    "citations": [{"wire_item_id": "w", "citation_number": 1, "quoted_text": None}],
}  # fmt: skip
ITEM = {
    "id": "w", "source": "A", "kind": "news", "headline": "h", "summary": "s", "primary_url": "https://x.example",
    "image_url": None, "published_at": "2026-08-01T00:00:00Z", "tickers": ["CPI"], "signal_slugs": ["a.b"],
    "current_slugs": ["a.c"], "beat": "macro", "importance_score": 50, "payload": {"a": 1},
}  # fmt: skip
LISTS = {"signals": SIGNAL, "indices": INDEX, "currents": CURRENT, "codex": POST, "wire": ITEM}

CALLS = [
    Call(name, tuple(args))
    for name, *args in (
        ["SIGNAL", "c.d"], ["SIGNAL", "AB2", "name"], ["SIGNALS"], ["SIGNALS", "a"], ["SIGNALS", None, "macro"],
        ["INDEX", "c.i"], ["INDEX", "c.i", "components"], ["INDEX", "a.i", "components"],
        ["INDEX", "a.i", "weight:a.b"],
        ["INDEX", "c.i", "weight:a.b"], ["INDICES"], ["INDICES", "*"], ["CURRENTS"], ["CURRENTS", "f"],
        ["CURRENT", "c.c"], ["CURRENTS", None, None, "*"], ["CODEX"], ["CODEX", "brief", "h", "2026-07-01"],
        ["CODEX_POST", "q"], ["CODEX_POST", "p", "citations"], ["CODEX_POST", "q", "citations"],
        ["CODEX", None, None, None, 20, None, "*"], ["WIRE"], ["WIRE", "CPI", "news", 10, "2026-07-01"],
        ["WIRE", None, None, None, None, 20, None, None, "*"], ["WIRE", "CPI, WTI"], ["EXPLAIN", "c.d"],
        ["EXPLAIN", "c.i"], ["EXPLAIN", "a.i"], ["EXPLAIN", "c.c"],
        ["WIRE", None, None, None, None, 20, None, None, None, "signal=c.d"],
        ["WIRE", None, None, None, None, 20, None, None, None, "text=h; current=a.c"],
    )
]  # fmt: skip


def of(slug: str, kind: dict[str, Any]) -> dict[str, Any]:
    """The same record under another name."""
    named = {"slug": slug} if "slug" in kind else {"id": slug}
    if "shortcode" in kind:
        named["shortcode"] = "AB2"
    return {**copy.deepcopy(kind), **named}


async def shown(lists: dict[str, list[Any]], calls: list[Call]) -> list[Any]:
    """What the calls show of a service with these lists."""

    def say(request):
        what, *rest = request.url.path.split("/")[2:]
        if not rest:
            records = lists[what]
            return answer(records, pagination={"limit": 500, "offset": 0, "total": len(records)})
        return answer({**of(rest[0], SIGNAL), "latest": LATEST, "history": [LATEST]} if len(rest) == 1 else [LATEST])

    clock = Clock()
    async with Scripted(say).client(clock) as client:
        outcomes = await Session(client, clock=clock).answer(calls)
        await Session(client, clock=clock).cost(calls)
    for outcome in outcomes:
        cells_of(outcome.result)
        in_python(outcome.result)
    return [outcome.result for outcome in outcomes]


def nested(record: dict[str, Any]) -> list[tuple[str, Any]]:
    """The record with one field after another, also of the objects in it, odd in every way."""
    found = []
    for field, value in record.items():
        found += [(f"{field}={odd!r}", {**record, field: odd}) for odd in ODD]
        inner = value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else value
        for key in inner if isinstance(inner, dict) else ():
            for odd in ODD:
                told = {**inner, key: odd}
                found.append((f"{field}.{key}={odd!r}", {**record, field: [told] if isinstance(value, list) else told}))
    return found


FUNCTIONS = {
    "signals": {"SIGNAL", "SIGNALS"},
    "indices": {"INDEX", "INDICES", "EXPLAIN"},
    "currents": {"CURRENT", "CURRENTS", "EXPLAIN"},
    "codex": {"CODEX", "CODEX_POST", "EXPLAIN"},
    "wire": {"WIRE", "CODEX_POST", "EXPLAIN"},
}


@pytest.mark.parametrize("what", LISTS)
async def test_no_formula_fails_over_an_odd_field_of_one_record(what):
    lists = {
        name: [of({"signals": "c.d", "indices": "c.i", "currents": "c.c", "codex": "q", "wire": "v"}[name], kind)]
        for name, kind in LISTS.items()
    }
    calls = [call for call in CALLS if call.function_id in FUNCTIONS[what]]
    for told, record in nested(LISTS[what]):
        beside = {name: [*records, *([record] if name == what else [])] for name, records in lists.items()}
        for call, result in zip(calls, await shown(beside, calls), strict=True):
            message = getattr(result, "message", "")
            assert "please report" not in str(message), (told, call, message)
