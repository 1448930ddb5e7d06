"""SPARK: a series as a line of block characters."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.parts.asking import Canned, cells, session_on
from udfs.cells import ErrorCode
from udfs.functions.spark import BLOCKS, spark

floats = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(floats, min_size=1, max_size=50))
def test_each_value_is_one_block_and_higher_values_are_never_lower(values):
    line = spark(np.array(values))
    assert len(line) == len(values)
    heights = [BLOCKS.index(block) for block in line]
    for one, height in zip(values, heights, strict=True):
        assert all(height <= other for value, other in zip(values, heights, strict=True) if value > one)


def test_the_lowest_and_the_highest_value_reach_the_edges():
    assert spark(np.array([1.0, 2, 8])) == "▁▂█"


def test_a_series_that_does_not_move_is_a_line_in_the_middle():
    assert spark(np.array([5.0, 5, 5])) == "▄▄▄"


async def test_a_spark_shares_the_request_of_the_signal(service):
    async with session_on(service, clock=lambda: 1_788_000_000.0) as session:
        await cells(session, "SIGNAL", "us-cpi")
        assert len(await cells(session, "SPARK", "us-cpi")) == 12
        assert len(await cells(session, "SPARK", "us-cpi", "MAX", 30)) == 30
        assert len(await cells(session, "SPARK", "us-cpi", "N5")) == 5
        shown = await cells(session, "SPARK", [["us-cpi"], ["no.such"]])
        assert len(shown[0][0]) == 12
        assert shown[1][0].code is ErrorCode.NA
    catalogue = "/v1/signals?limit=500"
    assert service.running.requests == ["/v1/signals/us-cpi?history=365", "/v1/signals/no.such?history=365", catalogue]


async def test_an_empty_window_says_where_the_series_ends():
    ended = {"slug": "old.one", "latest": {"observed_at": "2001-01-01", "value": 1}}
    ended["history"] = [{"observed_at": f"{year}-01-01", "value": 1} for year in range(1990, 2002)]
    shown = await Canned({"/v1/signals/old.one": ended})("SPARK", "old.one")
    assert shown.code is ErrorCode.NA
    assert shown.message.endswith("its last one is of 2001-01-01")
