"""Rows and records out of files, each with its line; what cannot be read is refused with file and line."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dataservice.server.errors import ImportRefusedError

MAX_LINE_BYTES = 8 * 2**20
"""A post's whole text fits many times; a file without line ends is refused before it fills the memory."""

_WHITE_SPACE = re.compile(r"[ \t\r\n]*")

SHOWN_CHARACTERS = 80
"""Enough of a wrong value to find it by."""

OnBytes = Callable[[int], None]
"""Called with the number of further bytes read."""


@dataclass(frozen=True)
class Place:
    """The place of a row, for the message that refuses it."""

    file: Path
    line: int

    def refuse(self, problem: str) -> ImportRefusedError:
        """The error to raise."""
        return ImportRefusedError(self.file, self.line, problem)


def shown(value: Any) -> str:
    """A wrong value in a message: quoted, and short."""
    return repr(str(value)[:SHOWN_CHARACTERS])


def lines(path: Path, on_bytes: OnBytes) -> Iterator[tuple[Place, str]]:
    """The lines of a UTF-8 file with their ends; a byte order mark, as Excel writes it, is skipped."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                on_bytes(len(line))
                place = Place(path, number)
                yield place, _decoded(line, place)
    except OSError as error:
        raise ImportRefusedError(path, None, f"cannot be read: {error.strerror}") from error


def csv_table(
    path: Path, on_bytes: OnBytes, *, required: set[str], forbidden: set[str] | None = None, closed: bool = False
) -> Iterator[tuple[Place, dict[str, str]]]:
    """The rows of a CSV file by the columns of its header; `closed` refuses columns that are not required."""
    rows = _csv_rows(path, on_bytes)
    place, header = next(rows, (Place(path, 1), []))
    if problem := _header_problem(header, required, forbidden or set(), closed=closed):
        raise place.refuse(problem)
    for place, row in rows:
        if len(row) != len(header):
            raise place.refuse(f"has {len(row)} values where the header names {len(header)}")
        yield place, dict(zip(header, row, strict=True))


def _header_problem(header: list[str], required: set[str], forbidden: set[str], *, closed: bool) -> str | None:
    names = set(header)
    if missing := sorted(required - names):
        return f"the header lacks {', '.join(missing)}"
    if len(names) < len(header) or "" in names:
        return "the header names a column twice or leaves one unnamed"
    if computed := sorted(forbidden & names):
        return f"{', '.join(computed)} cannot be a column: it is worked out from other data"
    if closed and names != required:
        return f"the columns are {' and '.join(sorted(required))} only, not {', '.join(header)}"
    return None


def _csv_rows(path: Path, on_bytes: OnBytes) -> Iterator[tuple[Place, list[str]]]:
    place = Place(path, 1)

    def texts() -> Iterator[str]:
        nonlocal place
        for at, line in lines(path, on_bytes):
            place = at
            yield line

    try:
        for row in csv.reader(texts(), strict=True):
            if row:  # a blank line is no row
                yield place, row
    except csv.Error as error:
        raise place.refuse(f"is not CSV: {error}") from error


def json_lines(path: Path, on_bytes: OnBytes) -> Iterator[tuple[Place, str]]:
    """The JSON texts of a file with one on each line, blank lines left out."""
    for place, line in lines(path, on_bytes):
        if text := line.strip():
            yield place, text


def json_array(path: Path, on_bytes: OnBytes) -> Iterator[tuple[Place, str]]:
    """The JSON texts of the elements of an array, each with the line it begins on."""
    text = "".join(line for _, line in lines(path, on_bytes))
    at = _next(text, 0)
    if text[at : at + 1] != "[":
        raise ImportRefusedError(path, _line_of(text, at), "must hold one JSON array")
    decoder = json.JSONDecoder()
    at = _next(text, at + 1)
    while text[at : at + 1] != "]":
        place = Place(path, _line_of(text, at))
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            line = error.lineno if isinstance(error, json.JSONDecodeError) else place.line
            raise ImportRefusedError(path, line, "is not JSON") from error
        yield place, text[at:end]
        at = _after_element(text, end, path)
    behind = _next(text, at + 1)
    if behind != len(text):
        raise ImportRefusedError(path, _line_of(text, behind), "something follows the JSON array")


def _after_element(text: str, end: int, path: Path) -> int:
    at = _next(text, end)
    if text[at : at + 1] == ",":
        following = _next(text, at + 1)
        if text[following : following + 1] != "]":
            return following
    elif text[at : at + 1] == "]":
        return at
    raise ImportRefusedError(path, _line_of(text, at), "is not JSON: the array does not go on or end here")


def _next(text: str, at: int) -> int:
    """The place of the next character that is no white space."""
    found = _WHITE_SPACE.match(text, at)
    return found.end() if found else at


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _decoded(line: bytes, place: Place) -> str:
    if len(line) > MAX_LINE_BYTES:
        raise place.refuse(f"the line is longer than {MAX_LINE_BYTES // 2**20} MiB")
    if b"\0" in line:
        raise place.refuse("holds a NUL character: the file must be UTF-8 text")
    try:
        return line.decode("utf-8-sig" if place.line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise place.refuse(f"is not UTF-8 text (byte {error.start + 1} of the line)") from error
