"""The template in a window as people use it: in their language, saved and opened again, in an activated environment."""

import asyncio
import os
import shutil
import sys
import warnings
from pathlib import Path

import openpyxl
import pytest
from openpyxl.utils.datetime import to_excel

from addin.calc.extension import Extension
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.template.data import DATA_SHEET
from dataservice.client import AsyncClient
from tests.addin.backends import backend_of
from tests.addin.calc.office import running_office
from udfs import Session

OF_THE_MOMENT = {"Start", DATA_SHEET}
"""The sheets that tell of requests and ages. What else is on the hidden one is shown by the others."""


@pytest.fixture(scope="module")
def refreshed(sample_service, project, tmp_path_factory):
    """Return the template's cells after a refresh without any program: `{sheet: {(row, column): cell}}`."""
    book = tmp_path_factory.mktemp("template") / "refreshed.xlsx"

    async def refresh():
        async with AsyncClient(sample_service.url, sample_service.key) as client:
            await refresh_book(Session(client), project / "workbook_template.xlsx", book)

    asyncio.run(refresh())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # openpyxl reads no data bars
        sheets = openpyxl.load_workbook(book, data_only=True)
    return {
        sheet.title: {(c.row, c.column): c for row in sheet.iter_rows() for c in row if c.value not in (None, "")}
        for sheet in sheets
        if sheet.title not in OF_THE_MOMENT
    }


@pytest.fixture(scope="module")
def url(sample_service, tmp_path_factory):
    """Return the address of a backend."""
    with backend_of(sample_service, tmp_path_factory.mktemp("backend")) as backend:
        yield backend.url


def different(office, refreshed):
    """The cells that do not show what a refresh writes, dates in the form of the template; mostly none."""
    found = []
    for sheet, cells in refreshed.items():
        values = office.values(sheet)
        dates = [cell.coordinate for cell in cells.values() if cell.is_date]
        texts = dict(zip(dates, office.shown_texts(sheet, dates), strict=True))
        for (row, column), cell in cells.items():
            value, text = values[row - 1][column - 1], texts.get(cell.coordinate)
            if cell.is_date:
                is_same = text.startswith(f"{cell.value:%Y-%m-%d}") and _near(value, to_excel(cell.value))
            else:
                is_same = _near(value, cell.value)
            if not is_same:
                found.append((sheet, cell.coordinate, cell.value, value, text))
    return found


def _near(value, other):
    if isinstance(value, float) and isinstance(other, int | float):
        return value == pytest.approx(other, rel=1e-12)
    return value == other


def opened(office, book: Path):
    office.load_visible(book.as_uri())
    assert office.wait_for_values() == {}


@pytest.mark.parametrize("locale", ["de-DE", "fr-FR", "ja-JP"])
def test_the_template_shows_its_values_and_dates_in_every_language(locale, refreshed, url, project, tmp_path, display):
    book = Path(shutil.copy(project / "workbook_template.xlsx", tmp_path / "book.xlsx"))
    with running_office(Extension(url=url), display=display, locale=locale) as office:
        opened(office, book)
        assert different(office, refreshed) == []


def test_with_this_environments_python_first_on_the_path_it_shows_the_same_also_saved_and_opened_again(
    refreshed, url, project, tmp_path, display
):
    folder = Path(sys.executable).parent
    activated = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "VIRTUAL_ENV": str(folder.parent)}
    book = Path(shutil.copy(project / "workbook_template.xlsx", tmp_path / "book.xlsx"))
    with running_office(Extension(url=url), display=display, environ=activated) as office:
        opened(office, book)
        assert different(office, refreshed) == []
        for name, kind in (("saved.xlsx", "Calc MS Excel 2007 XML"), ("saved.ods", "calc8")):
            office.store_as((tmp_path / name).as_uri(), kind)
            office.close()
            opened(office, tmp_path / name)
            assert different(office, refreshed) == [], name
