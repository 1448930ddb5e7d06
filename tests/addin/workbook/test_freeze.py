"""Freezing: a copy with values in place of formulas, never the book itself, never blanks for what nobody computed."""

import re
import zipfile
from pathlib import Path

import openpyxl
import pytest
from openpyxl.workbook.defined_name import DefinedName
from xlsxwriter import Workbook

from addin.excel.manifest import ADDIN_ID
from addin.workbook.freeze import StaleValuesError, freeze, freeze_book
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.target import Target
from addin.workbook.ooxml.webextension import webextension_parts
from addin.workbook.refresh.refresh import refresh_book
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session


def test_a_book_that_was_never_computed_is_not_frozen_and_the_error_says_what_to_do(tmp_path: Path):
    cells = {f"A{row}": '=_xldudf_DS_SIGNAL("us-cpi")' for row in range(1, 6)}
    book = make_book(tmp_path / "book.xlsx", cells)
    with pytest.raises(WorkbookError, match=r"5 of 5 formulas .*Sheet1!A1, Sheet1!A2, Sheet1!A3 ….*addin refresh"):
        freeze_book(book, tmp_path / "out.xlsx")
    assert not (tmp_path / "out.xlsx").exists()


async def test_a_blank_result_counts_as_computed(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {"A1": '=_xldudf_DS_CURRENT("undecided")'})
    async with AsyncClient(service.url, service.key) as client:
        report = await refresh_book(Session(client), book, book)
    assert report.errors == []
    assert freeze_book(book, tmp_path / "out.xlsx") == 1
    assert values(tmp_path / "out.xlsx", "Sheet1", "A1") == [None]


async def test_a_blank_result_is_kept_when_the_service_does_not_answer(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {"A1": '=_xldudf_DS_CURRENT("undecided")'})
    async with AsyncClient(service.url, service.key) as client:
        await refresh_book(Session(client), book, book)
    service.running.stop()
    async with AsyncClient(service.url, service.key) as client:
        report = await refresh_book(Session(client), book, book)
    assert (len(report.kept), report.errors) == (1, [])
    assert values(book, "Sheet1", "A1") == [None]


def test_a_cell_that_shows_a_name_error_is_not_frozen(tmp_path: Path):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        book.add_worksheet("Sheet1").write_formula("A1", '=_xldudf_DS_SIGNAL("us-cpi")', None, "#NAME?")
    with pytest.raises(WorkbookError, match="no value yet"):
        freeze_book(path, tmp_path / "out.xlsx")


async def test_a_formula_that_never_gets_a_value_is_left_empty_and_marked_if_asked(
    service: EmbeddedService, tmp_path: Path
):
    call = '_xldudf_DS_SIGNAL("us-cpi")'
    book, copy = make_book(tmp_path / "book.xlsx", {"A1": f"={call}", "A2": f"={call}+Unknown"}), tmp_path / "out.xlsx"
    with pytest.raises(WorkbookError, match=r"no value yet.*Refresh the book first"):
        freeze_book(book, copy, allow_stale=True)
    async with AsyncClient(service.url, service.key) as client:
        await refresh_book(Session(client), book, book)
    with pytest.raises(StaleValuesError, match="Mend what cannot be worked out"):
        freeze_book(book, copy)
    freeze_book(book, copy, allow_stale=True)
    shown = openpyxl.load_workbook(copy)["Sheet1"]
    assert (type(shown["A1"].value), shown["A2"].value) == (float, None)
    assert shown["A2"].fill.fgColor.rgb != shown["A1"].fill.fgColor.rgb


@pytest.mark.parametrize("way", ["itself", "a link", "a hard link", "another spelling"])
def test_the_book_itself_is_never_overwritten_by_its_copy(tmp_path: Path, way: str):
    book = make_book(tmp_path / "book.xlsx", {"A1": 1})
    before = book.read_bytes()
    target = {"itself": book, "another spelling": tmp_path / "x" / ".." / "book.xlsx"}.get(way, tmp_path / "link.xlsx")
    (tmp_path / "x").mkdir()
    if way == "a link":
        target.symlink_to(book)
    elif way == "a hard link":
        target.hardlink_to(book)
    with pytest.raises(WorkbookError, match="is the book itself"):
        freeze_book(book, target)
    assert book.read_bytes() == before


def test_excel_is_left_no_list_of_formulas_that_are_gone(tmp_path: Path):
    path, chain = tmp_path / "book.xlsx", "xl/calcChain.xml"
    with Workbook(path) as book:
        book.add_worksheet("Sheet1").write_formula("A1", '=_xldudf_DS_SIGNAL("us-cpi")', None, 1)
    with zipfile.ZipFile(path) as source:
        parts = {name: source.read(name).decode() for name in source.namelist()}
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/calcChain"
    relation = f'<Relationship Id="rId99" Type="{kind}" Target="calcChain.xml"/></Relationships>'
    parts["xl/_rels/workbook.xml.rels"] = parts["xl/_rels/workbook.xml.rels"].replace("</Relationships>", relation)
    override = f'<Override PartName="/{chain}" ContentType="x"/></Types>'
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace("</Types>", override)
    with zipfile.ZipFile(path, "w") as out:
        for name, content in {**parts, chain: '<calcChain><c r="A1" i="1"/></calcChain>'}.items():
            out.writestr(name, content)
    freeze_book(path, tmp_path / "out.xlsx")
    with zipfile.ZipFile(tmp_path / "out.xlsx") as frozen:
        assert chain not in frozen.namelist()
        assert not any(b"calcChain" in frozen.read(name) for name in frozen.namelist())
    with Package(tmp_path / "out.xlsx") as package:
        assert not any("calcChain" in kind for _, kind, _ in package.related(package.workbook))


def test_a_name_of_a_received_book_empties_nothing_that_the_template_never_made(tmp_path: Path):
    cells = {
        "A1": '=_xldudf_DS_SIGNAL("us-cpi")',
        **{f"{column}{row}": row * 1.5 for column in "ABC" for row in (3, 4, 5)},
    }
    book = make_book(tmp_path / "book.xlsx", cells)
    opened = openpyxl.load_workbook(book)
    for name in ("DS_Live_Only_9", "DS_Live_Only_Status", "DS_Live_Only"):
        opened["Sheet1"].defined_names[name] = DefinedName(name, attr_text="Sheet1!$A$3:$C$5")
    opened.save(book)
    with Package(book) as package:
        shown = Book(package)
        shown.sheet("Sheet1").write((1, 1), 7.0)
        package.write(Target(book), shown.changed_parts())
    freeze_book(book, tmp_path / "frozen.xlsx", allow_stale=True)
    assert values(tmp_path / "frozen.xlsx", "Sheet1", "A3", "B4", "C5") == [4.5, 6.0, 7.5]


@pytest.mark.parametrize("formula", ['_xldudf_DS_SIGNAL("us-cpi")', 'IF(A9&""="","",A9)', "A9"])
def test_a_name_of_a_received_book_empties_no_number_that_rests_on_the_service(tmp_path: Path, formula: str):
    book = make_book(tmp_path / "book.xlsx", {"A1": f"={formula}", "A9": '=_xldudf_DS_SIGNAL("us-10y")'})
    opened = openpyxl.load_workbook(book)
    for name in ("DS_Live_Only", "DS_Live_Only_Note", "DS_Live_Only_Status"):
        opened["Sheet1"].defined_names[name] = DefinedName(name, attr_text="Sheet1!$A$1")
    opened.save(book)
    with Package(book) as package:
        shown = Book(package)
        for row in (1, 9):
            shown.sheet("Sheet1").write((row, 1), 7.0)
        package.write(Target(book), shown.changed_parts())
    freeze_book(book, tmp_path / "frozen.xlsx", allow_stale=True)
    assert values(tmp_path / "frozen.xlsx", "Sheet1", "A1") == [7.0]


@pytest.mark.parametrize("has_ours", [True, False])
def test_the_pane_of_another_addin_stays(tmp_path: Path, has_ours: bool):
    book, both, frozen = (tmp_path / name for name in ("book.xlsx", "both.xlsx", "frozen.xlsx"))
    make_book(book, {"A1": 1})
    with Package(book) as package:
        parts = webextension_parts(package, addin_id="wa200009404", version="1.0")
        package.write(Target(both), parts)
    if has_ours:
        _add_our_pane(both)
    freeze_book(both, frozen)
    with Package(frozen) as package:
        [pane] = [part for _, kind, part in package.related("") if kind.endswith("taskpanes")]
        [extension] = [part for _, _, part in package.related(pane)]
        assert b"wa200009404" in package.read(extension)
        assert len(package.xml(pane)) == 1
        assert ADDIN_ID.encode() not in package.read("[Content_Types].xml")
        types = package.xml("[Content_Types].xml")
        assert sum("webextensions" in each.get("PartName", "") for each in types) == 2


def test_a_list_of_panes_that_leads_nowhere_stays(tmp_path: Path):
    book, cut, frozen = (tmp_path / name for name in ("book.xlsx", "cut.xlsx", "frozen.xlsx"))
    make_book(book, {"A1": 1})
    with Package(book) as package:
        parts = webextension_parts(package, addin_id="wa200009404", version="1.0")
        del parts["xl/webextensions/_rels/taskpanes.xml.rels"], parts["xl/webextensions/webextension1.xml"]
        package.write(Target(cut), parts)
    freeze_book(cut, frozen)
    with Package(frozen) as package:
        assert "xl/webextensions/taskpanes.xml" in package


def _add_our_pane(book: Path) -> None:
    """Add a second pane to the list of panes, as Excel does."""
    with zipfile.ZipFile(book) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    folder, second = "xl/webextensions", "xl/webextensions/webextension2.xml"
    parts[second] = parts[f"{folder}/webextension1.xml"].replace("wa200009404", ADDIN_ID)
    panes, relations = parts[f"{folder}/taskpanes.xml"], parts[f"{folder}/_rels/taskpanes.xml.rels"]
    [pane] = re.findall("<wetp:taskpane .*</wetp:taskpane>", panes)
    [relation] = re.findall("<Relationship .*?/>", relations)
    parts[f"{folder}/taskpanes.xml"] = panes.replace(pane, pane + pane.replace("rId1", "rId2"))
    other = relation.replace("rId1", "rId2").replace("webextension1.xml", "webextension2.xml")
    parts[f"{folder}/_rels/taskpanes.xml.rels"] = relations.replace(relation, relation + other)
    [kind] = re.findall("<Override [^>]*webextension1.xml[^>]*/>", parts["[Content_Types].xml"])
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(
        kind, kind + kind.replace("webextension1.xml", "webextension2.xml")
    )
    with zipfile.ZipFile(book, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


async def test_a_table_puts_no_call_into_its_new_rows(service: EmbeddedService, tmp_path: Path):
    with Workbook(tmp_path / "book.xlsx") as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.write_dynamic_array_formula("F1:F2", '=_xldudf_DS_SIGNAL({"us-cpi";"us-10y"})')
        columns = [
            {"header": "Slug"},
            {"header": "Live", "formula": "=DS.SIGNAL([@Slug])", "total_function": "max"},
            {"header": "Twice", "formula": "=[@Live]*2"},
            {"header": "Of all", "formula": "=[@Live]/SUM(_xlfn.ANCHORARRAY($F$1))"},
            {"header": "Own total", "total_function": '=_xldudf_DS_SIGNAL("us-cpi")*2'},
        ]
        sheet.add_table("A1:E4", {"columns": columns, "data": [["us-cpi"], ["us-10y"]], "total_row": True})
    async with AsyncClient(service.url, service.key) as client:
        await refresh_book(Session(client), tmp_path / "book.xlsx", tmp_path / "book.xlsx")
        await freeze(tmp_path / "book.xlsx", tmp_path / "out.xlsx", ask=Session(client).answer)
    live, frozen = (
        {each.name: each for each in openpyxl.load_workbook(path)["Sheet1"].tables["Table1"].tableColumns}
        for path in (tmp_path / "book.xlsx", tmp_path / "out.xlsx")
    )
    assert live["Live"].calculatedColumnFormula.attr_text == "_xldudf_DS_SIGNAL([[#This Row],Slug])"
    assert frozen["Live"].calculatedColumnFormula is None
    assert frozen["Live"].totalsRowFunction == "max"
    assert (frozen["Own total"].totalsRowFunction, frozen["Own total"].totalsRowFormula) == (None, None)
    assert "#This Row" in frozen["Twice"].calculatedColumnFormula.attr_text
    assert "$F$1:$F$2" in frozen["Of all"].calculatedColumnFormula.attr_text
