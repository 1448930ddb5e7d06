"""What depends on a language or a computer: letters, their order and numbers, texts of numbers and dates."""

from pathlib import Path

import pytest
from xlsxwriter import Workbook

from addin.workbook.calculation.reading.letters import OTHER_LANGUAGE, OTHER_TEXTS, Letters
from addin.workbook.refresh.refresh import refresh_book
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService
from udfs import Session

CALL = '_xldudf_DS_SIGNAL("us-cpi")'
DAY = '_xldudf_DS_SIGNAL("us-cpi","observed_at")'


async def _reasons(service: EmbeddedService, book: Path) -> dict[tuple[int, int], str]:
    async with AsyncClient(service.url, service.key) as client:
        report = await refresh_book(Session(client), book, book)
    return {cell.cell[1]: cell.unproven for cell in report.unproven}


async def test_letters_that_programs_take_differently_are_left(service: EmbeddedService, tmp_path: Path):
    left = {
        "UPPER(B1)": Letters.CASE,
        'PROPER("straße")': Letters.CASE,
        'CODE("é")': Letters.CODES,
        "CHAR(200)": Letters.CODES,
        "LENB(B2)": Letters.CODES,
        "LEN(B3)": Letters.PLACES,
        'MID("a😀b",2,1)': Letters.PLACES,
        'TEXTJOIN("",TRUE,_xlfn._xlws.SORT(B1:B4))': Letters.ORDER,
        'B2>"e"': Letters.ORDER,
        '"zebra"<"ä"': Letters.ORDER,
    }
    right = {"UPPER(B2)": "É", 'CODE("e")': 101, "CHAR(65)": "A", "LEN(B1)": 6, 'B4>"e"': True, 'B2="É"': True}
    formulas = [f"=IF({CALL}>0,{each},0)" for each in (*left, *right)]
    texts = {"B1": "straße", "B2": "é", "B3": "a😀", "B4": "us-cpi"}
    book = make_book(tmp_path / "book.xlsx", {f"A{row}": each for row, each in enumerate(formulas, 1)} | texts)
    assert list((await _reasons(service, book)).values()) == list(left.values())
    first = len(left) + 1
    assert values(book, "Sheet1", *(f"A{first + at}" for at in range(len(right)))) == list(right.values())


async def test_a_file_with_decimal_commas_gets_no_decimal_points(service: EmbeddedService, tmp_path: Path):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.write_formula("A1", f'=TEXT({CALL},"0.00")', None, "3,14")
        sheet.write_formula("A2", f'="CPI: "&{CALL}', None, "CPI: 3")
        sheet.write_formula("A3", f"={CALL}*2", None, 6)
    assert await _reasons(service, path) == dict.fromkeys([(1, 1), (2, 1)], OTHER_LANGUAGE)
    assert values(path, "Sheet1", "A1", "A2") == ["3,14", "CPI: 3"]


async def test_names_of_months_stay_where_another_text_is_of_another_language(service: EmbeddedService, tmp_path: Path):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.write_formula("A1", f"={DAY}", None, 43952)
        sheet.write_formula("A2", '=TEXT(A1,"mmmm")', None, "Mai")
        sheet.write_formula("A3", f'=TEXT({DAY},"mmm")', None, "Mai")
    assert (await _reasons(service, path))[3, 1] == OTHER_TEXTS
    assert values(path, "Sheet1", "A2", "A3") == ["Mai", "Mai"]


async def test_a_text_of_another_number_says_nothing_of_the_language(service: EmbeddedService, tmp_path: Path):
    path = tmp_path / "book.xlsx"
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet1")
        sheet.write_formula("A1", '=TEXT(1.5,"0.0")', None, "2.5")
        sheet.write_formula("A2", f'=A1&TEXT({CALL},"0")', None, "2.53")
        sheet.write_formula("A3", f'=TEXT({CALL},"0")', None, "3")
    assert (3, 1) not in await _reasons(service, path)


@pytest.mark.parametrize("text", ["0 bps", "0;-0;zero", "[$-F800]dddd", "0 EUR"])
async def test_formats_with_letters_of_no_format_are_left(service: EmbeddedService, tmp_path: Path, text: str):
    cells = {"A1": f'=TEXT({CALL},"{text}")', "A2": f'=TEXT({CALL},"0.0x ""EUR"" [$-409]\\k")'}
    book = make_book(tmp_path / "book.xlsx", cells)
    assert list(await _reasons(service, book)) == [(1, 1)]
    assert str(values(book, "Sheet1", "A2")[0]).endswith("x EUR k")
