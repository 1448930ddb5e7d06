"""Five programs that read workbooks: openpyxl, calamine, SheetJS, ExcelJS and LibreOffice, each by its own code."""

from __future__ import annotations

import csv
import json
import math
import shutil
import subprocess
import warnings
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from io import BytesIO
from pathlib import Path
from select import select
from types import TracebackType
from typing import Any, Self, TypeAlias

NODE = Path(__file__).resolve().parents[2] / "node"
Shown: TypeAlias = Mapping[str, Mapping[tuple[int, int], Any]]
"""Of each sheet the cells that show something: numbers as numbers, everything else as text."""

SCRIPT = "read_books.mjs"
ENDS_WITHIN_S = 60.0
"""A small book is read in milliseconds, also on a busy machine."""

CSV = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1"
"""Every sheet to a file of its own, in UTF-8, values as they are and not as they are formatted."""

_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - workbooks know no time zones


class Readers:
    """The programs that are here; a context manager that ends the one that stays open."""

    def __init__(self) -> None:
        self._node: subprocess.Popen[str] | None = None
        self._start()

    def _start(self) -> None:
        if shutil.which("node") and (NODE / "node_modules/xlsx").is_dir() and (NODE / "node_modules/exceljs").is_dir():
            self._node = subprocess.Popen(
                ["node", NODE / SCRIPT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )

    def read(self, path: Path) -> dict[str, Shown | None]:
        """What each program shows; None for one that does not read the file. LibreOffice reads many at once."""
        return {"openpyxl": by_openpyxl(path), "calamine": by_calamine(path), **self._by_node(path)}

    def _by_node(self, path: Path) -> dict[str, Shown | None]:
        if self._node is None or self._node.stdin is None or self._node.stdout is None:
            return {}
        self._node.stdin.write(f"{path}\n")
        self._node.stdin.flush()
        if not select([self._node.stdout], [], [], ENDS_WITHIN_S)[0]:
            self._node.kill()  # a file on which one of them never ends shows nothing
            self._node.communicate()
            self._start()
            return {"sheetjs": None, "exceljs": None}
        answer = json.loads(self._node.stdout.readline() or "{}")
        found: dict[str, Shown | None] = {}
        for name, reading in answer.items():
            sheets = reading.get("sheets")
            found[name] = (
                None
                if sheets is None
                else {
                    sheet: {
                        _spot(where): _plain(value)
                        for where, value in cells.items()
                        if value is not None and _spot(where)
                    }
                    for sheet, cells in sheets.items()
                }
            )
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        if self._node is not None:
            self._node.terminate()
            self._node.communicate()


def by_openpyxl(path: Path) -> Shown | None:
    """What openpyxl shows."""
    import openpyxl

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what it leaves out; only what it shows counts
            book = openpyxl.load_workbook(BytesIO(path.read_bytes()), data_only=True)
        return {
            sheet.title: {
                (cell.row, cell.column): _plain(cell.value)
                for row in sheet.iter_rows()
                for cell in row
                if cell.value is not None
            }
            for sheet in book.worksheets
        }
    except Exception:  # noqa: BLE001 - whatever stops it, it shows nothing
        return None


def by_calamine(path: Path) -> Shown | None:
    """What calamine shows."""
    import python_calamine

    try:
        book = python_calamine.CalamineWorkbook.from_path(str(path))
        found = {}
        for name in book.sheet_names:
            sheet = book.get_sheet_by_name(name)
            top, left = sheet.start or (0, 0)
            rows = sheet.to_python(skip_empty_area=True)
            found[name] = {
                (row, column): _plain(value)
                for row, values in enumerate(rows, top + 1)
                for column, value in enumerate(values, left + 1)
                if value != ""
            }
        return found
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return None


def by_libreoffice(paths: Sequence[Path], folder: Path) -> list[Shown | None]:
    """What LibreOffice shows of each book; it is started once for all of them."""
    out = folder / "csv"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    command = ["soffice", f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless", "--convert-to", CSV]
    subprocess.run([*command, "--outdir", out, *paths], capture_output=True, check=False, timeout=600)
    found: list[Shown | None] = []
    for path in paths:
        files = list(out.glob(f"{path.stem}-*.csv"))
        found.append({file.stem.removeprefix(f"{path.stem}-"): _csv(file) for file in files} or None)
    return found


def _csv(file: Path) -> dict[tuple[int, int], Any]:
    with file.open(encoding="utf-8", newline="") as lines:
        return {
            (row, column): _number(text)
            for row, values in enumerate(csv.reader(lines), 1)
            for column, text in enumerate(values, 1)
            if text != ""
        }


def _number(text: str) -> Any:
    try:
        return _plain(float(text))
    except ValueError:
        return text


def _spot(where: str) -> tuple[int, int] | None:
    letters = where.rstrip("0123456789")
    column = 0
    if not letters.isalpha() or letters == where:
        return None
    for letter in letters:
        column = column * 26 + ord(letter.upper()) - 64
    return int(where[len(letters) :]), column


def _plain(value: Any) -> Any:
    match value:
        case bool():
            return str(value).upper()
        case int() | float() if not math.isfinite(value):
            return str(value)
        case int() | float():
            return round(float(value), 14 - math.floor(math.log10(abs(value)))) if value else 0.0
        case datetime():
            return _plain((value - _EPOCH) / timedelta(days=1))
        case date():
            return _plain(float((datetime.combine(value, time()) - _EPOCH).days))
        case {"date": milliseconds}:
            return _plain(25_569 + milliseconds / 86_400_000)
        case {"error": text}:
            return str(text)
        case time() | timedelta():
            return str(value)
        case _:
            return value
