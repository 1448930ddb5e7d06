"""How values with many rows show themselves: one line in a console, a short table in a notebook."""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

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


def answer_html(value: Any, fetched_at: float, *notes: str | None) -> str:
    """A value as a notebook shows it, and below it in small print when it arrived (UTC) and the `notes` about it."""
    shown = value._repr_html_() if hasattr(value, "_repr_html_") else f"<pre>{escape(repr(value))}</pre>"
    arrived = f"{datetime.fromtimestamp(fetched_at, UTC):%Y-%m-%d %H:%M:%S} UTC"
    return f"{shown}<small>{escape(', '.join([f'arrived {arrived}', *filter(None, notes)]))}</small>"
