"""What columns of values say: each by itself, and each with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addin.mcp.schemas import NUMBER, TEXT, WHOLE, Schema, list_of, object_of, texts
from addin.mcp.tools.rows import meaningful

NAMES = ("first", "last", "change", "min", "max", "mean", "stdev", "zscore")

STATISTICS: Schema = list_of(
    object_of({"slug": TEXT, "count": WHOLE, **dict.fromkeys(NAMES, NUMBER), "min_date": TEXT, "max_date": TEXT}),
    "of all rows of the window: change is last less first, stdev that of a sample, zscore that of the last value",
)

CORRELATION: Schema = object_of(
    {"slugs": texts(), "rows": WHOLE, "matrix": list_of({"type": "array"}, "null where a column does not vary")},
    "Pearson's, of the rows where all columns have a value; transform=pct or diff correlates changes, not levels",
)


def statistics_of(columns: Mapping[str, NDArray[np.float64]], days: Sequence[str]) -> dict[str, Any]:
    """The members `statistics` and, of several columns, `correlation`; `days` are the labels of the rows."""
    known = {name: values for name, values in columns.items() if not np.isnan(values).all()}
    told: dict[str, Any] = {
        "statistics": [{"slug": name, **_statistics(values, days)} for name, values in known.items()]
    }
    return told | ({"correlation": _correlation(known)} if len(known) > 1 else {})


def _statistics(values: NDArray[np.float64], days: Sequence[str]) -> dict[str, Any]:
    known = values[~np.isnan(values)]
    mean, spread = float(known.mean()), float(known.std(ddof=1)) if len(known) > 1 else 0.0
    first, last = float(known[0]), float(known[-1])
    figures = (first, last, last - first, float(known.min()), float(known.max()), mean, spread)
    told = dict(zip(NAMES, (*figures, *([(last - mean) / spread] if spread else [])), strict=False))
    extremes = {"min_date": days[int(np.nanargmin(values))], "max_date": days[int(np.nanargmax(values))]}
    return {"count": len(known), **{name: meaningful(value) for name, value in told.items()}, **extremes}


def _correlation(columns: Mapping[str, NDArray[np.float64]]) -> dict[str, Any]:
    matrix = np.column_stack(list(columns.values()))
    common = matrix[~np.isnan(matrix).any(axis=1)]
    found: list[list[float | None]] = [[None] * len(columns) for _ in columns]
    if len(common) > 2:
        with np.errstate(invalid="ignore", divide="ignore"):
            found = [[meaningful(value) for value in row] for row in np.atleast_2d(np.corrcoef(common, rowvar=False))]
    return {"slugs": list(columns), "rows": len(common), "matrix": found}
