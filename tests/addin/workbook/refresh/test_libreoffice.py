"""Refreshing through LibreOffice, and books that LibreOffice wrote."""

import shutil
from pathlib import Path

import pytest

from addin.config.settings import Settings
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.programs import refresh_with_libreoffice
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.template.data import DATA_SHEET
from dataservice.client import AsyncClient
from tests.addin.workbook.books import WHOLE_SHEET, make_book, values
from tests.embedded import EmbeddedService
from udfs import Session

needs_soffice = pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed here")


@needs_soffice
async def test_libreoffice_works_out_every_formula_and_its_file_can_be_refreshed_without_it(
    real_service: EmbeddedService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DATA_SERVICE_API_KEY", real_service.key)
    book = make_book(
        tmp_path / "book.xlsx",
        {
            "A1": "eia.wti.spot",
            "B1": ("B1:B1", "=_xldudf_DS_SIGNAL(A1)"),
            "C1": "=B1*2",
            "D1": ("D1:E2", '=_xldudf_DS_SIGNAL_HISTORY("us-cpi","N3")'),
        },
    )
    out = tmp_path / "out.xlsx"
    settings = Settings(url=real_service.url, cache_dir=tmp_path / "cache")
    refresh_with_libreoffice(book, out, settings)
    assert values(out, "Sheet1", "B1", "C1") == [86.48, 172.96]
    assert values(out, "Sheet1", "D1", "E4") == ["date", 335.123]

    again = tmp_path / "again.xlsx"
    async with AsyncClient(real_service.url, real_service.key) as client:
        report = await refresh_book(Session(client), out, again)
    assert report.cells == 2
    assert values(again, "Sheet1", "B1", "E4") == [86.48, 335.123]


@needs_soffice
def test_blanks_in_a_table_stay_blank_and_count_nowhere(
    service: EmbeddedService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DATA_SERVICE_API_KEY", service.key)
    table = '=_xldudf_DS_SIGNAL_HISTORY("btc-usd,us-cpi","2026-07-30","2026-08-03","fill=none")'
    book = make_book(
        tmp_path / "book.xlsx",
        {"A1": ("A1:C6", table), "E1": "=AVERAGE(C2:C6)", "E2": "=MIN(C2:C6)", "E3": "=COUNT(C2:C6)", "E4": "=C2&C3"},
    )
    out = tmp_path / "out.xlsx"
    refresh_with_libreoffice(book, out, Settings(url=service.url, cache_dir=tmp_path / "cache"))
    known = values(out, "Sheet1", "C4")[0]
    assert isinstance(known, float)
    assert values(out, "Sheet1", "E1", "E2", "E3") == [known, known, 1.0]
    assert {value or "" for value in values(out, "Sheet1", "C2", "C3", "C5", "C6", "E4")} == {""}


def test_a_book_with_macros_is_not_given_to_libreoffice(tmp_path: Path):
    book = make_book(tmp_path / "book.xlsm", {"A1": 1})
    with pytest.raises(WorkbookError, match="drop its macros"):
        refresh_with_libreoffice(book, tmp_path / "out.xlsm", Settings(url="https://data.example"))


@needs_soffice
async def test_the_template_shows_the_same_values_through_either_engine(
    real_service: EmbeddedService, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DATA_SERVICE_API_KEY", real_service.key)
    template = project / "workbook_template.xlsx"
    by_office, by_us = tmp_path / "office.xlsx", tmp_path / "us.xlsx"
    refresh_with_libreoffice(template, by_office, Settings(url=real_service.url, cache_dir=tmp_path / "cache"))
    asked = real_service.running.request_count
    async with AsyncClient(real_service.url, real_service.key) as client:
        await refresh_book(Session(client), template, by_us)
    # Calc begins with the slugs that the template shows, of which this service has none: two names are asked in vain.
    assert asked <= real_service.running.request_count - asked + 2
    different = []
    with Package(by_office) as one, Package(by_us) as other:
        office, us = Book(one), Book(other)
        # Quota and status differ: they tell what each run has done. What else is on the hidden sheet, the others show.
        for name in set(us.sheet_names) - {"Start", DATA_SHEET}:
            for spot in us.sheet(name).spots_in(WHOLE_SHEET):
                ours, theirs = us.sheet(name).value(spot), office.sheet(name).value(spot)
                same = (
                    pytest.approx(ours, rel=1e-12) == theirs
                    if isinstance(ours, float)
                    else (ours or "") == (theirs or "")
                )
                if not same:
                    different.append((name, spot, ours, theirs))
    assert different == []


@needs_soffice
def test_cells_in_error_are_told_and_nothing_leads_to_parts_that_libreoffice_dropped(
    service: EmbeddedService, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DATA_SERVICE_API_KEY", service.free_key)  # whose plan has no wire
    out = tmp_path / "out.xlsx"
    settings = Settings(url=service.url, cache_dir=tmp_path / "cache")
    report = refresh_with_libreoffice(project / "workbook_template.xlsx", out, settings)
    assert report.cells > 70
    assert any("_DS_WIRE(" in note.formula for note in report.errors)
    with Package(out) as package:
        for part in ("", package.workbook):
            assert [target for _, _, target in package.related(part) if target not in package] == []
        assert "xl/webextensions/taskpanes.xml" not in package
