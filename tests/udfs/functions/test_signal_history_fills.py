"""Fills across series that begin on different days: what a filled value may come from, checked against pandas."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from tests.embedded import SAMPLE_AS_OF
from tests.udfs.parts.asking import session_on

NOON = pd.Timestamp(SAMPLE_AS_OF, tz="UTC").timestamp() + 12 * 3600
MONTHLY, DAILY = "us-cpi", "eia.wti.spot"


def filled_by_pandas(whole, shown, rows, fill):
    """The values on `rows`: previous ones may lie before the first row shown, all others are shown ones."""
    if fill == "prev":
        return whole.reindex(rows, method="ffill")
    if fill == "next":
        return shown.reindex(rows, method="bfill")
    if fill == "linear":
        joined = whole.reindex(whole.index.union(rows)).interpolate("time", limit_area="inside")
        return joined.reindex(rows)
    return shown.reindex(rows) if fill == "none" else shown.reindex(rows).fillna(0)


TRANSFORMED = {
    "ma(3)": lambda values: values.rolling(3).mean(),
    "diff": lambda values: values.diff(),
    "drawdown": lambda values: values / values.cummax() - 1,
}


async def alone(session, slug, start="MAX", options=""):
    return (await session.value("SIGNAL_HISTORY", [slug, start, None, options + "header=bare"]))[slug].dropna()


@pytest.mark.parametrize(("count", "fill"), list(product([5, 40], ["none", "prev", "next", "linear", "zero"])))
async def test_each_series_is_filled_from_what_it_may_be(sample_service, count, fill):
    async with session_on(sample_service, clock=lambda: NOON) as session:
        found = await session.value(
            "SIGNAL_HISTORY", [f"{MONTHLY}, {DAILY}", f"N{count}", None, f"header=bare; fill={fill}"]
        )
        for slug in (MONTHLY, DAILY):
            whole = await alone(session, slug)
            expected = filled_by_pandas(whole, whole.iloc[-count:], found.index, fill)
            np.testing.assert_allclose(found[slug].to_numpy(), expected.to_numpy(), rtol=1e-12)
    assert found.index.is_monotonic_increasing


@pytest.mark.parametrize(("fill", "transform"), list(product(["prev", "linear"], ["ma(3)", "diff"])))
async def test_a_transform_sees_the_filled_rows_that_are_shown(sample_service, fill, transform):
    async with session_on(sample_service, clock=lambda: NOON) as session:
        options = f"header=bare; fill={fill}; transform={transform}"
        found = await session.value("SIGNAL_HISTORY", [f"{MONTHLY}, {DAILY}", "-1Y", None, options])
        whole = {slug: await alone(session, slug) for slug in (MONTHLY, DAILY)}
    rows = whole[MONTHLY].index.union(whole[DAILY].index)
    rows = rows[rows >= whole[DAILY].index[0]]
    for slug, values in whole.items():
        expected = TRANSFORMED[transform](filled_by_pandas(values, values, rows, fill)).reindex(found.index)
        np.testing.assert_allclose(found[slug].to_numpy(), expected.to_numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("transform", ["ma(3)", "mom"])
async def test_each_series_own_observations_are_transformed_where_that_is_asked_for(sample_service, transform):
    async with session_on(sample_service, clock=lambda: NOON) as session:
        options = f"header=bare; fill=prev; transform={transform}; "
        both = await session.value("SIGNAL_HISTORY", [f"{MONTHLY}, {DAILY}", "-1Y", None, f"{options}; calc=own"])
        for slug in (MONTHLY, DAILY):
            own = await alone(session, slug, options=f"transform={transform}; ")
            expected = own.reindex(both.index, method="ffill")
            np.testing.assert_allclose(both[slug].to_numpy(), expected.to_numpy(), rtol=1e-12)


async def test_an_index_has_a_common_base_also_behind_a_limit(sample_service):
    async with session_on(sample_service, clock=lambda: NOON) as session:
        options = "header=bare; transform=index(100); fill=prev; limit=30"
        found = await session.value("SIGNAL_HISTORY", [f"{MONTHLY}, {DAILY}", "-1Y", None, options])
        unfilled = await session.value(
            "SIGNAL_HISTORY", [f"{MONTHLY}, {DAILY}", "-1Y", None, "header=bare; transform=index(100)"]
        )
    assert found.iloc[0].tolist() == [100, 100]
    first = unfilled.dropna().iloc[0]
    assert 100 in unfilled[MONTHLY].tolist()
    assert 100 in unfilled[DAILY].tolist()
    assert first.notna().all()


async def test_looking_back_costs_nothing_that_is_at_hand(service):
    async with session_on(service, clock=lambda: NOON) as session:
        await session.value("SIGNAL_HISTORY", [f"{MONTHLY}, {DAILY}", "N5", None, "fill=prev"])
    assert service.running.request_count == 2
