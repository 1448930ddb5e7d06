"""A program with what programs hold: `make lint` checks its types with those of the packages; it is not run."""

import numpy as np
import pandas as pd

import udfs
from udfs.sync import SIGNAL, SIGNAL_HISTORY, WIRE

SLUGS = pd.Series(["us-cpi", "us-10y"])


async def main() -> None:
    await udfs.SIGNAL(SLUGS)
    await udfs.SIGNAL(SLUGS.to_numpy(), ["value", "unit"])
    await udfs.SIGNAL("us-cpi", at=pd.Timestamp("2024-06-30", tz="UTC"))
    await udfs.SIGNAL("us-cpi", at=pd.date_range("2024-01-01", periods=3))
    frame: pd.DataFrame = await udfs.SIGNAL_HISTORY(SLUGS, pd.Period("2024-01", "M"), np.datetime64("2024-06-30"))
    frame.sum()


SIGNAL(list(SLUGS))
SIGNAL(SLUGS, at="2024-06-30")
SIGNAL({"us-cpi": 1}.keys())
SIGNAL_HISTORY(SLUGS, "-1Y", freq="M").mean()
SIGNAL_HISTORY(SLUGS, None, None)
WIRE(("CPI", "WTI"), since=pd.Timestamp("2024-06-30")).head()
