"""Observations as rows: a third of the text that an object for each would take."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

from addin.mcp.tool import Schema
from dataservice.observations import Observations
from udfs.records.fields import day_or_moment

ROWS: dict[str, Schema] = {
    "columns": {"type": "array", "items": {"type": "string"}},
    "rows": {
        "type": "array",
        "description": "oldest first: a day or a moment (UTC), and the value of each column",
        "items": {"type": "array"},
    },
}
"""The schema of observations as rows."""


def rows_of_observations(
    observations: Observations, heading: str = "value", *, computed: bool = False
) -> dict[str, Any]:
    """Observations as the members `columns` and `rows`; a day alone where the time is midnight.

    The service's own values are passed on as they are, computed ones without the digits that only rounding made.
    """
    digits = meaningful if computed else float
    rows = [
        [text_of(day_or_moment(moment)), digits(value) if math.isfinite(value) else None]
        for moment, value in observations
    ]
    return {"columns": ["date", heading], "rows": rows}


def meaningful(value: float) -> float:
    """The value with the ten digits that binary arithmetic leaves certain.

    >>> meaningful(0.27000000000001023)
    0.27
    """
    return float(f"{value:.10g}")


def text_of(moment: date) -> str:
    """A day or a moment in UTC."""
    return moment.isoformat().replace("+00:00", "Z")
