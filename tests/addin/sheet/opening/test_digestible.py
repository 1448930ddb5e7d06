"""Books that the component cannot read as they are, and formulas that it works out differently from Excel."""

import re
import zipfile

import openpyxl
import pytest
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Font, PatternFill

from addin.sheet.files import blank_book, book_file
from addin.sheet.opening.opened import opened_book
from addin.workbook.ooxml.errors import WorkbookError
from tests.addin.sheet.parts.pages import opened_sheet, sheet_server
from tests.addin.workbook.books import make_book, values
from tests.attack.pages.sheet_books import BOOKS, other_parts_changed

pytestmark = pytest.mark.usefixtures("component")


def rewritten(path, **changes):
    """Replace text in the parts whose names end so; a part's name has `_` for every dot and slash."""
    with zipfile.ZipFile(path) as package:
        parts = {name: package.read(name).decode() for name in package.namelist()}
    with zipfile.ZipFile(path, "w") as package:
        for name, content in parts.items():
            for end, (old, new) in changes.items():
                if re.sub(r"\W", "_", name).endswith(end):
                    content = re.sub(old, new, content)
            package.writestr(name, content)
    return path


def with_prefixes(path):
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    tags = (r"<(/?)(?=[a-zA-Z])", r"<\1x:")
    rewritten(path, sheet1_xml=tags, xl_workbook_xml=tags, styles_xml=tags, sharedStrings_xml=tags)
    declared = (main, main.replace("xmlns", "xmlns:x"))
    return rewritten(
        path, sheet1_xml=declared, xl_workbook_xml=declared, styles_xml=declared, sharedStrings_xml=declared
    )


def test_a_book_with_other_prefixes_and_formats_to_the_last_column_is_shown(chromium, service, tmp_path):
    book = with_prefixes(make_book(tmp_path / "book.xlsx", {"A1": "text", "A2": 3, "A3": "=A2*2"}))
    rewritten(
        book, sheet1_xml=("<x:sheetData>", '<x:cols><x:col min="2" max="16384" width="9"/></x:cols><x:sheetData>')
    )
    with sheet_server(service, tmp_path, book) as url, opened_sheet(chromium, url) as page:
        assert page.values("A1", "A2", "A3") == ["text", 3, 6]
        page.put({"A2": "4"})
        page.download(tmp_path / "copy.xlsx")
    assert values(tmp_path / "copy.xlsx", "Sheet1", "A2", "A3") == [4, 8]
    assert openpyxl.load_workbook(tmp_path / "copy.xlsx")["Sheet1"]["A2"].value == 4


def stored(path, **values_of):
    """Give formulas the values that another program came to."""
    for cell, value in values_of.items():
        kind = ' t="e"' if str(value).startswith("#") else ""
        rewritten(
            path,
            sheet1_xml=(rf'<c r="{cell}"[^>]*>(<f>.*?</f>)<v ?/?>(</v>)?', rf'<c r="{cell}"{kind}>\1<v>{value}</v>'),
        )
    return path


def test_a_formula_that_is_worked_out_differently_shows_the_value_of_the_file_marked(chromium, service, tmp_path):
    cells = {"A1": 8, "B1": "=A1*2", "C1": "=MOD(A1,3)", "D1": "=C1+1", "E1": "=-A1^2"}
    book = stored(make_book(tmp_path / "book.xlsx", cells), B1=16, C1=77, D1=78, E1=64)
    with sheet_server(service, tmp_path, book) as url, opened_sheet(chromium, url) as page:
        assert page.values("B1", "C1", "D1", "E1") == [16, 77, 78, 64]
        page.sees("1 cell differs from what this page works out (Sheet1!C1), and show the file's value, marked.")
        page.put({"A1": "9"})
        assert page.values("B1", "C1", "D1", "E1") == [18, 0, 1, 81]
        page.put({"A1": "8"})
        assert page.values("B1", "C1", "D1", "E1") == [16, 77, 78, 64], "what the file holds, as it was then"
        page.put({"A1": "9"})
        page.download(tmp_path / "copy.xlsx")
    assert values(tmp_path / "copy.xlsx", "Sheet1", "A1", "B1", "C1", "D1", "E1") == [9, 18, 0, 1, 81]


@pytest.mark.parametrize(("formula", "missing"), [("=NOBODYS(A1:A2)+1", "#NAME?"), ("=FORMULATEXT(A1)&A2", "#N/A")])
def test_the_value_of_a_formula_that_cannot_be_worked_out_goes_once_its_cells_change(
    chromium, service, tmp_path, formula, missing
):
    cells = {"A1": 8, "A2": 1, "B1": formula, "C1": "=B1*2", "F1": 1}
    book = stored(make_book(tmp_path / "book.xlsx", cells), B1=42, C1=84)
    with sheet_server(service, tmp_path, book) as url, opened_sheet(chromium, url) as page:
        page.put({"F1": "2"})
        assert page.values("B1", "C1") == [42, 84]
        page.put({"A1": "9"})
        assert page.values("B1", "C1") == [missing, "#N/A"]
        page.download(tmp_path / "copy.xlsx")
    with zipfile.ZipFile(tmp_path / "copy.xlsx") as package:
        assert 'fullCalcOnLoad="1"' in package.read("xl/workbook.xml").decode(), "who opens it works it out"


@pytest.mark.parametrize(
    ("formula", "value"),
    [("=-2^2", 4), ("=0-2^2", -4), ("=-(1+1)^2+1", 5), ("=2*-3^2", 18), ("=SUM(-2^2,1)", 5), ("=-SQRT(4)^2", 4)],
)
def test_the_sign_of_a_number_comes_before_its_power_as_in_excel(blank, formula, value):
    blank.put({"A1": formula})
    assert blank.cell("A1")["value"] == value


def test_a_table_has_as_many_rows_as_it_needs(blank, tmp_path):
    blank.put({"A990": '=DS.SIGNAL_HISTORY("us-10y","N60")'})
    assert blank.cell("A1040")["value"] > 0
    blank.download(tmp_path / "copy.xlsx")
    assert values(tmp_path / "copy.xlsx", "Sheet1", "A1040")[0] > 0


def test_what_the_component_cannot_read_beside_cells_is_left_out_and_said(chromium, service, tmp_path):
    book = BOOKS / "poi__DataTableCities.xlsx"
    if not book.exists():
        pytest.skip("the real books are not beside the project")
    with sheet_server(service, tmp_path, book) as url, opened_sheet(chromium, url) as page:
        page.sees("Shown without charts, tables and rules")
        page.put({"A1": "5"}, sheet=page.tab.evaluate("sheet.book.model.getters.getActiveSheetId()"))
        page.download(tmp_path / "copy.xlsx")
    assert other_parts_changed(book, tmp_path / "copy.xlsx") == []


def test_a_sheet_that_is_too_large_for_the_page_is_refused_with_a_sentence(tmp_path):
    book = make_book(tmp_path / "book.xlsx", {"A1": 1, "XFD1048576": 2})
    with pytest.raises(
        WorkbookError, match="reaches to row 1,048,576 and column 16,384, which is more than this page can"
    ):
        opened_book(book, name="book.xlsx")


def test_rows_and_cells_that_only_have_a_format_do_not_make_the_sheet_larger(tmp_path):
    book = rewritten(
        make_book(tmp_path / "book.xlsx", {"A1": 1}),
        sheet1_xml=(
            r"</row></sheetData>",
            '<c r="AMJ1" s="0"/></row><row r="1048576" ht="12.8"><c r="A1048576" s="0"/></row></sheetData>',
        ),
    )
    (sheet,) = (text for name, text in opened_book(book, name="book.xlsx")["parts"].items() if "sheets/sheet" in name)
    assert "A1" in sheet
    assert "1048576" not in sheet
    assert "AMJ" not in sheet


@pytest.mark.skipif(not BOOKS.exists(), reason="the real books are not here")
def test_a_cell_that_a_pivot_table_fills_is_not_changed_and_the_page_says_why(chromium, service, tmp_path):
    book = BOOKS / "ClosedXML__shared-nested-dategroup.xlsx"
    with sheet_server(service, tmp_path, book) as url, opened_sheet(chromium, url) as page:
        name = page.tab.evaluate("Object.keys(sheet.book.pivots)[0]")
        area = page.tab.evaluate("Object.values(sheet.book.pivots)[0][0]").partition(":")[0]
        page.show(name)
        before = page.cell(area, name)["value"]
        page.put({area: "41.625"}, name)
        page.sees("A cell that a pivot table fills cannot be changed")
        assert page.cell(area, name)["value"] == before
        page.select(area)
        page.keys("Delete")
        assert page.cell(area, name)["value"] == before


def test_what_the_page_does_not_show_is_counted_however_its_parts_are_named(tmp_path):
    book = openpyxl.Workbook()
    book.active["A1"] = 1
    book.active["A1"].comment = Comment("seen by me", "me")
    book.save(tmp_path / "book.xlsx")
    assert opened_book(tmp_path / "book.xlsx", name="book.xlsx")["kept"] == {"comment sheet": 1}


def test_colours_are_as_strong_as_in_excel_whatever_transparency_a_program_wrote(chromium, service, tmp_path):
    book = openpyxl.Workbook()  # it writes every colour as transparent
    yellow = PatternFill("solid", fgColor="FFFF00", bgColor="FFFF00")
    book.active.append([30, 30])
    book.active["A1"].fill, book.active["A1"].font = yellow, Font(color="FF0000")
    book.active.conditional_formatting.add("B1", CellIsRule(operator="greaterThan", formula=["20"], fill=yellow))
    book.active.title = "Sheet1"
    book.save(tmp_path / "book.xlsx")
    look = "(col) => sheet.book.model.getters.getCellComputedStyle({ sheetId: 'Sheet1', col, row: 0 })"
    with (
        sheet_server(service, tmp_path, tmp_path / "book.xlsx") as url,
        opened_sheet(chromium, url) as page,
    ):
        plain, ruled = page.tab.evaluate(look, 0), page.tab.evaluate(look, 1)
        page.put({"A1": "31"})
        page.download(tmp_path / "copy.xlsx")
    assert (plain["fillColor"], plain["textColor"], ruled["fillColor"]) == ("#FFFF00", "#FF0000", "#FFFF00")
    assert other_parts_changed(tmp_path / "book.xlsx", tmp_path / "copy.xlsx") == []


def test_an_error_names_the_users_file_and_no_folder_of_this_machine():
    with (
        pytest.raises(WorkbookError, match=r"^mine\.xlsx is not an \.xlsx") as caught,
        book_file(b"no book", "mine.xlsx") as path,
    ):
        opened_book(path, name="mine.xlsx")
    assert "/" not in str(caught.value)
    with book_file(blank_book(), "mine.xlsm") as path:
        assert opened_book(path, name="mine.xlsm")["kept"] == {}
