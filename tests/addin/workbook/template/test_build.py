"""The template: the same file on every machine, full of values, in the form Excel keeps."""

import asyncio
import re
import zipfile
from datetime import UTC, datetime, time
from pathlib import Path

import openpyxl
import pytest
from lxml import etree

from addin.formulas import mentions
from addin.workbook.freeze import freeze_book
from addin.workbook.live_parts import live_parts
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.target import Target
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.template.build import EXAMPLE_DAY, example_session, write_template
from addin.workbook.template.data import DATA_SHEET
from addin.workbook.template.start import BUTTON_NAME
from tests.addin.workbook.books import WHOLE_SHEET
from udfs.errors import CellError


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template as a refresh of its layout writes it."""
    path = tmp_path_factory.mktemp("template") / "workbook_template.xlsx"

    async def write() -> None:
        async with example_session() as session:
            await write_template(path, session, created=datetime.combine(EXAMPLE_DAY, time(12), UTC))

    asyncio.run(write())
    return path


def test_the_template_that_comes_with_the_program_is_what_a_refresh_writes(template: Path, project: Path):
    with zipfile.ZipFile(template) as fresh, zipfile.ZipFile(project / "workbook_template.xlsx") as kept:
        assert fresh.namelist() == kept.namelist()
        assert [name for name in fresh.namelist() if fresh.read(name) != kept.read(name)] == []


def test_formulas_that_spill_are_dynamic_arrays_of_their_true_size_on_the_hidden_sheet_and_all_others_plain(
    template: Path,
):
    arrays, plain = 0, 0
    with Package(template) as package:
        book = Book(package)
        for name in book.sheet_names:
            sheet = book.sheet(name)
            for spot, formula in sheet.formulas():
                assert formula.is_calculated
                assert formula.is_array == (name == DATA_SHEET and mentions(formula.text))
                if mentions(formula.text):
                    assert formula.text.startswith("_xldudf_DS_")
                    plain, arrays = plain + (not formula.is_array), arrays + formula.is_array
                if formula.is_array:
                    area = formula.area
                    below = [spot for spot in sheet.spots_in(WHOLE_SHEET) if spot[0] > area.last_row]
                    assert not any(area.first_column <= column <= area.last_column for _, column in below)
        with zipfile.ZipFile(template) as archive:
            sheets = [archive.read(part).decode() for part in archive.namelist() if "worksheets/sheet" in part]
            marked = sum(len(re.findall(r'<c [^>]*cm="1"[^>]*><f t="array"', sheet)) for sheet in sheets)
    assert arrays == marked == 9
    assert plain > 70


def test_no_formula_of_the_template_is_worked_out_whenever_calc_opens_it(template: Path):
    """One such formula, and Calc without the extension shows `#NAME?` everywhere."""
    with Package(template) as package:
        book = Book(package)
        formulas = [formula.text for name in book.sheet_names for _, formula in book.sheet(name).formulas()]
    assert [text for text in formulas if re.search(r"\b(HYPERLINK|TODAY|NOW|RAND\w*|INDIRECT|OFFSET)\(", text)] == []


def test_no_cell_of_the_template_shows_an_error(template: Path):
    with Package(template) as package:
        book = Book(package)
        for name in book.sheet_names:
            sheet = book.sheet(name)
            errors = [spot for spot in sheet.spots_in(WHOLE_SHEET) if isinstance(sheet.value(spot), CellError)]
            assert errors == [], name


def test_excel_keeps_the_values_and_opens_the_pane_with_the_book(template: Path):
    with zipfile.ZipFile(template) as archive:
        workbook = archive.read("xl/workbook.xml").decode()
        assert "fullCalcOnLoad" not in workbook
        assert f"""<definedName name="{BUTTON_NAME}">'Start'!$B$4</definedName>""" in workbook
        relations = archive.read("_rels/.rels").decode()
        assert 'Target="xl/webextensions/taskpanes.xml"' in relations
        extension = etree.fromstring(archive.read("xl/webextensions/webextension1.xml"))
        assert [etree.QName(child).localname for child in extension] == [
            "reference",
            "alternateReferences",
            "properties",
            "bindings",
            "snapshot",
        ]
        types = archive.read("[Content_Types].xml").decode()
        assert types.count("application/vnd.ms-office.webextension") == 2


def test_a_frozen_copy_keeps_every_value_and_nothing_of_the_addin(template: Path, tmp_path: Path):
    frozen = tmp_path / "frozen.xlsx"
    count = freeze_book(template, frozen)
    assert count > 70
    with Package(template) as before, Package(frozen) as after:
        old, new = Book(before), Book(after)
        for name in old.sheet_names:
            source, copy = old.sheet(name), new.sheet(name)
            areas = [area for sheet, area in live_parts(old, "DS")[0] if sheet == name]
            for spot in source.spots_in(WHOLE_SHEET):
                is_live = any(area.contains(*spot) for area in areas)
                assert copy.value(spot) == (None if is_live else source.value(spot)), (name, spot)
            assert not any(mentions(formula.text) for _, formula in copy.formulas())
        assert not any("webextension" in kind for _, kind, _ in after.related(""))


def test_a_frozen_copy_has_no_button_no_steps_no_quota_and_tells_nobody_to_change_it(template: Path, tmp_path: Path):
    frozen = tmp_path / "frozen.xlsx"
    freeze_book(template, frozen)
    with Package(frozen) as package:
        book = Book(package)
        texts = {
            str(value)
            for name in book.sheet_names
            for spot in book.sheet(name).spots_in(WHOLE_SHEET)
            if (value := book.sheet(name).value(spot)) is not None
        }
    for word in ("Refresh", "addin ", "requests", "Overwrite", "shaded", "Status"):
        assert [text for text in texts if word in text and "made up" not in text] == [], word
    assert "Dashboard" in texts


def test_every_table_has_plain_headings_below_the_formula_to_copy(template: Path):
    book = openpyxl.load_workbook(template, data_only=True)
    tables = {"Catalogue": "B4:I4", "Currents": "B4:H4", "Indices": "B4:G4", "Wire": "B6:G6", "Revisions": "B9:F9"}
    for name, cells in {**tables, "Compare": "B8:B8"}.items():
        row = book[name][cells][0]
        assert all(re.fullmatch(r"[A-Z][A-Za-z ()]+", cell.value) for cell in row), name
        assert re.fullmatch(r"=DS\.[A-Z_]+\(.+\)", book[name].cell(row[0].row - 1, row[0].column).value)
        assert book[name].cell(row[0].row + 1, row[0].column).value


def test_helper_cells_are_on_a_hidden_sheet(template: Path):
    book = openpyxl.load_workbook(template, data_only=True)
    assert [sheet.title for sheet in book if sheet.sheet_state == "hidden"] == [DATA_SHEET]
    widest = {sheet.title: sheet.max_column for sheet in book}
    assert widest["Dashboard"] == 9


def test_the_charts_have_thousands_separators_and_each_month_once(template: Path):
    space = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
    with zipfile.ZipFile(template) as archive:
        charts = [name for name in archive.namelist() if name.startswith("xl/charts/chart")]
        assert len(charts) == 2
        for name in charts:
            chart = etree.fromstring(archive.read(name))
            assert "#,##0" in chart.find(f".//{space}valAx/{space}numFmt").get("formatCode")
            dates = chart.find(f".//{space}dateAx")
            assert dates.find(f"{space}majorTimeUnit").get("val") == "months"


def test_rows_beyond_one_printed_page_are_folded_and_a_line_says_so_as_soon_as_there_are_some(
    template: Path, tmp_path: Path
):
    longer, refreshed = tmp_path / "longer.xlsx", tmp_path / "refreshed.xlsx"
    with Package(template) as package:
        book = Book(package)
        assert book.sheet("Compare").value((129, 2)) is None
        book.sheet("Compare").write((5, 3), "-5Y")
        package.write(Target(longer), book.changed_parts())

    async def refresh() -> None:
        async with example_session() as session:
            await refresh_book(session, longer, refreshed)

    asyncio.run(refresh())
    sheet = openpyxl.load_workbook(refreshed, data_only=True)["Compare"]
    folded = [row for row, look in sheet.row_dimensions.items() if look.hidden]
    assert folded == list(range(46, 129))
    assert sheet["B46"].value
    assert sheet["B129"].value == "There are more rows: unhide those above, with the + on the left"
    assert sheet["B130"].value is None
