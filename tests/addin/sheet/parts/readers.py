"""Programs that read workbooks, asked for one cell of each: a copy has to be valid for all of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openpyxl
import pandas as pd

from addin.calc.soffice import Prepared, prepared
from addin.errors import AddinError

NODE = Path(__file__).parents[3] / "node"
OFFICE_BATCH = 10
OFFICE_S = 600
"""So long a batch may take on a busy machine."""


@dataclass(frozen=True, slots=True)
class Place:
    """A cell of a file."""

    path: Path
    sheet: str
    cell: str


Answers = Mapping[Place, Any]
"""What a reader found in each place; an exception where it could not read the file."""


def by_openpyxl(places: Sequence[Place]) -> Answers:
    return {place: _tried(_in_openpyxl, place) for place in places}


def by_pandas(places: Sequence[Place]) -> Answers:
    return {place: _tried(_in_pandas, place) for place in places}


def by_sheetjs(places: Sequence[Place]) -> Answers | None:
    """None where SheetJS is not installed here."""
    if shutil.which("node") is None or not (NODE / "node_modules/xlsx").is_dir():
        return None
    asked = "\n".join(json.dumps([str(place.path), place.sheet, place.cell]) for place in places)
    done = subprocess.run(
        ["node", str(NODE / "read_workbooks.js")], input=asked, capture_output=True, text=True, check=True, timeout=900
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    return {
        place: ValueError(each["error"]) if "error" in each else each["value"]
        for place, each in zip(places, told, strict=True)
    }


def by_libreoffice(places: Sequence[Place]) -> Answers | None:
    """None where LibreOffice is not installed here. It reads the files, and what it writes of them is looked at."""
    if shutil.which("soffice") is None:
        return None
    found: dict[Place, Any] = {}
    with TemporaryDirectory(prefix="office-") as name:
        for start in range(0, len(places), OFFICE_BATCH):
            batch = places[start : start + OFFICE_BATCH]
            into = Path(name) / str(start)
            _convert_each([place.path for place in batch], into, Path(name))
            for place in batch:
                written = into / f"{place.path.stem}.xlsx"
                found[place] = _tried(_in_openpyxl, Place(written, place.sheet, place.cell))
    return found


def _convert_each(paths: Sequence[Path], into: Path, folder: Path) -> None:
    """Convert all at once; where LibreOffice breaks off, one by one, so that one file spoils no other."""
    try:
        _convert(paths, into, folder / "profile")
    except AddinError:
        for number, path in enumerate(paths):
            with suppress(AddinError):
                _convert([path], into, folder / f"profile {number}")


def _convert(paths: Sequence[Path], into: Path, profile: Path) -> None:
    with prepared() as office:
        command = [part for part in office.command if "UserInstallation" not in part]
        plain = Prepared((*command, f"-env:UserInstallation={profile.as_uri()}"), office.environment, office.pipe)
        plain.run(["--headless", "--convert-to", "xlsx", "--outdir", str(into), *map(str, paths)], timeout_s=OFFICE_S)


def _tried(read: Any, place: Place) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read(place)
        except Exception as error:  # noqa: BLE001 - whatever a reader raises is what it says of the file
            return error


def _in_openpyxl(place: Place) -> Any:
    book = openpyxl.load_workbook(place.path, data_only=True)
    return book[place.sheet][place.cell].value


def _in_pandas(place: Place) -> Any:
    frame = pd.read_excel(place.path, sheet_name=place.sheet, header=None)
    row, column = openpyxl.utils.cell.coordinate_to_tuple(place.cell)
    return frame.iat[row - 1, column - 1]
