"""Books that the calculation worked out, recalculated by LibreOffice: every ordinary formula shows the same."""

import shutil
from pathlib import Path

import pytest

from addin.calc.soffice import convert
from addin.formulas import mentions
from addin.workbook.freeze import freeze
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.refresh import refresh_book
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book
from tests.embedded import EmbeddedService
from udfs import Session
from udfs.cells import Scalar
from udfs.errors import CellError

needs_soffice = pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed here")

CELLS = {
    "A1": '=_xldudf_DS_SIGNAL("us-cpi")',
    "A2": '=_xldudf_DS_SIGNAL("us-10y")*10',
    "A3": "=A1-A2/3",
    "A4": '=ROUND(A3,2)&" points"',
    "A5": "=IF(A1>A2,MAX(A1:A3),MIN(A1:A3))",
    "A6": '=IFERROR(A1/(A2-A2),"none")',
    "A7": "=SUMPRODUCT(A1:A3,A1:A3)",
    "A8": '=TEXT(A1,"0.000")',
    "A9": "=INDEX(A1:A3,MATCH(MAX(A1:A3),A1:A3,0))",
    "A10": "=STDEV(A1:A3)/AVERAGE(A1:A3)",
    "A11": "=A1/0",
    "A12": "=Other!A1&A8",
    "A13": "=PMT(A1/100000,12,-1000)",
    "A14": '=COUNTIF(A1:A3,">10")',
}


def _ordinary(path: Path) -> dict[tuple[str, tuple[int, int]], Scalar]:
    """What the formulas of a book show that call no function of ours."""
    with Package(path) as package:
        book = Book(package)
        return {
            (name, spot): book.sheet(name).value(spot)
            for name in book.sheet_names
            for spot, formula in book.sheet(name).formulas()
            if not mentions(formula.text)
        }


def _same(one: Scalar, other: Scalar) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-12, abs=1e-12)
    if isinstance(one, CellError) and isinstance(other, CellError):
        return one.message == other.message
    return one == other or (one in (None, "") and other in (None, ""))


@needs_soffice
@pytest.mark.parametrize("source", ["a mixed book", "the template"])
async def test_libreoffice_comes_to_the_same_values(real_service: EmbeddedService, tmp_path: Path, source: str):
    book = tmp_path / "book.xlsx"
    if source == "the template":
        shutil.copy(Path(__file__).parents[4] / "workbook_template.xlsx", book)
    else:
        make_book(book, CELLS, Other={"A1": '=UPPER("us-cpi")'})
    async with AsyncClient(real_service.url, real_service.key) as client:
        report = await refresh_book(Session(client), book, book)
        await freeze(book, tmp_path / "frozen.xlsx", ask=Session(client).answer)
    ours = _ordinary(tmp_path / "frozen.xlsx")
    theirs = _ordinary(convert(tmp_path / "frozen.xlsx", to="xlsx", into=tmp_path / "out"))
    unproven = {cell.cell for cell in report.unproven}
    assert len(ours) > 10
    assert {
        place: (ours[place], theirs.get(place))
        for place in ours
        if place not in unproven and not _same(ours[place], theirs.get(place))
    } == {}
