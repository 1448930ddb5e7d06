"""A preview of many new signals: few of them stand for all, and it says the same as if all were run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dataservice.client import AsyncClient, Refresh
from tests.udfs.parts.asking import session_on
from udfs.engine.costs.estimator import spread
from udfs.engine.costs.snapshot import Snapshot
from udfs.engine.costs.strangers import LEAST, standing_for_all
from udfs.engine.session import Call, Session

SHAPES = [
    Call("SIGNAL", ["", None]),
    Call("SIGNAL", ["", "name"]),
    Call("SIGNAL", ["", "pct_change"]),
    Call("signal", ["", "value", "2019-06-30"]),
    Call("SIGNAL", ["", "rhythm"]),
    Call("SIGNAL_HISTORY", ["", "-5Y"]),
    Call("SIGNAL_HISTORY", ["", "MAX"]),
    Call("SIGNAL_HISTORY", ["", "N5", None, None]),
    Call("SPARK", [""]),
    Call("SPARK", ["", "-10Y", 20]),
]
NAMES = [*(f"new-{n}" for n in range(24)), *(f"new.dotted-{n}" for n in range(8)), "us-cpi", "wb.gold", "sp-500"]
"""New to the service, to the cache, or known."""
OTHERS = [
    Call("SIGNAL_HISTORY", ["new-1, new-2", "-1Y"]),
    Call("SIGNAL", ["new-3", "value", None, "asof=2026-06-30"]),
    Call("SIGNAL", [[["new-4"], ["new-5"], ["us-cpi"]], "value"]),
    Call("SIGNAL", ["US-CPI"]),
    Call("SIGNAL", ["GOLD"]),
    Call("SIGNALS", ["gold"]),
    Call("EXPLAIN", ["new-6"]),
    Call("REVISIONS", ["new-7"]),
    Call("SIGNAL", ["not a name"]),
    Call("SIGNAL_HISTORY", ["sp-500", "-1Y", None, "freq=M"]),
    Call("INDICES", []),
    Call("QUOTA", []),
]


def about(slug: str, shapes: Sequence[Call]) -> list[Call]:
    return [Call(shape.function_id, [slug, *shape.args[1:]]) for shape in shapes]


async def both(session: Session, calls: Sequence[Call], after: Refresh | None = None):
    """The cost by few signals that stand for all, that of all calls, and how many signals were left out."""
    now = session.now()
    few = await session._cost(calls, Snapshot(session.client, after, now))
    every = spread(await session._guessed(calls, Snapshot(session.client, after, now)))
    standing = await standing_for_all(calls, Snapshot(session.client, after, now))
    return few, every, standing.left_out


books = st.tuples(
    st.lists(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=4, unique_by=id), min_size=1, max_size=3),
    st.lists(st.sampled_from(OTHERS), max_size=4),
    st.sampled_from(["nothing", "the catalogue", "some signals", "both"]),
    st.sampled_from([None, Refresh.STALE, Refresh.FORCE]),
)


@given(book=books)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_preview_says_the_same_as_if_every_signal_was_run(service, book):
    kinds, others, known, after = book
    calls = [call for at, name in enumerate(NAMES) for call in about(name, kinds[at % len(kinds)])] * 2 + others

    async def previews():
        async with AsyncClient(service.url, service.key) as client:
            session = Session(client)
            if known in ("the catalogue", "both"):
                await client.signals()
            if known in ("some signals", "both"):
                await session.answer([*about("us-cpi", SHAPES), *about("wb.gold", SHAPES[:1])])
            return await both(session, calls, after)

    few, every, _ = asyncio.run(previews())
    assert (few.at_least, few.at_most, few.likely) == (every.at_least, every.at_most, every.likely)


async def test_three_of_a_hundred_new_signals_stand_for_the_others(service):
    calls = [call for n in range(100) for call in about(f"new-{n}", SHAPES[:3])]
    async with AsyncClient(service.url, service.key) as client:
        few, every, left_out = await both(Session(client), calls)
    assert (few, left_out) == (every, 97)
    assert few.at_least == 100


@pytest.mark.parametrize("count", [LEAST // 3, 1])
async def test_all_signals_of_a_small_book_are_run(service, count):
    calls = [call for n in range(count) for call in about(f"new-{n}", SHAPES[:3])]
    async with session_on(service) as session:
        assert (await both(session, calls))[2] == 0


async def test_a_signal_that_another_call_names_stands_for_itself(service):
    calls = [Call("SIGNAL", [f"new-{n}"]) for n in range(100)]
    async with session_on(service) as session:
        _, _, left_out = await both(session, [*calls, Call("SIGNAL_HISTORY", ["NEW-99, new-98", "-1Y"])])
    assert left_out == 100 - 3 - 2
