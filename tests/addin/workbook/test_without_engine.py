"""The commands where the calculation engine is not installed: they say what they leave, and what to install."""

import json
import subprocess
from pathlib import Path

from xlsxwriter import Workbook

from addin.formulas.shown_cells import cell_reference
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.plan import referenced_value
from tests.addin.commands import environment
from tests.addin.workbook.books import values
from tests.embedded import EmbeddedService
from tests.forking import run_forked

WITHOUT = "tests.addin.workbook.without_engine:main"
INSTALL = "install the calculation engine: "
CELLS = {"A1": '_xldudf_DS_SIGNAL("us-cpi")', "A2": '_xldudf_DS_SIGNAL("us-cpi")*2', "A3": "A1*2"}


def _addin(service: EmbeddedService, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_forked(WITHOUT, arguments, environ=environment(folder, service), cwd=folder)


def _book(folder: Path) -> Path:
    path = folder / "book.xlsx"
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        for cell, formula in CELLS.items():
            sheet.write_formula(cell, f"={formula}", None, 300)
    return path


def test_refresh_computes_single_calls_and_says_how_to_have_the_rest(service: EmbeddedService, tmp_path: Path):
    book = _book(tmp_path)
    done = _addin(service, tmp_path, "refresh", "book.xlsx")
    assert done.returncode == 3
    assert INSTALL in done.stdout
    assert "left as they are: Sheet1!A2: our function stands inside another formula" in done.stderr
    one, *others = values(book, "Sheet1", "A1", "A2", "A3")
    assert one != 300
    assert others == [300, 300]
    told = json.loads(_addin(service, tmp_path, "refresh", "book.xlsx", "--json").stdout)
    assert (told["calculates"], told["recalculates_on_opening"]) == (False, True)


def test_cost_says_what_it_does_not_count(service: EmbeddedService, tmp_path: Path):
    _book(tmp_path)
    done = _addin(service, tmp_path, "cost", "book.xlsx")
    assert done.returncode == 0
    assert "Calls inside of longer formulas are not counted" in done.stdout
    assert INSTALL in done.stdout


def test_freeze_says_that_it_did_not_check_what_rests_on_calls(service: EmbeddedService, tmp_path: Path):
    _book(tmp_path)
    done = _addin(service, tmp_path, "freeze", "book.xlsx", "-o", "copy.xlsx")
    assert done.returncode == 0
    assert "not checked: 1 formula (Sheet1!A2) became what the book shows" in done.stderr
    assert INSTALL in done.stderr
    assert values(tmp_path / "copy.xlsx", "Sheet1", "A2") == [300]


def test_eval_works_out_one_call_and_says_what_a_longer_formula_needs(service: EmbeddedService, tmp_path: Path):
    assert _addin(service, tmp_path, "eval", '=DS.SIGNAL("us-cpi")').returncode == 0
    done = _addin(service, tmp_path, "eval", '=DS.SIGNAL("us-cpi")*2')
    assert done.returncode == 1
    assert INSTALL in done.stderr


def test_tables_of_the_template_follow_the_formulas_on_its_hidden_sheet(service: EmbeddedService, tmp_path: Path):
    assert _addin(service, tmp_path, "template", "-o", "book.xlsx").returncode == 0
    book = tmp_path / "book.xlsx"
    assert values(book, "Data", "I300") != [None], "a history of 330 days, longer than that of this service"
    done = _addin(service, tmp_path, "refresh", "book.xlsx")
    assert (done.returncode, done.stderr) == (0, "")
    assert values(book, "Data", "I300") == [None]
    with Package(book) as package:
        opened = Book(package)
        for name in opened.sheet_names:
            sheet = opened.sheet(name)
            for spot, formula in sheet.formulas():
                if reference := cell_reference(formula.text):
                    shown = referenced_value(opened, reference, name)
                    assert (sheet.value(spot) or "") == (shown or ""), (name, spot)
        assert not opened.recalculates_on_load
