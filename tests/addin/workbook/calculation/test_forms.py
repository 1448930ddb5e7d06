"""Tables of ours inside of other functions, in the forms that people use: each spills or is one value, as in Excel."""

import asyncio
import re
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from xlsxwriter import Workbook

from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.template.build import example_session

SLUGS = ["us-cpi", "us-10y", "wb.gold"]
NUMBERS, NAMES = "_xldudf_DS_SIGNAL(A1:A3)", '_xldudf_DS_SIGNAL(A1:A3,"name")'
Expected: TypeAlias = Callable[[list[float], list[str]], list[Any]]

SPILLED: dict[str, Expected] = {
    "IFERROR(T,0)": lambda t, n: t,
    "T*2": lambda t, n: [each * 2 for each in t],
    "TAKE(T,-2)": lambda t, n: t[-2:],
    "SORT(T,,-1)": lambda t, n: sorted(t, reverse=True),
    "TRANSPOSE(T)": lambda t, n: [t],
    "LET(x,T,x+1)": lambda t, n: [each + 1 for each in t],
    "VSTACK(T,7)": lambda t, n: [*t, 7],
    "CHOOSECOLS(T,1)": lambda t, n: t,
    "ROUND(T,0)": lambda t, n: [round(each) for each in t],
    "IF(T>100,T,0)": lambda t, n: [each if each > 100 else 0 for each in t],
    "UPPER(N)": lambda t, n: [each.upper() for each in n],
    "LEN(N)": lambda t, n: [len(each) for each in n],
    "FILTER(A1:A3,T>100)": lambda t, n: [slug for slug, each in zip(SLUGS, t, strict=True) if each > 100],
}
ONE_CELL: dict[str, Expected] = {
    "SUM(LEN(N))": lambda t, n: [sum(map(len, n))],
    "SUMPRODUCT(--ISNUMBER(T))": lambda t, n: [3],
    "SUM(T*2)": lambda t, n: [sum(t) * 2],
    "MAX(ROUND(T,0))": lambda t, n: [max(map(round, t))],
    'TEXTJOIN(",",TRUE,LEFT(N,2))': lambda t, n: [",".join(each[:2] for each in n)],
    "SUM(LARGE(T,{1,2}))": lambda t, n: [sum(sorted(t)[1:])],
    'SUM(IF(LEFT(N,1)="U",1,0))': lambda t, n: [sum(each[:1].upper() == "U" for each in n)],
    "COUNT(1/(T>100))": lambda t, n: [sum(each > 100 for each in t)],
    "INDEX(SORT(T),2)": lambda t, n: [sorted(t)[1]],
}
_NEW = re.compile(r"\b(TAKE|SORT|LET|VSTACK|CHOOSECOLS|FILTER|TEXTJOIN)\(")


def _stored(form: str) -> str:
    """A form as files hold it."""
    text = re.sub(r"\bx\b", "_xlpm.x", re.sub(r"\bT\b", NUMBERS, re.sub(r"\bN\b", NAMES, form)))
    return _NEW.sub(lambda match: f"_xlfn.{'_xlws.' * (match[1] in ('SORT', 'FILTER'))}{match[0]}", text)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What each form shows after one refresh, and the numbers and names that it is made of."""
    path = tmp_path_factory.mktemp("forms") / "book.xlsx"
    forms = {"T": NUMBERS, "N": NAMES, **{form: _stored(form) for form in (*SPILLED, *ONE_CELL)}}
    with Workbook(path) as book:
        for place, text in enumerate(forms.values()):
            sheet = book.add_worksheet(f"F{place}")
            sheet.write_column("A1", SLUGS)
            sheet.write_dynamic_array_formula("C1:C1", f"={text}", None, 5)

    async def refresh() -> None:
        async with example_session() as session:
            report = await refresh_book(session, path, path)
        assert report.unproven == []

    asyncio.run(refresh())
    with Package(path) as package:
        sheets = [Book(package).sheet(f"F{place}") for place in range(len(forms))]
        cells = [[[sheet.value((row, column)) for column in range(3, 6)] for row in range(1, 6)] for sheet in sheets]
    return {form: _filled(rows) for form, rows in zip(forms, cells, strict=True)}


def _filled(rows: list[list[Any]]) -> list[Any]:
    """The rows that hold something; of one column its values."""
    kept = [[value for value in row if value is not None] for row in rows]
    return [row[0] if len(row) == 1 else row for row in kept if row]


@pytest.mark.parametrize("form", [*SPILLED, *ONE_CELL])
def test_a_table_of_ours_is_a_table_inside_of(form: str, shown: dict[str, list[Any]]):
    expected = {**SPILLED, **ONE_CELL}[form](shown["T"], shown["N"])
    assert shown[form] == pytest.approx(expected) if form != "TRANSPOSE(T)" else shown[form] == expected
