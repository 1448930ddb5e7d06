"""Answers as tables in a terminal."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from addin.answers import Cells, as_text
from udfs.cells import Scalar
from udfs.errors import CellError

__all__ = ["cell_of", "table_of"]


def table_of(cells: Cells) -> Table:
    """The cells of a table, numbers to the right."""
    table = Table(show_header=cells.header is not None, box=None, pad_edge=False, header_style="bold")
    width = len(cells.rows[0]) if cells.rows else len(cells.header or ())
    for position in range(width):
        numeric = any(isinstance(row[position], float | int) for row in cells.rows)
        name = cells.header[position] if cells.header is not None else ""
        table.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
    for row in cells.rows:
        table.add_row(*(cell_of(cell) for cell in row))
    return table


def cell_of(cell: Scalar) -> Text:
    """One cell; errors stand out."""
    return Text(as_text(cell), style="red" if isinstance(cell, CellError) else "")
