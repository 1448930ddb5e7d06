"""Tables: rows of cell values become a frame whose columns have the right kind."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pandas import DataFrame as Table
else:
    Table = Any
    """A pandas frame; named here so that declaring a function does not load pandas."""

__all__ = ["Table", "table", "without_header"]

EXACT_INTEGER = 2**53
"""Up to here a 64-bit float, which is what a cell holds, is exact."""


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """A frame of shape (rows, header): times and numbers in columns of their kind, mixed ones as they are."""
    import pandas as pd

    columns = [_column([row[position] for row in rows]) for position in range(len(header))]
    frame = pd.DataFrame({position: pd.Series(column) for position, column in enumerate(columns)})
    frame.columns = pd.Index(header, dtype=object)  # set afterwards, because a name may be asked for twice
    return frame


def without_header(frame: Table) -> Table:
    """The same frame, shown in cells without its header row."""
    frame.attrs["header"] = False
    return frame


def _column(values: list[Any]) -> NDArray[Any]:
    present = [value for value in values if value is not None]
    kinds = {type(value) for value in present}
    if kinds and kinds <= {date, datetime}:
        return np.array([_naive_utc(value) for value in values], "datetime64[us]")
    if kinds == {int} and len(present) == len(values) and _exact(present):
        return np.array(values, np.int64)
    if kinds and kinds <= {int, float} and _exact(value for value in present if type(value) is int):
        return np.array([np.nan if value is None else value for value in values], np.float64)
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _exact(integers: Any) -> bool:
    return all(abs(value) <= EXACT_INTEGER for value in integers)


def _naive_utc(value: date | None) -> date | None:
    return value.astimezone(UTC).replace(tzinfo=None) if isinstance(value, datetime) else value
