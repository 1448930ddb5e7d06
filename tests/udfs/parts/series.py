"""Series for tests: made from plain lists, drawn at random, or read from the real files."""

import csv
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from dataservice.observations import Observations


def observations(days, values=None):
    """Observations at midnight of `days`, or from a mapping of ISO days to values (None is null)."""
    if isinstance(days, dict):
        days, values = list(days), list(days.values())
    return Observations(np.array(days, "datetime64[us]"), np.array(values, np.float64))


def real(shared_data: Path, slug: str) -> tuple[list[date], list[float]]:
    """The days and values of a real series."""
    with (shared_data / "observations" / f"{slug}.csv").open() as file:
        rows = list(csv.DictReader(file))
    return [date.fromisoformat(row["observed_at"][:10]) for row in rows], [float(row["value"]) for row in rows]


def shown(found: Observations) -> dict[str, float | None]:
    """ISO days to values, None for null."""
    return {time.date().isoformat(): None if np.isnan(value) else value for time, value in found}


values = st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0, -1.0])


@st.composite
def series(draw, values=values, least=0):
    """A sorted series of up to 60 days with gaps."""
    steps = draw(st.lists(st.integers(1, 70), min_size=least, max_size=60))
    first = draw(st.dates(date(1900, 1, 1), date(2100, 1, 1)))
    days = [first + timedelta(days=sum(steps[:place])) for place in range(len(steps))]
    return observations(days, draw(st.lists(values, min_size=len(days), max_size=len(days))))
