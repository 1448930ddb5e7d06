"""Formualizer, a native engine that works out 50,000 formulas in half a second, and judges what another came to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import formualizer

from addin.workbook.calculation.engine.cells_file import as_file
from addin.workbook.calculation.engine.serving import limit_memory, serve

CODES = {
    "Na": "#N/A",
    "Value": "#VALUE!",
    "Ref": "#REF!",
    "Div": "#DIV/0!",
    "Num": "#NUM!",
    "Name": "#NAME?",
    "Null": "#NULL!",
    "Spill": "#SPILL!",
    "Calc": "#CALC!",
}
"""The engine's names of errors; any other is one that no spreadsheet shows."""
KINDS = {code: kind for kind, code in CODES.items()}


class Calculator:
    """One book in the engine."""

    def __init__(self, *, now: float, offset_s: float, dates_from_1904: bool, time_limit_s: float) -> None:
        evaluation = formualizer.EvaluationConfig()
        evaluation.max_eval_time_ms = int(time_limit_s * 1000)
        evaluation.date_system = "1904" if dates_from_1904 else "1900"
        self._config = formualizer.WorkbookConfig(mode=formualizer.WorkbookMode.Ephemeral, eval_config=evaluation)
        self._loaded: list[Sequence[Any]] = []
        self._now, self._offset_s, self._dates_from_1904 = now, int(offset_s), dates_from_1904
        self._begin(formualizer.Workbook(config=self._config))

    def _begin(self, book: formualizer.Workbook) -> None:
        self._book = book
        book.set_temporal_egress("serial")
        book.set_deterministic_clock(datetime.fromtimestamp(self._now, UTC), self._offset_s)

    def load(self, sheets: Sequence[str], cells: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Make the sheets, and put the cells in; the formulas that cannot be read, with the reason."""
        self._loaded = [cell[:3] for cell in cells if cell[3] != "value"]
        content, others = as_file(sheets, cells, dates_from_1904=self._dates_from_1904)
        try:
            self._begin(formualizer.Workbook.from_bytes(content, config=self._config))
        except Exception:  # noqa: BLE001 - one formula that cannot be read spoils the file; find it
            values = [cell for cell in cells if cell[3] == "value"]
            content, others = as_file(sheets, values, dates_from_1904=self._dates_from_1904)
            self._begin(formualizer.Workbook.from_bytes(content, config=self._config))
            others += [cell for cell in cells if cell[3] != "value"]
        return self.set(others)

    def set(self, cells: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Put values and formulas into cells; the formulas that cannot be read."""
        failed: list[list[Any]] = []
        for sheet, row, column, kind, content in cells:
            try:
                if kind == "value":
                    self._book.set_value(sheet, row, column, _to_engine(content))
                else:
                    self._book.set_formula(sheet, row, column, content)
            except Exception as error:  # noqa: BLE001 - whatever it is, this one formula is not worked out
                failed.append([sheet, row, column, str(error)[:200]])
        return failed

    def evaluate(self) -> None:
        """Work everything out."""
        self._book.evaluate_all()

    def values(self, cells: Sequence[Sequence[Any]]) -> list[Any]:
        """Return what the cells show."""
        return [_from_engine(self._book.get_value(sheet, row, column)) for sheet, (row, column) in cells]

    def results(self) -> list[Any]:
        """Return what the cells show whose formulas were loaded last, in their order."""
        read = self._book.get_value
        return [_from_engine(read(*place)) for place in self._loaded]

    def close(self) -> None:
        """Leave the book to Python."""


def _to_engine(value: Any) -> Any:
    if isinstance(value, dict):
        return {"type": "Error", "kind": KINDS.get(value["error"], "Value")}
    return float(value) if type(value) is int else value


def _from_engine(value: Any) -> Any:
    if type(value) is float and math.isfinite(value):  # most are
        return value + 0.0  # which makes 0 of -0
    if isinstance(value, dict):
        kind = str(value.get("kind"))
        return {"error": CODES.get(kind, f"#{kind.upper()}")}
    if type(value) is int:
        return float(value)
    return {"error": "#NUM!"} if isinstance(value, float) else value


def main() -> None:
    """Serve this process's standard input."""
    limit_memory()
    serve(Calculator)
