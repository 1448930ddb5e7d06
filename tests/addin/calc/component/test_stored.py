"""A document's stored numbers: worked out at loading, also where LibreOffice is set to believe what a file stores."""

import shutil
from pathlib import Path

import openpyxl
import pytest
import xlsxwriter

from addin.calc.extension import Extension
from addin.calc.soffice import NEVER, prepared
from tests.addin.calc.counting import counted_backend, unused_url
from tests.addin.calc.office import running_office

OLD = 10.0
"""What the file stores for every cell."""


@pytest.fixture
def book(tmp_path) -> Path:
    """Return a file with a stored number in every cell, as another program saved it."""
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as written:
        sheet, other, locked = (written.add_worksheet(name) for name in ("S", "Other", "Locked"))
        written.define_name("Cpi", '=_xldudf_DS_SIGNAL("us-cpi")')
        sheet.write_formula("A1", '=_xldudf_DS_SIGNAL("us-cpi")', None, OLD)
        sheet.write_formula("A2", "=A1*2", None, OLD)
        sheet.write_formula("A3", "=Cpi+0", None, OLD)
        sheet.write_formula("A4", "=1+1", None, OLD)
        sheet.write_formula("A5", '="DS.SIGNAL(1)"', None, "text")
        sheet.write_dynamic_array_formula("C1:D4", '=_xldudf_DS_SIGNAL_HISTORY("us-cpi","N3")')
        sheet.write_formula("A6", "=Other!A1+Locked!A1", None, OLD)
        other.write_formula("A1", '=ROUND(_xldudf_DS_SIGNAL("us-cpi"),0)', None, OLD)
        locked.write_formula("A1", '=_xldudf_DS_SIGNAL("us-cpi")', None, OLD)
        locked.protect()
    return path


@pytest.fixture
def backend(service, tmp_path):
    with counted_backend(service, tmp_path) as running:
        yield running


def test_in_a_window_every_cell_of_ours_and_what_refers_to_it_is_worked_out(book, backend, display):
    with running_office(Extension(url=backend.url), display=display, recalculate=NEVER) as office:
        office.load_visible(book.as_uri())
        assert office.wait_for_values() == {}
        cpi = office.wait_until_shown("A1", "#N/A")
        assert office.show("A1:A4") == [[cpi], [2 * cpi], [cpi], [OLD]], "only what rests on ours is worked out"
        assert office.wait_until_shown("A6", "#N/A") == pytest.approx(round(cpi) + cpi)
        assert office.formula("A1") == '=DS.SIGNAL("us-cpi")'
        assert (office.is_modified(), office.undo_titles()) == (False, [])


def test_without_a_window_a_document_has_its_values_when_it_is_loaded(book, backend):
    with running_office(Extension(url=backend.url), recalculate=NEVER) as office:
        office.load_hidden(book.as_uri())
        (cpi,), *others = office.show("A1:A4")
        assert cpi != OLD
        assert others == [[2 * cpi], [cpi], [OLD]]
        assert backend.batches <= 3


def test_a_conversion_writes_what_is_true_now(book, backend, tmp_path):
    with prepared(Extension(url=backend.url), recalculate=NEVER) as office:
        office.run(["--headless", "--convert-to", "xlsx", "--outdir", str(tmp_path / "made"), str(book)])
    sheet = openpyxl.load_workbook(tmp_path / "made" / "book.xlsx", data_only=True)["S"]
    assert sheet["A1"].value not in (OLD, None)
    assert sheet["A2"].value == 2 * sheet["A1"].value
    assert sheet["A4"].value == OLD


def test_the_template_shows_no_stored_number_cold_and_warm(service, backend, project, tmp_path, display):
    for way in ("cold", "warm"):
        book = Path(shutil.copy(project / "workbook_template.xlsx", tmp_path / f"{way}.xlsx"))
        with running_office(Extension(url=backend.url), display=display, recalculate=NEVER) as office:
            office.load_visible(book.as_uri())
            assert office.wait_for_values() == {}, way
            assert office.wait_until_shown("A1", "#N/A", "Dashboard") is not None


def test_no_stored_number_is_shown_as_live_where_the_backend_is_away_and_cells_come_back_with_it(
    service, book, tmp_path, display
):
    url = unused_url()
    with running_office(Extension(url=url), display=display, recalculate=NEVER) as office:
        office.load_visible(book.as_uri())
        assert office.wait_until_shown("A1", OLD) == "#N/A"
        assert office.show("A2:A4") == [["#N/A"], ["#N/A"], [OLD]]
        with counted_backend(service, tmp_path, port=int(url.rpartition(":")[2])):
            assert isinstance(office.wait_until_shown("A1", "#N/A"), float)
            assert office.wait_for_values() == {}
            assert (office.is_modified(), office.undo_titles()) == (False, [])
