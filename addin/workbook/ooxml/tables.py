"""The tables of a book: areas with a name and named columns."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from addin.formulas import Area
from addin.workbook.ooxml.positions import area_of, whole_number
from addin.workbook.ooxml.stored import MAIN, unescaped


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its area with headers and totals, and its columns in order."""

    name: str
    sheet: str
    area: Area
    columns: tuple[str, ...]
    header_rows: int = 1
    total_rows: int = 0

    @property
    def data(self) -> Area:
        """The rows between headers and totals."""
        return self.rows_of(())

    def rows_of(self, items: Collection[str]) -> Area:
        """The rows that items such as `#headers` name, `#data` where there are none; raises `ValueError`."""
        first, last = self.area.first_row, self.area.last_row
        parts = {
            "#all": (first, last),
            "#headers": (first, first + self.header_rows - 1),
            "#data": (first + self.header_rows, last - self.total_rows),
            "#totals": (last - self.total_rows + 1, last),
        }
        chosen = [parts[item] for item in items or ("#data",)]
        top, bottom = min(each[0] for each in chosen), max(each[1] for each in chosen)
        if top > bottom:
            raise ValueError(f"{self.name} has no such rows")
        return self.area._replace(first_row=top, last_row=bottom)

    def column(self, name: str) -> int:
        """The number of the sheet's column with this header; raises `ValueError`."""
        folded = [each.casefold() for each in self.columns]
        return self.area.first_column + folded.index(name.casefold())


def table_in(root: Any, sheet: str, part: str) -> Table | None:
    """The table that a part describes; None for what has no area."""
    area = area_of(root.get("ref", ""))
    if area is None:
        return None
    return Table(
        root.get("displayName") or root.get("name", ""),
        sheet,
        area._replace(sheet=sheet),
        tuple(unescaped(column.get("name", "")) for column in root.iter(f"{{{MAIN}}}tableColumn")),
        whole_number(root.get("headerRowCount"), part, "number of header rows", 1),
        whole_number(root.get("totalsRowCount"), part, "number of total rows"),
    )


def rewrite_columns(root: Any, mend: Callable[[str], str]) -> bool:
    """Replace the formulas of a table's columns by what `mend` makes of them; whether there is another one now.

    An empty formula is dropped: new rows then get none.
    """
    is_changed = False
    for column in root.iter(f"{{{MAIN}}}tableColumn"):
        for kind in ("calculatedColumnFormula", "totalsRowFormula"):
            element = column.find(f"{{{MAIN}}}{kind}")
            if element is None or not element.text or (mended := mend(element.text)) == element.text:
                continue
            is_changed = True
            element.text = mended
            if not mended:
                column.remove(element)
                if kind == "totalsRowFormula":
                    column.attrib.pop("totalsRowFunction", "")
    return is_changed
