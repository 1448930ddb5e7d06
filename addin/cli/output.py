"""What the commands print: answers of the backend's protocol as cells, tables, CSV and JSON."""

from __future__ import annotations

import csv
import io
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from addin.errors import AddinError
from dataservice.terminal import echo, escaped, printable
from udfs.arguments import CELL_ERRORS
from udfs.cells import EPOCH, Scalar
from udfs.errors import CellError, ErrorCode

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_FORMULA_STARTS = frozenset("=+-@\N{MINUS SIGN}")
"""Text that begins like this, in any width, is evaluated by a spreadsheet program that opens a CSV file."""


_WHOLE = 32_767
"""As many characters as a cell can hold: a row with one of them is still one line."""

_OURS = frozenset[str](ErrorCode)


@dataclass(frozen=True, slots=True)
class Cells:
    """An answer as rows of cells; `header` is None where it has none; `stale` says why the values are not fresh."""

    rows: Sequence[Sequence[Scalar]]
    header: Sequence[str] | None = None
    is_table: bool = False
    stale: str | None = None

    @property
    def errors(self) -> list[CellError]:
        """The errors among the cells, each once."""
        found = [cell for row in self.rows for cell in row if isinstance(cell, CellError)]
        return list(dict.fromkeys(found))


def cells_in(answer: Mapping[str, Any]) -> Cells:
    """The cells of an answer.

    >>> cells_in({"value": 46252, "type": "date", "fresh_s": 1.5}).rows
    [[datetime.date(2026, 8, 18)]]
    """
    stale = None
    if "stale" in answer:
        stale = f"last known value, {_age(answer['stale']['age_s'])} old: {answer['stale']['reason']}"
    if "columns" not in answer:
        return Cells([[_cell(answer, answer.get("type"))]], stale=stale)
    columns = [[_cell(value, column["type"]) for value in column["values"]] for column in answer["columns"]]
    return Cells(list(zip(*columns, strict=True)), answer["header"], is_table=True, stale=stale)


def engine_value(answer: Mapping[str, Any]) -> Any:
    """An answer as the calculation engine gets it: blank cells as empty text, dates as their numbers.

    >>> engine_value({"header": ["a"], "columns": [{"type": "number", "values": [1, None]}]})
    [['a'], [1], ['']]
    """
    if "error" in answer:
        return {"error": answer["error"]}
    if "columns" not in answer:
        return "" if answer["value"] is None else answer["value"]
    header = [list(answer["header"])] if answer["header"] is not None else []
    columns = [[_plain_value(value) for value in column["values"]] for column in answer["columns"]]
    return [*header, *(list(row) for row in zip(*columns, strict=True))]


def errors_in(answer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The answer if it is an error, or the errors in its columns."""
    values = [answer, *(value for column in answer.get("columns", ()) for value in column["values"])]
    return (value for value in values if isinstance(value, Mapping) and "error" in value)


def as_argument(value: Any) -> Any:
    """Return what the calculation engine gives to a call of ours, as hosts send it: an error is its code.

    >>> as_argument([["us-cpi", {"error": "#DIV/0!"}]])
    [['us-cpi', '#DIV/0!']]
    """
    if isinstance(value, list):
        return [as_argument(each) for each in value]
    return value["error"] if isinstance(value, Mapping) else value


def worked_out_answer(rows: Sequence[Sequence[Scalar]], errors: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a formula's result as an answer.

    An error has its own code, and the message of one of the calls' `errors` with that code, where there is one.

    >>> worked_out_answer([[CellError(ErrorCode.NA, "#DIV/0!")]], [])
    {'error': '#DIV/0!', 'message': 'the formula comes to #DIV/0!'}
    """
    values = [[_worked_out_value(cell, errors) for cell in row] for row in rows]
    if len(rows) == 1 and len(rows[0]) == 1:
        value = values[0][0]
        return value if isinstance(value, dict) else {"value": value}
    columns = [{"type": "any", "values": list(column)} for column in zip(*values, strict=True)]
    return {"rows": len(rows), "header": None, "columns": columns}


def _worked_out_value(cell: Scalar, errors: Sequence[Mapping[str, Any]]) -> Any:
    if not isinstance(cell, CellError):
        return cell
    code = code_of(cell)
    of_call = next((dict(error) for error in errors if error["error"] == code), None)
    return of_call or {"error": code, "message": f"the formula comes to {code}"}


def code_of(error: CellError) -> str:
    """What a cell with an error shows; one of spreadsheet programs that is not ours has its code as its message."""
    return error.message if error.message in CELL_ERRORS else str(error.code)


def _plain_value(value: Any) -> Any:
    inner = value.get("value") if isinstance(value, Mapping) and "value" in value else value
    return {"error": inner["error"]} if isinstance(inner, Mapping) else "" if inner is None else inner


def as_text(cell: Scalar) -> str:
    """One cell for people: dates in ISO form, numbers with at most 10 significant digits."""
    match cell:
        case None:
            return ""
        case bool():
            return str(cell).upper()
        case float():
            return f"{cell:,.10g}"
        case CellError():
            return code_of(cell)
        case datetime():
            return cell.isoformat(sep=" ", timespec="seconds")
        case _:
            return printable(str(cell))


def as_csv(cells: Cells) -> str:
    """The cells as CSV. Text that a spreadsheet would take for a formula gets an apostrophe before it.

    >>> as_csv(Cells([["=1+1", -1.5, None]]))
    "'=1+1,-1.5,\\n"
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in [cells.header, *cells.rows] if cells.header is not None else cells.rows:
        writer.writerow([_plain(cell) for cell in row])
    return out.getvalue()


def plain_table(*, show_header: bool = False) -> Table:
    """An empty table without lines."""
    from rich.table import Table  # rich is loaded only for what it prints

    return Table(show_header=show_header, box=None, pad_edge=False, header_style="bold")


def print_table(table: Table, *, markup: bool = False) -> None:
    """Print a table as wide as the terminal; into a file or a pipe each of its rows whole, in one line of its own.

    A path or a reason that is broken in the middle could be neither copied nor found with a search.
    """
    from rich.console import Console

    console = Console(markup=markup, highlight=False)
    if console.is_terminal:
        console.print(table)
        return
    written = io.StringIO()
    width = None if "COLUMNS" in os.environ else _WHOLE
    Console(markup=markup, highlight=False, file=written, width=width).print(table)
    echo("\n".join(line.rstrip() for line in written.getvalue().splitlines()))


def table_of(cells: Cells) -> Table:
    """The cells of a table, numbers to the right."""
    from rich.text import Text

    table = plain_table(show_header=cells.header is not None)
    width = len(cells.rows[0]) if cells.rows else len(cells.header or ())
    for position in range(width):
        numeric = any(isinstance(row[position], float | int) for row in cells.rows)
        name = cells.header[position] if cells.header is not None else ""
        table.add_column(Text(printable(name)), justify="right" if numeric else "left", overflow="fold")
    for row in cells.rows:
        table.add_row(*(cell_text(cell) for cell in row))
    return table


def cell_text(cell: Scalar) -> Text:
    """One cell; errors stand out."""
    from rich.text import Text

    return Text(as_text(cell), style="red" if isinstance(cell, CellError) else "")


def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    echo(escaped(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()))


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal that a command works, as long as the block runs; the function shows another text."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(printable(text))) as status:
        yield lambda other: status.update(Text(printable(other)))


def check_ending(path: Path, ending: str) -> None:
    """Raise `AddinError` where a file's name does not end as its content needs it."""
    if path.suffix.lower() != ending:
        raise AddinError(f"{path}: the name of this file must end in {ending}")


def write_file(path: Path, content: bytes) -> None:
    """Write a file; raises `AddinError` where that fails, and then leaves no part of a new file."""
    is_new = not os.path.lexists(path)
    try:
        path.write_bytes(content)
    except (OSError, ValueError) as error:
        if is_new:
            with suppress(OSError, ValueError):
                path.unlink()
        raise AddinError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from None


def counted(count: int, what: str, several: str = "") -> str:
    """A number of things in words.

    >>> counted(1, "formula"), counted(1_200, "formula")
    ('1 formula', '1,200 formulas')
    """
    return f"1 {what}" if count == 1 else f"{count:,} {several or f'{what}s'}"


def requests_text(count: int) -> str:
    """A number of requests in words.

    >>> requests_text(1), requests_text(1_200)
    ('1 request', '1,200 requests')
    """
    return counted(count, "request")


def _cell(value: Any, kind: str | None) -> Scalar:
    if isinstance(value, Mapping):
        if "error" in value:
            code = value["error"]
            return CellError(ErrorCode(code), value["message"]) if code in _OURS else CellError(ErrorCode.NA, code)
        return _cell(value["value"], value.get("type"))
    if kind in ("date", "datetime") and value is not None:
        moment = datetime(EPOCH.year, EPOCH.month, EPOCH.day) + timedelta(days=value)  # noqa: DTZ001 - naive UTC
        return moment.date() if kind == "date" else moment
    return value  # type: ignore[no-any-return]  # JSON's own scalars


def csv_text(text: str) -> str:
    """A text as a cell of a CSV file; one that a spreadsheet would take for a formula gets an apostrophe before it."""
    # A lone carriage return is quoted by no writer and ends a line for many readers.
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{lines}" if _is_like_formula(text) else lines


def _plain(cell: Scalar) -> str | float | None:
    match cell:
        case str():
            return csv_text(cell)
        case bool():
            return str(cell).upper()
        case date() | CellError():
            return as_text(cell)
        case _:
            return cell


def _is_like_formula(text: str) -> bool:
    """Return whether a spreadsheet program might evaluate it: some skip what is blank or invisible before it."""
    if text[:1] in ("\t", "\r", "\n"):
        return True
    first = next((char for char in text if not char.isspace() and unicodedata.category(char)[0] != "C"), "")
    return unicodedata.normalize("NFKC", first)[:1] in _FORMULA_STARTS if first else False


def _age(age_s: float) -> str:
    for unit, seconds in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if age_s >= 2 * seconds:
            return f"{age_s / seconds:.0f} {unit}"
    return f"{age_s:.0f} s"
