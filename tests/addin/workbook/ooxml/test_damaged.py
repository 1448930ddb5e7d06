"""Books that no spreadsheet program wrote: read where that is safe, refused in one sentence where it is not."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import UNEXPECTED, WorkbookError
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.stored import MAIN
from addin.workbook.refresh.plan import make_plan
from tests.addin.workbook.books import make_book, values

SHEET = "xl/worksheets/sheet1.xml"
OURS = '<c r="A1"><f>_xldudf_DS_SIGNAL(B1)</f></c>'


def _with_parts(book: Path, parts: Mapping[str, bytes]) -> Path:
    """The book with other contents of these parts."""
    with zipfile.ZipFile(book) as source:
        contents = {name: source.read(name) for name in source.namelist()}
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in {**contents, **parts}.items():
            out.writestr(name, content)
    return book


def _sheet(rows: str, rest: str = "") -> bytes:
    return f'<worksheet xmlns="{MAIN}">{rest}<sheetData>{rows}</sheetData></worksheet>'.encode()


def _work(book: Path) -> Book:
    """Plan the book, look at every cell, and write some."""
    with Package(book) as package:
        opened = Book(package)
        plan = make_plan(opened)
        sheet = opened.sheet("Sheet1")
        for spot in sheet.spots_in(sheet.used_part(_whole())):
            sheet.value(spot)
        sheet.write((3, 3), 1.0)
        opened.recalculate_on_load()
        plan.dependencies.any_depends_on({("Sheet1", (1, 1))}, besides=set())
        opened.changed_parts()
        return opened


def _whole():
    from tests.addin.workbook.books import WHOLE_SHEET

    return WHOLE_SHEET


@pytest.mark.parametrize(
    "sheet",
    [
        _sheet(f'<row r="1.5">{OURS}</row>'),
        _sheet(f'<row r="-1">{OURS}</row>'),
        _sheet(f'<row r="1048577">{OURS}</row>'),
        _sheet(f'<row r="1">{OURS}</row><row r="1"/>'),
        _sheet(f'<row r="1">{OURS}{OURS}</row>'),
        _sheet(f'<row r="1">{OURS}{"<c/>" * 18_300}</row>'),
        _sheet('<row r="1"><c r="??"><f>_xldudf_DS_SIGNAL(1)</f></c></row>'),
        _sheet(f'<row r="1">{OURS}<c r="B1" t="s"><v>x</v></c></row>'),
        _sheet(f'<row r="1">{OURS}<c r="B1" t="s"><v>-1</v></c></row>'),
        _sheet(f'<row r="1">{OURS}<c r="B1" t="s"><v>7</v></c></row>'),
        _sheet(f'<row r="1">{OURS}</row>', '<cols><col min="x" max="3"/></cols>'),
        _sheet(f'<row r="1">{OURS}</row>')[:-20],
        b"<!DOCTYPE worksheet [<!ATTLIST c x CDATA 'y'>]>" + _sheet(f'<row r="1">{OURS}</row>'),
        _sheet('<row r="1"><c r="A1"><v>abc</v></c></row>'),
        _sheet('<row r="1"><c r="A1"><v>1e999</v></c></row>'),
        _sheet('<row r="1"><c r="A1"><v>1_0</v></c></row>'),
        _sheet('<row r="1"><c r="A1"><v> 1</v></c></row>'),
        _sheet('<row r="1"><c r="A1"><v>\u0661</v></c></row>'),
        _sheet('<row r="1"><c r="A1"><v>1</v><v>2</v></c></row>'),
        _sheet('<row r="1"><c r="A1" t="b"><v>true</v></c></row>'),
        _sheet('<row r="1"><!-- a note --><c r="A1"><v>1</v></c></row>'),
        _sheet('<row r="1"><c r="A1"><f>&#68;S.SIGNAL("a")</f></c></row>'),
        _sheet('<row r="1"><c r="A1"><v>1</v></c></row></sheetData><sheetData>'),
        _sheet('<row r="2"/><row r="1"/>'),
        _sheet('<row r="1"><c r="B1"/><c r="A1"/></row>'),
        _sheet('<row r="1"><c r="A2"><v>1</v></c></row>'),
        _sheet('<row r="1"><c r="A1" x:t="b" xmlns:x="x"><v>1</v></c></row>'),
        _sheet('<row r="1"><c r="A1" t="inlineStr"><is><t>1</t></is><v>2</v></c></row>'),
        _sheet("", '<extLst><sheetData xmlns="x"/></extLst>'),
        _sheet('<row r="1"><c r="A1"><f t="array" ref="A1:A2">B1</f></c></row><row r="2"><c r="A2"><f>1</f></c></row>'),
        b"<?xml version='1.0' encoding='klingon'?>" + _sheet(f'<row r="1">{OURS}</row>'),
    ],
)
def test_what_no_program_writes_is_refused_with_the_part(tmp_path: Path, sheet: bytes):
    book = _with_parts(make_book(tmp_path / "book.xlsx", {}), {SHEET: sheet})
    with pytest.raises(WorkbookError, match=r"damaged: .*sheet1\.xml") as caught:
        _work(book)
    assert UNEXPECTED not in str(caught.value)


@pytest.mark.parametrize(
    ("sheet", "shown"),
    [
        (_sheet('<row r="1"><c r="A1" t="b"><v>1</v></c></row>'), True),
        (_sheet('<row r="1"><c r="A1"><v>.5E1</v></c></row>'), 5.0),
        (_sheet('<row r="1"><c r="A1" t="str"><v>_xD83D__xDE00_</v></c></row>'), "😀"),
        (_sheet('<row r="1"><c r="A1" t="str"><v>_xD83D_</v></c></row>'), "\ufffd"),
    ],
)
def test_what_can_be_understood_is_read(tmp_path: Path, sheet: bytes, shown: object):
    book = _with_parts(make_book(tmp_path / "book.xlsx", {}), {SHEET: sheet})
    assert values(book, "Sheet1", "A1") == [shown]
    _work(book)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_an_encoding_that_not_every_program_reads_is_refused(tmp_path: Path, encoding: str):
    mark = {"latin-1": '<?xml version="1.0" encoding="latin-1"?>'}.get(encoding, "")
    content = (mark + _sheet(f'<row r="1">{OURS}</row>').decode()).encode(encoding)
    book = _with_parts(make_book(tmp_path / "book.xlsx", {}), {SHEET: content})
    with pytest.raises(WorkbookError, match=r"sheet1\.xml: it is not written in UTF-8"):
        _work(book)


def test_our_formulas_are_found_behind_a_byte_order_mark(tmp_path: Path):
    content = _sheet(f'<row r="1">{OURS}</row>').decode().encode("utf-8-sig")
    book = _with_parts(make_book(tmp_path / "book.xlsx", {}), {SHEET: content})
    with Package(book) as package:
        assert [str(cell) for cell in make_plan(Book(package)).cells] == ["Sheet1!A1"]


def test_a_shared_formula_that_leaves_the_sheet_has_an_error_for_argument_and_one_that_cannot_be_read_is_left(
    tmp_path: Path,
):
    rows = (
        '<row r="4"><c r="B4"><f t="shared" si="9"/></c>'
        '<c r="D4"><f t="shared" ref="A4:D4" si="0">_xldudf_DS_SIGNAL(A1)</f></c></row>'
        '<row r="5"><c r="A5"><f t="shared" si="0"/></c><c r="C5"><f t="shared" ref="C4:C5" si="1">SUM("</f></c></row>'
        '<row r="6"><c r="C6"><f t="shared" si="1"/></c></row>'
    )
    book = _with_parts(make_book(tmp_path / "book.xlsx", {}), {SHEET: _sheet(rows)})
    with Package(book) as package:
        plan = make_plan(Book(package))
    assert {str(cell): cell.formula.text for cell in plan.cells}["Sheet1!A5"] == "_xldudf_DS_SIGNAL(#REF!)"
    assert ([str(cell) for cell in plan.cells], plan.skipped) == (["Sheet1!D4", "Sheet1!A5"], [])


def test_a_workbook_part_may_stand_anywhere(tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {"A1": '=_xldudf_DS_SIGNAL("a")'})
    with zipfile.ZipFile(book) as source:
        contents = {name: source.read(name) for name in source.namelist()}
    moved = tmp_path / "moved.xlsx"
    with zipfile.ZipFile(moved, "w") as out:
        for name, content in contents.items():
            renamed = name.replace("xl/workbook.xml", "xl/book1.xml").replace("workbook.xml.rels", "book1.xml.rels")
            out.writestr(renamed, content.replace(b"xl/workbook.xml", b"xl/book1.xml"))
    with Package(moved) as package:
        assert [str(cell) for cell in make_plan(Book(package)).cells] == ["Sheet1!A1"]


def test_a_sheet_of_more_cells_than_memory_should_hold_is_refused_before_it_is_parsed(tmp_path: Path):
    rows = "".join(f'<row r="{row}">{"<c><v>1</v></c>" * 1_000}</row>' for row in range(1, 1_001))
    book = _with_parts(make_book(tmp_path / "book.xlsx", {}), {SHEET: _sheet(f"{rows}<row>{OURS}</row>")})
    with pytest.raises(WorkbookError, match=r"too large: with xl/worksheets/sheet1\.xml.*split the book"):
        _work(book)
    assert book.stat().st_size < 200_000


@pytest.mark.parametrize("damage", ["version", "method", "bytes"])
def test_a_zip_that_cannot_be_unpacked_is_refused(tmp_path: Path, damage: str):
    book = make_book(tmp_path / "book.xlsx", {"A1": '=_xldudf_DS_SIGNAL("a")'})
    content = bytearray(book.read_bytes())
    central = content.index(b"PK\x01\x02")
    match damage:
        case "version":
            content[central + 6] = 99
        case "method":
            content[central + 10] = 97
        case _:
            content[40:60] = bytes(20)
    book.write_bytes(content)
    with pytest.raises(WorkbookError) as caught:
        _read_all(book)
    assert UNEXPECTED not in str(caught.value)


def _read_all(book: Path) -> None:
    with Package(book) as package:
        for name in ("[Content_Types].xml", "_rels/.rels", "docProps/app.xml", "docProps/core.xml"):
            package.read(name)


@pytest.mark.parametrize(
    ("text", "value"),
    [("2020-01-01", 43831.0), ("2020-01-01T12:00:00", 43831.5), ("2020-01-01T18:00:00.000Z", 43831.75)],
)
def test_a_day_as_iso_text_is_its_number(tmp_path: Path, text: str, value: float):
    content = _sheet(f'<row r="1"><c r="A1" t="d"><v>{text}</v></c></row>')
    book = _with_parts(make_book(tmp_path / "book.xlsx", {}), {SHEET: content})
    assert values(book, "Sheet1", "A1") == [value]


@pytest.mark.parametrize("text", ["2020-13-01", "1900-01-01", "1.1.2020", "2020-W01-1", ""])
def test_what_is_no_day_is_refused(tmp_path: Path, text: str):
    content = _sheet(f'<row r="1"><c r="A1" t="d"><v>{text}</v></c></row>')
    book = _with_parts(make_book(tmp_path / "book.xlsx", {}), {SHEET: content})
    with pytest.raises(WorkbookError, match="A1"):
        values(book, "Sheet1", "A1")
