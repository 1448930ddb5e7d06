"""Cells in which Excel shows a value that stands elsewhere in the file: younger errors, data types, formatted days."""

import zipfile
from pathlib import Path

import pytest

from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session

CALL = '=_xldudf_DS_SIGNAL("us-cpi")'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RICH = "http://schemas.microsoft.com/office/spreadsheetml/2017/richdata"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sheetMetadata"
MICROSOFT = "http://schemas.microsoft.com/office/2017/06/relationships/"
METADATA = (
    f'<metadata xmlns="{MAIN}" xmlns:xlrd="{RICH}"><metadataTypes count="1"><metadataType name="XLRICHVALUE"/>'
    '</metadataTypes><futureMetadata name="XLRICHVALUE" count="2"><bk><extLst><ext uri="{1}"><xlrd:rvb i="0"/></ext>'
    '</extLst></bk><bk><extLst><ext uri="{1}"><xlrd:rvb i="1"/></ext></extLst></bk></futureMetadata><valueMetadata '
    'count="2"><bk><rc t="1" v="0"/></bk><bk><rc t="1" v="1"/></bk></valueMetadata></metadata>'
)
VALUES = f'<rvData xmlns="{RICH}" count="2"><rv s="0"><v>8</v></rv><rv s="1"><v>0</v></rv></rvData>'
STRUCTURES = (
    f'<rvStructures xmlns="{RICH}" count="2"><s t="_error"><k n="errorType" t="i"/></s>'
    '<s t="_formattednumber"><k n="_Format" t="spb"/></s></rvStructures>'
)
ERROR, DAY = 1, 2
"""The marks of the two rich values: an error that old programs do not know, and the format of a number."""


def _rich_book(path: Path, cells: dict[str, object], rich: dict[str, tuple[int, str, str]]) -> Path:
    """Write a book in which cells also have a mark of a rich value, a type and the value for old programs."""
    plain = make_book(path.with_name("plain.xlsx"), cells)
    related = (
        (OFFICE, "metadata.xml"),
        (f"{MICROSOFT}rdRichValue", "v.xml"),
        (f"{MICROSOFT}rdRichValueStructure", "s.xml"),
    )
    more = "".join(
        f'<Relationship Id="rich{n}" Type="{kind}" Target="{part}"/>' for n, (kind, part) in enumerate(related)
    )
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            text = old.read(name).decode()
            if name == "xl/worksheets/sheet1.xml":
                for cell, (mark, kind, value) in rich.items():
                    before, after = text.split(f'<c r="{cell}"', 1)
                    inner, rest = after.split("</c>", 1)
                    formula = inner[inner.find("<f>") : inner.find("</f>") + 4] if "<f>" in inner else ""
                    text = f'{before}<c r="{cell}" t="{kind}" vm="{mark}">{formula}<v>{value}</v></c>{rest}'
            elif name == "xl/_rels/workbook.xml.rels":
                text = text.replace("</Relationships>", f"{more}</Relationships>")
            new.writestr(name, text)
        for (_, part), content in zip(related, (METADATA, VALUES, STRUCTURES), strict=True):
            new.writestr(f"xl/{part}", content)
    return path


async def _refreshed(service: EmbeddedService, book: Path) -> Refreshed:
    async with AsyncClient(service.url, service.key) as client:
        return await refresh_book(Session(client), book, book)


def _marked(book: Path) -> set[tuple[int, int]]:
    with Package(book) as package:
        return set(Book(package).sheet("Sheet1").rich_values())


async def test_a_cell_that_was_busy_shows_its_new_value_and_can_be_refreshed_again(
    service: EmbeddedService, tmp_path: Path
):
    cells: dict[str, object] = {"A1": CALL, "B1": "=A1*2", "C1": f"{CALL}+1"}
    book = _rich_book(tmp_path / "book.xlsx", cells, dict.fromkeys(cells, (ERROR, "e", "#VALUE!")))
    await _refreshed(service, book)
    one, twice, more = values(book, "Sheet1", "A1", "B1", "C1")
    assert (twice, more) == (one * 2, one + 1)
    assert not _marked(book)
    assert (await _refreshed(service, book)).errors == []


async def test_an_error_that_stays_is_no_longer_shown_as_the_one_of_before(service: EmbeddedService, tmp_path: Path):
    book = _rich_book(tmp_path / "book.xlsx", {"A1": CALL, "B1": '=A1*"x"'}, {"B1": (ERROR, "e", "#VALUE!")})
    await _refreshed(service, book)
    assert not _marked(book)


async def test_days_as_functions_of_add_ins_answer_them_are_read_and_keep_their_format(
    service: EmbeddedService, tmp_path: Path
):
    cells: dict[str, object] = {"A1": CALL, "A2": "x", "A3": "=A2+A1*0", "A4": 5}
    book = _rich_book(tmp_path / "book.xlsx", cells, dict.fromkeys(("A1", "A2", "A3"), (DAY, "n", "45000")))
    report = await _refreshed(service, book)
    assert [cell.unproven for cell in report.calculated] == [""]
    assert values(book, "Sheet1", "A2", "A3") == [45000.0, 45000.0]
    assert _marked(book) == {(2, 1), (3, 1)}


async def test_a_number_with_another_value_in_its_place_is_refused(service: EmbeddedService, tmp_path: Path):
    book = _rich_book(tmp_path / "book.xlsx", {"A1": CALL, "A2": "x"}, {"A2": (ERROR, "n", "5")})
    with pytest.raises(WorkbookError, match="A2: Excel shows another value than its number"):
        await _refreshed(service, book)


@pytest.mark.parametrize(
    "formula", ["=LEN(B1)+A1*0", "=COUNTA(B1:B3)+A1*0", "=IFERROR(B1,A1)", f"=IF(ISERROR(B1),1,0)+{CALL[1:]}"]
)
async def test_a_formula_that_reads_a_data_type_or_a_picture_is_left(
    service: EmbeddedService, tmp_path: Path, formula: str
):
    book = _rich_book(tmp_path / "book.xlsx", {"A1": CALL, "B1": "x", "C5": formula}, {"B1": (ERROR, "e", "#VALUE!")})
    [cell] = [cell for cell in (await _refreshed(service, book)).unproven if cell.cell[1] == (5, 3)]
    assert "Excel shows another value" in cell.unproven
    assert values(book, "Sheet1", "C5") == [None]
    assert _marked(book) == {(1, 2)}
