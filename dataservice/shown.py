"""How values with many rows show themselves: one line in a console, a short table in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pandas as pd

NOTEBOOK_ROWS = 10


class Framed(Protocol):
    """Whatever has a frame."""

    def to_frame(self) -> pd.DataFrame:
        """The frame."""


def short_html(value: Framed) -> str:
    """The first and last rows of a value's frame, as a notebook shows them."""
    return value.to_frame().to_html(max_rows=NOTEBOOK_ROWS, show_dimensions=True, notebook=True)
