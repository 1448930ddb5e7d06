"""Books that are opened in the sheet, and copies of them that Excel, Calc and the command line can use."""

import re
import shutil
import zipfile
from datetime import date

import openpyxl
import pytest
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from openpyxl.workbook.defined_name import DefinedName

from addin.config.settings import Settings
from addin.formulas import Area
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.programs import refresh_with_libreoffice
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.template.data import DATA_SHEET
from dataservice.client import AsyncClient
from tests.addin.calc.plain_office import shown_without_us
from tests.addin.sheet.parts.pages import opened_sheet, sheet_server
from tests.addin.sheet.parts.readers import Place, by_libreoffice, by_openpyxl, by_pandas, by_sheetjs
from tests.addin.workbook.books import WHOLE_SHEET, make_book, values
from tests.attack.pages.sheet_books import other_parts_changed
from udfs import Session
from udfs.errors import CellError

pytestmark = pytest.mark.usefixtures("component")

CELLS = {
    "A1": "us-cpi",
    "A2": "sp-500",
    "B1": ("B1:B2", "=_xldudf_DS_SIGNAL(A1:A2)"),
    "D1": ("D1:D2", "=_xlfn.ANCHORARRAY(B1)"),
    "F1": "=SUM(B1:B2)*2",
    "G1": ("G1", '=_xldudf_DS_SIGNAL("nope")'),
    "H1": ("H1:I3", '=_xldudf_DS_SIGNAL_HISTORY("us-cpi","N2")'),
}


def formulas(path, sheet: str) -> dict[str, tuple[str, Area]]:
    with Package(path) as package:
        found = Book(package).sheet(sheet).formulas()
        return {f"{openpyxl.utils.get_column_letter(at[1])}{at[0]}": (each.text, each.area) for at, each in found}


def test_a_copy_has_the_formulas_as_excel_stores_them_and_all_values(chromium, service, tmp_path):
    book, copy = make_book(tmp_path / "book.xlsx", CELLS, **{"A sheet": {"A1": "='Sheet1'!A1"}}), tmp_path / "copy.xlsx"
    with sheet_server(service, tmp_path, book) as url, opened_sheet(chromium, url) as page:
        assert page.cell("D2")["value"] == page.cell("B2")["value"] > 0
        assert page.download(copy) == "book.xlsx"
        shown = [page.cell(cell)["value"] for cell in ("B1", "B2", "D1", "D2", "F1", "H2", "I3")]
    stored = formulas(copy, "Sheet1")
    assert stored["B1"] == ("_xldudf_DS_SIGNAL(A1:A2)", Area(1, 2, 2, 2))
    assert stored["D1"] == ("_xlfn.ANCHORARRAY(B1)", Area(1, 4, 2, 4))
    assert stored["F1"] == ("SUM(B1:B2)*2", Area(1, 6, 1, 6))
    assert values(copy, "Sheet1", "B1", "B2", "D1", "D2", "F1", "H2", "I3") == shown
    assert isinstance(values(copy, "Sheet1", "G1")[0], CellError)


def test_formulas_that_are_entered_are_stored_as_excel_stores_them(chromium, service, tmp_path):
    book, copy = make_book(tmp_path / "book.xlsx", {"A1": "us-cpi", "A2": "sp-500", "E1": 3}), tmp_path / "copy.xlsx"
    entered = {
        "B1": "=DS.SIGNAL(A1:A2)",
        "C1": "=DS.SIGNAL(A1)",
        "D1": "=SUM(LEN(A1:A2))",
        "F1": "=SUM(E1:E9)",
        "G1": "=IFNA(1/0,2)",
        "H1": "=1+",
        "I1": "'=1+1",
        "J1": "2026-06-30",
        "K1": "TRUE",
    }
    with sheet_server(service, tmp_path, book) as url, opened_sheet(chromium, url) as page:
        page.put(entered)
        page.download(copy)
        shown = page.values("B1", "B2", "C1", "D1", "F1", "J1", "K1")
    stored = formulas(copy, "Sheet1")
    assert stored["B1"] == ("_xldudf_DS_SIGNAL(A1:A2)", Area(1, 2, 2, 2))
    assert {cell: text for cell, (text, _) in stored.items() if cell != "B1"} == {
        "C1": "_xldudf_DS_SIGNAL(A1)",
        "D1": "SUM(LEN(A1:A2))",
        "F1": "SUM(E1:E9)",
        "G1": "_xlfn.IFNA(1/0,2)",
    }
    assert values(copy, "Sheet1", "B1", "B2", "C1", "D1", "F1", "J1", "K1") == shown
    assert values(copy, "Sheet1", "H1", "I1") == ["=1+", "=1+1"], "what is no formula is text"
    with zipfile.ZipFile(copy) as package:
        sheet = package.read("xl/worksheets/sheet1.xml").decode()
        assert "xl/metadata.xml" in package.namelist()
    marked = [cell for cell in entered if "cm=" in re.search(rf'<c r="{cell}"[^>]*>', sheet)[0]]
    assert marked == ["B1", "D1"], "the others have one value, and are no arrays"


def test_defined_names_become_the_cells_and_computations_that_they_stand_for_and_stay_in_the_file(
    chromium, service, tmp_path
):
    cells = {
        "A1": "us-cpi",
        "B1": "=_xldudf_DS_SIGNAL(slug)",
        "B2": "=Rate*2",
        "B3": "=SUM(Both)",
        "C1": '="slug "&slug',
    }
    book = openpyxl.load_workbook(make_book(tmp_path / "book.xlsx", cells))
    for name, text in {"slug": "Sheet1!$A$1", "Rate": "DS.SIGNAL(slug)", "Both": "Sheet1!$B$1:$B$2"}.items():
        book.defined_names[name] = DefinedName(name, attr_text=text)
    book.save(tmp_path / "book.xlsx")
    with sheet_server(service, tmp_path, tmp_path / "book.xlsx") as url, opened_sheet(chromium, url) as page:
        rate, twice, both, text = page.values("B1", "B2", "B3", "C1")
        page.download(tmp_path / "copy.xlsx")
    assert (twice, both, text) == (rate * 2, rate * 3, "slug us-cpi")
    stored = {cell: each[0] for cell, each in formulas(tmp_path / "copy.xlsx", "Sheet1").items()}
    assert (stored["B1"], stored["B2"], stored["B3"]) == ("_xldudf_DS_SIGNAL(slug)", "Rate*2", "SUM(Both)")
    assert values(tmp_path / "copy.xlsx", "Sheet1", "B2", "B3", "C1") == [twice, both, text]


def test_a_book_that_counts_days_from_1904_shows_and_keeps_its_days(chromium, service, tmp_path):
    book = openpyxl.Workbook()
    book.epoch = CALENDAR_MAC_1904
    sheet = book.active
    sheet.title, sheet["A1"], sheet["A2"] = "Sheet1", date(2026, 6, 30), 100
    sheet["B1"], sheet["B2"] = (
        '=_xldudf_DS_SIGNAL("us-cpi","value",A1)',
        '=_xldudf_DS_SIGNAL("us-cpi","value","2026-06-30")',
    )
    sheet["A1"].number_format, sheet["A2"].number_format = "yyyy-mm-dd", '0.0 "days"'
    sheet["A3"], sheet["A3"].number_format = 0.25, "[h]:mm"
    sheet["A4"], sheet["A4"].number_format = date(2026, 1, 1), "yyyy-mm-dd"
    book.save(tmp_path / "book.xlsx")
    with sheet_server(service, tmp_path, tmp_path / "book.xlsx") as url, opened_sheet(chromium, url) as page:
        assert page.cell("A1")["shown"] == "2026-06-30"
        assert page.cell("A3")["value"] == 0.25, "how long something took is no day"
        page.put({"A4": "2026-06-30"})
        assert page.cell("B1")["value"] == page.cell("B2")["value"] > 0
        page.download(tmp_path / "copy.xlsx")
    with Package(tmp_path / "copy.xlsx") as package:
        assert Book(package).counts_from_1904
    days = (date(2026, 6, 30) - date(1904, 1, 1)).days
    assert values(tmp_path / "copy.xlsx", "Sheet1", "A1", "A2", "A3", "A4") == [days, 100, 0.25, days]


async def test_a_copy_of_the_template_is_refreshed_and_opened_by_libreoffice_with_the_same_values(
    chromium, service, project, tmp_path, monkeypatch
):
    if shutil.which("soffice") is None:
        pytest.skip("LibreOffice is not installed here")
    copy, by_us, by_office = tmp_path / "copy.xlsx", tmp_path / "us.xlsx", tmp_path / "office.xlsx"
    with (
        sheet_server(service, tmp_path, project / "workbook_template.xlsx") as url,
        opened_sheet(chromium, url) as page,
    ):
        page.download(copy)
    shown = shown_without_us(copy, tmp_path)
    assert [name for name, rows in shown.items() if any("#NAME?" in row for row in rows)] in ([], [DATA_SHEET])
    async with AsyncClient(service.url, service.key) as client:
        report = await refresh_book(Session(client), copy, by_us)
    assert (report.errors, report.skipped) == ([], [])
    monkeypatch.setenv("DATA_SERVICE_API_KEY", service.key)
    refresh_with_libreoffice(copy, by_office, Settings(url=service.url, cache_dir=tmp_path / "office"))
    assert different(copy, by_us) == []
    assert different(copy, by_office) == []


def test_a_copy_of_the_template_is_the_template_with_the_changed_cells_and_every_program_reads_it(
    chromium, service, project, tmp_path
):
    template, copy = project / "workbook_template.xlsx", tmp_path / "copy.xlsx"
    with sheet_server(service, tmp_path, template) as url, opened_sheet(chromium, url) as page:
        page.put({"B6": "us-cpi"}, sheet="Dashboard")
        assert page.cell("C6", sheet="Dashboard")["value"] == "US consumer price index (made up)"
        assert page.download(copy) == template.name
    assert other_parts_changed(template, copy) == []
    place = Place(copy, "Dashboard", "C6")
    for read in (by_openpyxl, by_pandas, by_sheetjs, by_libreoffice):
        if (found := read([place])) is not None:
            assert found[place] == "US consumer price index (made up)", read.__name__


def test_what_other_parts_of_the_file_rely_on_cannot_be_moved_and_what_only_the_page_shows_is_told(
    chromium, service, project, tmp_path
):
    template = project / "workbook_template.xlsx"
    with sheet_server(service, tmp_path, template) as url, opened_sheet(chromium, url) as page:
        for command, more in {
            "REMOVE_COLUMNS_ROWS": {"dimension": "ROW", "elements": [2]},
            "ADD_COLUMNS_ROWS": {"dimension": "COL", "base": 1, "quantity": 1, "position": "before"},
            "RENAME_SHEET": {"newName": "Other", "oldName": "Dashboard"},
            "DELETE_SHEET": {},
        }.items():
            sent = {"sheetId": "Dashboard", "sheetName": "Dashboard", **more}
            done = page.tab.evaluate(
                "([type, sent]) => sheet.book.model.dispatch(type, sent).isSuccessful", [command, sent]
            )
            assert not done, command
            page.sees("Do that in Excel or LibreOffice Calc")
        wider = {"sheetId": "Dashboard", "dimension": "COL", "elements": [1], "size": 300}
        assert page.tab.evaluate("(sent) => sheet.book.model.dispatch('RESIZE_COLUMNS_ROWS', sent).isSuccessful", wider)
        page.download(tmp_path / "copy.xlsx")
        page.sees("The copy will not have what only this page shows: 1 × width or height.")


def different(one, other) -> list:
    """The cells that show something else, but for what tells of the run itself."""
    found = []
    with Package(one) as first, Package(other) as second:
        expected, compared = Book(first), Book(second)
        for name in set(expected.sheet_names) - {"Start", DATA_SHEET}:
            for spot in expected.sheet(name).spots_in(WHOLE_SHEET):
                pair = expected.sheet(name).value(spot), compared.sheet(name).value(spot)
                near = pair[0] == pytest.approx(pair[1], rel=1e-9) if isinstance(pair[0], float) else False
                if not near and (pair[0] or "") != (pair[1] or ""):
                    found.append((name, spot, *pair))
    return found


def test_another_book_is_opened_from_the_page(chromium, service, tmp_path):
    book = make_book(tmp_path / "mine.xlsx", {"A1": "sp-500", "B1": "=_xldudf_DS_SIGNAL(A1)"}, Second={"A1": 1})
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        page.open_file(book)
        page.until("sheet.book.name === 'mine.xlsx' && document.querySelector('.o-spreadsheet')")
        assert page.cell("B1")["value"] > 0
        (tmp_path / "broken.xlsx").write_text("no book")
        page.open_file(tmp_path / "broken.xlsx")
        page.sees("broken.xlsx is not an .xlsx or .xlsm workbook")
        assert page.text("#message").startswith("broken.xlsx is not"), "in the backend's own words"
        assert page.cell("B1")["value"] > 0, "the book that was open stays open"
        page.complaints.clear()  # the browser's own line about the refused request


def test_the_button_of_a_book_refreshes_and_its_links_lead_to_cells(chromium, service, project, tmp_path):
    template = project / "workbook_template.xlsx"
    with sheet_server(service, tmp_path, template) as url, opened_sheet(chromium, url) as page:
        posts = page.posts()
        page.select("B4")
        page.until(f"DataServiceAddin.totals.batches > {posts}")
        page.tab.evaluate("""() => {
          const { urlRegistry } = o_spreadsheet.registries;
          urlRegistry.get("place_in_book").open("#'Dashboard'!C7", { model: sheet.book.model });
        }""")
        active = "sheet.book.model.getters.getActivePosition()"
        assert page.tab.evaluate(active) == {"sheetId": "Dashboard", "col": 2, "row": 6}
