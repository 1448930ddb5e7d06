"""Fills across series that begin on different days: what a filled value may come from, checked against pandas."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from tests.embedded import SAMPLE_AS_OF
from tests.udfs.asking import session_on

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


@pytest.mark.parametrize(
    ("count", "fill", "transform"),
    list(product([5, 40], ["none", "prev", "next", "linear", "zero"], ["", "ma(3)", "mom", "yoy"])),
)
async def test_each_series_is_filled_from_what_it_may_be(sample_service, count, fill, transform):
    options = f"transform={transform};" if transform else ""
    async with session_on(sample_service, clock=lambda: NOON) as session:
        found = await session.value(
            "SIGNAL_HISTORY", [f"{MONTHLY}, {DAILY}", f"N{count}", None, f"{options} fill={fill}"]
        )
        for slug in (MONTHLY, DAILY):
            whole = (await session.value("SIGNAL_HISTORY", [slug, "MAX", None, options]))[slug].dropna()
            shown = whole.iloc[-count:]
            expected = filled_by_pandas(whole, shown, found.index, fill)
            np.testing.assert_allclose(found[slug].to_numpy(), expected.to_numpy(), rtol=1e-12)
    assert found.index.is_monotonic_increasing


async def test_an_anchored_transform_has_no_values_before_its_own_start(sample_service):
    async with session_on(sample_service, clock=lambda: NOON) as session:
        options = "transform=index(100); fill=prev"
        found = await session.value("SIGNAL_HISTORY", [f"{MONTHLY}, {DAILY}", "N5", None, options])
    assert found[DAILY].dropna().iloc[0] == 100


async def test_looking_back_costs_nothing_that_is_at_hand(service):
    async with session_on(service, clock=lambda: NOON) as session:
        await session.value("SIGNAL_HISTORY", [f"{MONTHLY}, {DAILY}", "N5", None, "fill=prev"])
    assert service.running.request_count == 2
