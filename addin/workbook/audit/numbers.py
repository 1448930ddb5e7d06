"""The lines about a book: each formula with its value, and the answers of the service that this rests on."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from addin.formulas import Area
from addin.workbook.audit.evidence.exchanges import Behind, Exchange
from addin.workbook.audit.results import CellResult, Rows
from addin.workbook.ooxml.positions import Spot, address, area_of, spot_of
from addin.workbook.ooxml.stored import same_value
from dataservice.client import Answer, Resource, VintagesResource
from dataservice.client.cache.codec import digest
from dataservice.client.contract import first_request
from udfs import Call
from udfs.cells import Scalar
from udfs.errors import CellError, ErrorCode

FORMAT = 2
"""The version of these lines."""


@dataclass(slots=True)
class Describing:
    """Makes lines as of one moment; the hash of an answer that many cells share is worked out once."""

    book: str
    """The name of the book in the lines."""
    namespace: str
    version: str
    at: float
    behind: Callable[[Resource[Any], float], Behind] | None = None
    """What finds the requests that an answer rests on."""
    asked: list[Exchange] = field(default_factory=list)
    """The requests that the lines name, by their places in it."""
    _hashes: dict[tuple[Resource[Any], float], str] = field(default_factory=dict)
    _requests: dict[tuple[Resource[Any], float], dict[str, Any]] = field(default_factory=dict)
    _places: dict[Exchange, int] = field(default_factory=dict)

    def number(self, sheet: str, spot: Spot, result: CellResult) -> dict[str, Any]:
        """The line of one formula."""
        sources = [self._source(each, answer) for each, answer in result.answers.items() if _is_source(each)]
        return self.line(sheet, spot, result, sources)

    def line(self, sheet: str, spot: Spot, result: CellResult, sources: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The line of one formula whose sources are described already."""
        is_table = not result.area.is_cell
        return {
            "book": self.book,
            "sheet": sheet,
            "cell": address(spot),
            **({"area": str(result.area)} if is_table else {}),
            "formula": typed_form(result.formula, self.namespace),
            "value": written(result.rows) if is_table else written_cell(result.rows[0][0]),
            "standing": result.standing,
            **({"why": result.why} if result.why else {}),
            **({"calls": [call_written(each) for each in result.calls]} if result.calls else {}),
            **({"rests_on": list(result.rests_on)} if result.rests_on else {}),
            "sources": sources,
            "at": moment(self.at),
            "version": self.version,
        }

    def _source(self, resource: Resource[Any], answer: Answer[Any]) -> dict[str, Any]:
        key = resource, answer.fetched_at
        if key not in self._hashes:
            self._hashes[key] = digest(answer.value)
        if isinstance(resource, VintagesResource):  # no request answers it, only what earlier answers showed
            name, entry = f"archive of {resource.slug}", f"archive/{resource.slug}"
        else:
            name, entry = first_request(resource).path, first_request(resource).entry
        if key not in self._requests:
            self._requests[key] = self._named_requests(resource, answer.fetched_at)
        return {
            "resource": name,
            "cache_entry": entry,
            "fetched_at": moment(answer.fetched_at),
            "age_s": round(answer.age_s(self.at), 3),
            "sha256": self._hashes[key],
            **self._requests[key],
        }

    def _named_requests(self, resource: Resource[Any], fetched_at: float) -> dict[str, Any]:
        """The requests that were really sent, by their places in the list; and whether some were not recorded."""
        if self.behind is None or isinstance(resource, VintagesResource):
            return {}
        found = self.behind(resource, fetched_at)
        return {
            "requests": [self.place_of(each) for each in found.exchanges],
            **({} if found.is_whole else {"unrecorded": True}),
        }

    def place_of(self, exchange: Exchange) -> int:
        """The place of a request among those that the lines name."""
        if exchange not in self._places:
            self._places[exchange] = len(self.asked)
            self.asked.append(exchange)
        return self._places[exchange]


def call_written(call: Call) -> list[Any]:
    """A call as JSON can express it: the function, and what each argument was."""
    return [call.function_id, *map(_argument, call.args)]


def _argument(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_argument(each) for each in value]
    return written_cell(value) if isinstance(value, str | float | int | None | date | CellError) else repr(value)


def _is_source(resource: Resource[Any]) -> bool:
    """Return whether values rest on its answer; others only tell what is known here, so that less is asked."""
    return resource.is_requested or isinstance(resource, VintagesResource)


def typed_form(formula: str, namespace: str) -> str:
    """A stored formula as it is typed.

    >>> typed_form('_xldudf_DS_SIGNAL("us-cpi")', "DS")
    '=DS.SIGNAL("us-cpi")'
    """
    text = formula.replace(f"_xldudf_{namespace}_", f"{namespace}.").replace("_xlfn.", "")
    if "_xldudf_" in text:  # Calc writes the names of functions that it does not know in small letters
        text = re.sub(rf"_xldudf_{re.escape(namespace)}_", f"{namespace}.", text, flags=re.IGNORECASE)
    return text if text.startswith("=") else f"={text}"


def moment(seconds: float) -> str:
    """A time as text, in UTC.

    >>> moment(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def name_of_book(path: Path, audit: Path) -> str:
    """Return how lines in the file `audit` name the book at `path`: from its folder, so that both may move together."""
    try:
        name = os.path.relpath(path.absolute(), audit.absolute().parent)
    except ValueError:  # on another drive
        name = str(path.absolute())
    return name.replace(os.sep, "/").encode(errors="backslashreplace").decode()


def written(rows: Rows) -> list[list[Any]]:
    """Rows of cells as JSON can express them."""
    return [[written_cell(cell) for cell in row] for row in rows]


def rows_of(number: Mapping[str, Any]) -> list[list[Any]]:
    """The values in a line, row by row, as they are written there."""
    value = number.get("value")
    return value if isinstance(value, list) else [[value]]


def place_of(number: Mapping[str, Any]) -> tuple[str, Spot, Area]:
    """The sheet, the cell and the area that a line is about; raises `WorkbookError` for what is none."""
    spot = spot_of(str(number.get("cell")), "the line")
    area = area_of(str(number.get("area", number.get("cell"))))
    return str(number.get("sheet")), spot, area or Area(*spot, *spot)


def read_back(value: Any) -> Scalar:
    """The cell that `written` made JSON of."""
    match value:
        case {"date": str(text)}:
            return date.fromisoformat(text)
        case {"datetime": str(text)}:
            return datetime.fromisoformat(text)
        case {"error": str(text)}:
            known = text in set(ErrorCode)
            return CellError(ErrorCode(text) if known else ErrorCode.NA, text)
        case _:
            return value  # type: ignore[no-any-return]  # JSON's own scalars


def holds(found: Scalar, value: Any) -> bool:
    """Return whether a cell in which `found` is stored holds the value of a line."""
    signed = read_back(value)
    if isinstance(signed, CellError):
        return isinstance(found, CellError) and found.message == signed.message
    return same_value(found, signed)


def begin_line(describing: Describing, *, by: str, source: str, service: str, numbers: int) -> dict[str, Any]:
    """Return what the first line of a block says beside the file's id."""
    return {
        "format": FORMAT,
        "book": describing.book,
        "by": by,
        "source": source,
        "service": service,
        "numbers": numbers,
        "at": moment(describing.at),
        "version": describing.version,
    }


def left_cells(notes: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """The cells that nobody vouches for, with the reasons."""
    return [{"cell": where, "why": why} for where, why in notes]


def written_cell(cell: Scalar) -> Any:
    """A cell as JSON can express it."""
    match cell:
        case datetime():
            return {"datetime": cell.isoformat()}
        case date():
            return {"date": cell.isoformat()}
        case CellError():
            # What is read from a file has the error's own text as its message.
            return {"error": cell.message if cell.message.startswith("#") else str(cell.code)}
        case _:
            return cell
