"""How large a batch may be, counted in its raw text before anything is built from it.

One value takes about two kilobytes once its function runs, so values are what has to be bounded, not bytes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

CELL_CHARACTERS = 32_767
"""The longest text that a cell of Excel or Calc can hold."""

CALL_BYTES = 4 * 2**20
"""The longest text of one call: as many values as it may have, at eighty bytes each."""

LENIENT_BYTES = 2**20
"""A batch with what JSON cannot express is read by a slower parser: 1 MiB takes it a hundredth of a second."""


class BadBatchError(ValueError):
    """The text is not a batch of calls."""


class BatchTooLargeError(ValueError):
    """The batch exceeds a limit; the message names the setting."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The most calls and values in one batch, values in one call, and bytes of all answers together."""

    calls: int = 100_000
    values: int = 500_000
    cells: int = 50_000
    answer_bytes: int = 256 * 2**20

    @property
    def harmless_bytes(self) -> int:
        """A call of no more bytes is within every limit, whatever it holds."""
        return min(CALL_BYTES, CELL_CHARACTERS, self.cells)

    def check_values(self, body: bytes) -> int:
        """About how many values the batch holds; raises `BatchTooLargeError` for too many.

        Commas separate values. Those inside texts count too: no batch of cells has so many.
        """
        values = body.count(b",") + 1
        if values > self.values:
            raise BatchTooLargeError(
                f"{values:,} values are more than {self.values:,} in one batch (setting max_values); "
                "use fewer or smaller ranges"
            )
        return values

    def check_calls(self, calls: int) -> None:
        """Raise `BatchTooLargeError` for too many calls."""
        if calls > self.calls:
            raise BatchTooLargeError(f"{calls:,} calls are more than {self.calls:,} in one batch (setting max_calls)")

    def problem_of_call(self, text: bytes) -> str | None:
        """Return what is too large about a call's text; None if it may be read."""
        if len(text) > CALL_BYTES:
            return f"the arguments take {len(text):,} bytes, more than {CALL_BYTES:,} in one formula"
        values = text.count(b",")
        if values <= self.cells:
            return None
        return f"the arguments hold {values:,} values, more than {self.cells:,} in one formula (setting max_cells)"


def too_long_text(args: Sequence[Any]) -> int | None:
    """The length of the first text in `args` that no cell could hold."""
    for item in args:
        if isinstance(item, str) and len(item) > CELL_CHARACTERS:
            return len(item)
        if isinstance(item, list) and (length := too_long_text(item)) is not None:
            return length
    return None
