"""Observations as rows: a third of the text that an object for each would take. All dates of a column have one form."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from addin.mcp.schemas import Schema, list_of, texts
from dataservice.observations import Observations
from udfs.timeseries import Times

ROWS: dict[str, Schema] = {
    "columns": texts(),
    "rows": list_of(
        {"type": "array"},
        "oldest first: a day, or a moment (UTC) where times of day are observed, and the value of each column",
    ),
}
"""The schema of observations as rows."""


def rows_of_observations(observations: Observations, heading: str, *, timed: bool) -> dict[str, Any]:
    """Observations as the members `columns` and `rows`, their values as the service gave them."""
    values = [value if math.isfinite(value) else None for value in observations.values.tolist()]
    rows = [list(row) for row in zip(labels(observations.times, timed=timed), values, strict=True)]
    return {"columns": ["date", heading], "rows": rows}


def has_times(times: Times) -> bool:
    """Return whether any of the times has a time of day: then all of them are shown with theirs."""
    return bool(np.any(times != times.astype("datetime64[D]")))


def labels(times: Times, *, timed: bool) -> list[str]:
    """The times as text: days, or moments in UTC."""
    if not timed:
        return [str(day) for day in times.astype("datetime64[D]").tolist()]
    return [label(moment, timed=True) for moment in times.astype("datetime64[us]").tolist()]


def label(moment: date, *, timed: bool) -> str:
    """One day or moment as text, the day alone unless it is `timed`."""
    if not isinstance(moment, datetime):
        return moment.isoformat()
    in_utc = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    return f"{in_utc.isoformat()}Z" if timed else in_utc.date().isoformat()


def meaningful(value: float) -> float | None:
    """The value with the ten digits that binary arithmetic leaves certain; None for what is none.

    >>> meaningful(0.27000000000001023)
    0.27
    """
    return float(f"{value:.10g}") if math.isfinite(value) else None
