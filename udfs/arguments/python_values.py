"""Arguments as Python programs have them: numpy's and pandas' values and containers as plain values and lists."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_MISSING = frozenset({"NAType", "NaTType"})
"""The classes of pandas' missing values, which are known without importing pandas."""


def plain(value: Any) -> Any:
    """A number of numpy as Python's own; an array, a series, an index or a frame as a list, blank where nothing is.

    >>> plain(np.int64(3)), plain(np.array(["us-cpi", "us-10y"])), plain(np.array([[1.5, np.nan]]))
    (3, ['us-cpi', 'us-10y'], [[1.5, None]])
    """
    if isinstance(value, np.integer | np.floating | np.bool_):
        return value.item()
    if isinstance(value, str | np.generic):
        return value
    if type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "to_numpy"):
        value = value.to_numpy(dtype=object)  # times stay times: as bare numbers they would mean other days
    elif hasattr(value, "dtype") and hasattr(value, "__array__"):
        value = np.asarray(value)
    if not isinstance(value, np.ndarray):
        return value
    is_dated = value.dtype.kind == "M"
    return _blanked((value.astype("datetime64[us]") if is_dated else value).tolist())


def _blanked(value: Any) -> Any:
    if isinstance(value, list):
        return [_blanked(each) for each in value]
    is_missing = type(value).__name__ in _MISSING or (isinstance(value, float) and math.isnan(value))
    return None if is_missing else value
