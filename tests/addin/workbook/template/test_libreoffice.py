"""The template in a LibreOffice that knows nothing of us: it shows the saved values."""

import csv
import shutil
from pathlib import Path

import openpyxl
import pytest

from addin.calc.soffice import Prepared, prepared
from addin.workbook.template.data import DATA_SHEET

ALL_SHEETS = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1"
"""Values as they are, not as they are shown."""

pytestmark = pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")


def test_calc_without_the_extension_shows_every_saved_value(project: Path, tmp_path: Path):
    book = project / "workbook_template.xlsx"
    profile = tmp_path / "profile"
    with prepared() as office:
        command = [part for part in office.command if "UserInstallation" not in part]
        plain = Prepared((*command, f"-env:UserInstallation={profile.as_uri()}"), office.environment, office.pipe)
        plain.run(["--headless", "--convert-to", ALL_SHEETS, "--outdir", str(tmp_path), str(book)])
    saved = openpyxl.load_workbook(book, data_only=True)
    for sheet in saved:
        if sheet.title == DATA_SHEET:
            continue
        with (tmp_path / f"{book.stem}-{sheet.title}.csv").open(encoding="utf-8", newline="") as file:
            shown = list(csv.reader(file))
        for cell in (cell for row in sheet.iter_rows() for cell in row if cell.value not in (None, "", " ")):
            text = shown[cell.row - 1][cell.column - 1]
            assert not text.startswith(("#", "Err:")), f"{sheet.title}!{cell.coordinate}"
            if isinstance(cell.value, str):
                assert text == cell.value.replace("\n", " ")
