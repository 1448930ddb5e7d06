"""The calculation engine in a process of its own: `python -m addin.workbook.calculation.engine.worker`.

The engine is a beta; whatever it does, a hang, a panic or all memory taken, ends this process and nothing else. It
reads requests from standard input and answers on standard output, each a MessagePack value behind its length.
"""

from __future__ import annotations

import math
import os
import struct
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, BinaryIO

import formualizer
import msgspec

from addin.workbook.calculation.cell_values import as_text, each, is_certain_text, snapped
from addin.workbook.calculation.engine.cells_file import as_file

PENDING = "Cancelled"
"""The error that stands for an answer that is still to come: formulas hand it on, and none makes it."""

OMITTED = "\x01"
"""What stands for an omitted argument, which the engine would hand over as 0."""

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
    """One book in the engine, and what its formulas asked and chose."""

    def __init__(self, *, now: float, offset_s: float, dates_from_1904: bool, time_limit_s: float) -> None:
        evaluation = formualizer.EvaluationConfig()
        evaluation.enable_parallel = False  # the callbacks below are Python
        evaluation.max_eval_time_ms = int(time_limit_s * 1000)
        evaluation.date_system = "1904" if dates_from_1904 else "1900"
        self._config = formualizer.WorkbookConfig(mode=formualizer.WorkbookMode.Ephemeral, eval_config=evaluation)
        self._now, self._offset_s, self._dates_from_1904 = now, int(offset_s), dates_from_1904
        self._answers: dict[str, Any] = {}
        self._asked: dict[str, list[Any]] = {}
        self._used: dict[int, dict[str, None]] = {}
        self._chosen: dict[int, dict[int, set[Any]]] = {}
        self._doubts: dict[int, str] = {}
        self._begin(formualizer.Workbook(config=self._config))

    def _begin(self, book: formualizer.Workbook) -> None:
        """Let the book be the one that is worked out."""
        self._book = book
        book.set_temporal_egress("serial")
        book.set_deterministic_clock(datetime.fromtimestamp(self._now, UTC), self._offset_s)
        self._register("DSCALL", self._call, volatile=True)
        self._register("DSTEXT", self._text)
        self._register("DSSNAP", lambda value, other: snapped(value, other))
        self._register("DSDATE", self._date)
        self._register("DSPOWER", self._exponent)
        self._register("DSFAILED", self._failed)
        self._register("DSCHOSEN", self._choice)
        self._register("DSSINGLE", self._single)

    def load(self, sheets: Sequence[str], cells: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Make the sheets, and put the cells in; the formulas that cannot be read, with the reason."""
        content, others = as_file(sheets, cells, dates_from_1904=self._dates_from_1904)
        try:
            self._begin(formualizer.Workbook.from_bytes(content, config=self._config))
        except Exception:  # noqa: BLE001 - one formula that cannot be read spoils the file; find it
            self._begin(formualizer.Workbook(config=self._config))
            for sheet in sheets:
                self._book.add_sheet(sheet)
            return self.set(cells)
        return self.set(others)

    def set(self, cells: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Put values and formulas into cells: (sheet, row, column, is it a formula, content)."""
        failed: list[list[Any]] = []
        for sheet, row, column, is_formula, content in cells:
            try:
                if is_formula:
                    self._book.set_formula(sheet, row, column, content)
                else:
                    self._book.set_value(sheet, row, column, _to_engine(content))
            except Exception as error:  # noqa: BLE001 - whatever it is, this one formula is not worked out
                failed.append([sheet, row, column, str(error)[:200]])
        return failed

    def evaluate(self, answers: dict[str, Any]) -> dict[str, Any]:
        """Work everything out with these further answers: what is asked now, and what each formula used and chose."""
        self._answers.update({key: _to_engine(value) for key, value in answers.items()})
        self._asked, self._used, self._chosen, self._doubts = {}, {}, {}, {}
        self._book.evaluate_all()
        chosen = {
            cell: {site: sorted(map(str, seen)) for site, seen in sites.items()} for cell, sites in self._chosen.items()
        }
        return {
            "asked": self._asked,
            "used": {cell: list(keys) for cell, keys in self._used.items()},
            "chosen": chosen,
            "doubts": self._doubts,
        }

    def values(self, cells: Sequence[Sequence[Any]]) -> list[Any]:
        """What the cells show."""
        return [_from_engine(self._book.get_value(sheet, row, column)) for sheet, (row, column) in cells]

    def extents(self, cells: Sequence[Sequence[Any]]) -> list[str | None]:
        """The area that each cell's formula fills beyond itself, such as `A1:B3`; None for one value."""
        found = (self._book.inspect_cell(f"{_quoted(sheet)}!{name}").cell.spill for sheet, name in cells)
        return [spill.extent if spill is not None else None for spill in found]

    def _register(self, name: str, function: Callable[..., Any], *, volatile: bool = False) -> None:
        self._book.register_function(name, function, min_args=0, max_args=None, volatile=volatile)

    def _call(self, cell: float, name: str, *arguments: Any) -> Any:
        given = [None if value == OMITTED else _from_engine(value) for value in arguments]
        if any(map(_is_pending, _flat(given))):
            return _error(PENDING)
        key = msgspec.json.encode([name, *given]).decode()
        self._used.setdefault(int(cell), {})[key] = None
        if key in self._answers:
            return self._answers[key]
        self._asked[key] = [name, *given]
        return _error(PENDING)

    def _text(self, cell: float, value: Any) -> Any:
        return each(lambda part: self._one_text(int(cell), part), value)

    def _one_text(self, cell: int, value: Any) -> Any:
        if type(value) is str and len(value) > MAX_JOINED:
            self._doubts[cell] = "it joins texts that may be longer than a cell can hold"
        if type(value) is not float:
            return value
        if not is_certain_text(value):
            self._doubts[cell] = "it writes a number as text that programs write differently"
        return as_text(value)

    def _date(self, cell: float, value: Any) -> Any:
        if not self._dates_from_1904 and DOUBTFUL_DATE in _flat(value):
            self._doubts[int(cell)] = "programs disagree about the 29th of February 1900"
        return each(as_date, value)

    def _exponent(self, cell: float, value: Any) -> Any:
        if any(part is None or part == 0 for part in _flat(value)):
            self._doubts[int(cell)] = "programs disagree about 0^0"
        return value

    def _single(self, cell: float, shows_first: bool, value: Any) -> Any:
        """What a formula that is no array's shows: one value."""
        if not isinstance(value, list):
            return value
        values = _flat(value)
        if not shows_first and len(values) > 1:
            self._doubts[int(cell)] = "it takes one cell of a range, and is no array formula"
        return values[0] if values else None

    def _failed(self, cell: float, site: float, mode: str, value: Any) -> Any:
        """Whether a value is an error of the kind `mode`; a value to come stays to come, and is no error yet."""
        if any(_kind(part) == PENDING for part in _flat(value if isinstance(value, list) else [[value]])):
            return _error(PENDING)
        result = each(lambda part: _fits(mode, part), value)
        if site >= 0:
            self._note(int(cell), int(site), result)
        return result

    def _choice(self, cell: float, site: float, value: Any) -> Any:
        self._note(int(cell), int(site), value)
        return value

    def _note(self, cell: int, site: int, value: Any) -> None:
        seen = self._chosen.setdefault(cell, {}).setdefault(site, set())
        seen.update(map(_outcome, _flat(value) if isinstance(value, list) else [value]))


MAX_JOINED = 2_000
"""Characters of a text that is joined to others; a cell holds 32,767."""

DOUBTFUL_DATE = 61.0
"""The 1st of March 1900; Excel counts a 29th of February before it, of which the engine makes this day."""

LAST_DATE = 2_958_465
"""The 31st of December 9999, the last day that spreadsheets know."""


def as_date(value: Any) -> Any:
    """What DATE gives: an error where the engine finds a day that spreadsheets do not have."""
    return _error("Num") if type(value) is float and not 0 <= value < LAST_DATE + 1 else value


def _outcome(value: Any) -> str:
    """What a condition came to, so that two conditions that choose the same branch are alike."""
    if isinstance(value, dict):
        return str(value.get("kind"))
    if isinstance(value, bool) or value is None:
        return str(bool(value))
    return str(bool(value)) if isinstance(value, float) and value in (0.0, 1.0) else repr(value)


def _fits(mode: str, value: Any) -> bool:
    kind = _kind(value)
    return kind is not None and (mode == "any" or (kind == "Na") == (mode == "na"))


def _kind(value: Any) -> str | None:
    return str(value.get("kind")) if isinstance(value, dict) else None


def _is_pending(value: Any) -> bool:
    return isinstance(value, dict) and value.get("error") == f"#{PENDING.upper()}"


def _flat(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [cell for row in value for cell in _flat(row)]
    return [value]


def _error(kind: str) -> dict[str, str]:
    return {"type": "Error", "kind": kind}


def _to_engine(value: Any) -> Any:
    if isinstance(value, list):
        return [[_to_engine(cell) for cell in row] for row in value]
    if isinstance(value, dict):
        return _error(KINDS.get(value["error"], "Value"))
    return float(value) if type(value) is int else value


def _from_engine(value: Any) -> Any:
    if isinstance(value, list):
        return [[_from_engine(cell) for cell in row] for row in value]
    if isinstance(value, dict):
        kind = str(value.get("kind"))
        return {"error": CODES.get(kind, f"#{kind.upper()}")}
    if type(value) is int:
        return float(value)
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else {"error": "#NUM!"}  # adding 0 makes 0 of -0
    return value


def _quoted(sheet: str) -> str:
    return "'" + sheet.replace("'", "''") + "'"


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Answer requests until the input ends; an exception is an answer too."""
    calculator: Calculator | None = None
    while len(header := source.read(4)) == 4:
        method, arguments = msgspec.msgpack.decode(source.read(struct.unpack(">I", header)[0]), strict=False)
        try:
            if method == "open":
                calculator, result = Calculator(**arguments), None
            else:
                result = getattr(calculator, method)(**arguments)
            answer: dict[str, Any] = {"result": result}
        except BaseException as error:  # noqa: BLE001 - a panic of the engine is none of Exception
            answer = {"failed": f"{type(error).__name__}: {error}"[:300]}
        content = msgspec.msgpack.encode(answer)
        target.write(struct.pack(">I", len(content)) + content)
        target.flush()


def main() -> None:
    """Serve this process's standard input; what the engine prints goes nowhere."""
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    serve(sys.stdin.buffer, target)


if __name__ == "__main__":
    main()
