"""Results of ranges as Python has them: one value for each name that was given, labelled by it.

In a sheet the cells beside the result say what it belongs to; in Python the labels do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from udfs.arguments.kinds import matrix_of
from udfs.engine.registry import Udf

if TYPE_CHECKING:
    import pandas as pd


class Ranges:
    """The arguments of one call that were given as several values, each of which is answered by itself."""

    def __init__(self, function: Udf, raw: Sequence[Any]) -> None:
        given = {
            place: matrix_of(value) for place, value in enumerate(raw) if function.parameters[place].kind.vectorized
        }
        self._found = {place: rows for place, rows in given.items() if rows is not None}
        self._names = [function.parameters[place].name for place in self._found]
        self._lines = [[cell for row in rows for cell in row] for rows in self._found.values()]
        self._is_matrix = any(len(rows) > 1 and any(len(row) > 1 for row in rows) for rows in self._found.values())
        self._raw = raw

    def raw(self) -> list[Any]:
        """The arguments as they are called: of two ranges, the first goes down and the second across."""
        raw = list(self._raw)
        if len(self._found) == 2 and not self._is_matrix:
            (down, across), (names, others) = self._found, self._lines
            raw[down], raw[across] = [[each] for each in names], [others]
        return raw

    def labelled(self, result: Any) -> Any:
        """A series by the values of one range, a frame by those of two; whatever else a call gives is as it was."""
        import pandas as pd

        if not self._found or isinstance(result, pd.DataFrame):
            return result
        rows = result if isinstance(result, list) else [[result]]
        if self._is_matrix or len(self._found) > 2:
            return pd.DataFrame(rows)
        cells = [cell for row in rows for cell in row]
        index = pd.Index(self._lines[0], name=self._names[0])
        return pd.Series(cells, index) if len(self._lines) == 1 else self._table(cells, index)

    def _table(self, cells: Sequence[Any], index: pd.Index[Any]) -> Any:
        import pandas as pd

        width = len(self._lines[1])
        columns = pd.Index(self._lines[1], name=self._names[1])
        data = {place: cells[place::width] for place in range(width)}  # by place, because a name may be given twice
        return pd.DataFrame(data, index).set_axis(columns, axis=1)
