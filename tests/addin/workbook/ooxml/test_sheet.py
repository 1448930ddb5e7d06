"""Cells in a sheet's XML: read as the file means them, written without touching their neighbours."""

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from addin.formulas import Area
from addin.workbook.ooxml.sheet import Sheet
from addin.workbook.ooxml.stored import MAIN, same_value
from tests.addin.workbook.books import WHOLE_SHEET
from udfs.errors import CellError, ErrorCode


def _sheet(rows: str, strings: tuple[str, ...] = (), rest: str = "") -> Sheet:
    xml = f'<worksheet xmlns="{MAIN}"><dimension ref="A1:B2"/><sheetData>{rows}</sheetData>{rest}</worksheet>'
    return Sheet("Sheet1", "xl/worksheets/sheet1.xml", etree.fromstring(xml), strings)


def test_each_stored_type_is_read():
    sheet = _sheet(
        '<row r="1"><c r="A1"><v>1.5</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="b"><v>1</v></c>'
        '<c r="D1" t="e"><v>#REF!</v></c><c r="E1" t="str"><v>a_x000A_b</v></c>'
        '<c r="F1" t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c><c r="G1" s="3"/></row>',
        strings=("zero", "one"),
    )
    values = [sheet.value((1, column)) for column in range(1, 9)]
    assert values == [1.5, "one", True, CellError(ErrorCode.NA, "#REF!"), "a\nb", "inline", None, None]


def test_cells_without_a_reference_follow_the_one_before():
    sheet = _sheet('<row><c><v>1</v></c><c><v>2</v></c></row><row r="4"><c r="C4"><v>3</v></c><c><v>4</v></c></row>')
    assert [sheet.value(spot) for spot in [(1, 1), (1, 2), (4, 3), (4, 4)]] == [1.0, 2.0, 3.0, 4.0]


def test_a_shared_formula_is_written_out_for_each_of_its_cells():
    sheet = _sheet(
        '<row r="1"><c r="B1"><f t="shared" ref="B1:B2" si="0">_xldudf_DS_SIGNAL(A1)</f></c></row>'
        '<row r="2"><c r="B2"><f t="shared" si="0"/></c></row>'
    )
    assert [formula.text for _, formula in sheet.formulas()] == ["_xldudf_DS_SIGNAL(A1)", "_xldudf_DS_SIGNAL(A2)"]


def test_writing_a_value_keeps_formula_style_and_mark():
    sheet = _sheet('<row r="1"><c r="A1" s="7" cm="1" t="str"><f t="array" ref="A1">F()</f><v>old</v></c></row>')
    sheet.write((1, 1), 2.5)
    assert b'<c r="A1" s="7" cm="1"><f t="array" ref="A1">F()</f><v>2.5</v></c>' in sheet.content()


@pytest.mark.parametrize(
    "value",
    [None, True, False, 0, 1.25, -36.98, 1e300, "text", " spaced ", "=1+1", "_x0041_", "a\x00b", "𝄞", "", "a\r\nb"],
)
def test_a_written_value_is_read_back(value: object):
    sheet = _sheet("")
    sheet.write((3, 2), value)  # type: ignore[arg-type]
    again = Sheet("Sheet1", "p", etree.fromstring(sheet.content()), ())
    expected = "a\r\nb".replace("\r", "\r") if value == "a\r\nb" else value
    assert again.value((3, 2)) == (expected if expected != "" else None)


def test_dates_are_written_as_serial_numbers():
    sheet = _sheet("")
    sheet.write((1, 1), date(2020, 4, 20))
    sheet.write((1, 2), datetime(2020, 4, 20, 12))  # noqa: DTZ001 - naive UTC
    assert (sheet.value((1, 1)), sheet.value((1, 2))) == (43941.0, 43941.5)


@given(st.permutations([(row, column) for row in (1, 2, 5, 9) for column in (1, 3, 27, 60)]))
def test_new_cells_stand_in_order_whatever_the_order_of_writing(spots: list[tuple[int, int]]):
    sheet = _sheet('<row r="5" spans="3:3"><c r="C5"><v>0</v></c></row>')
    for number, spot in enumerate(spots):
        sheet.write(spot, number)
    root = etree.fromstring(sheet.content())
    rows = [int(row.get("r")) for row in root.iter(f"{{{MAIN}}}row")]
    assert rows == sorted(rows)
    again = Sheet("Sheet1", "p", root, ())
    assert list(again.spots_in(WHOLE_SHEET)) == sorted(spots)
    assert [again.value(spot) for spot in spots] == [float(number) for number in range(len(spots))]


def test_a_new_cell_takes_the_style_of_the_one_it_is_like():
    sheet = _sheet('<row r="1"><c r="A1" s="4"><v>1</v></c></row>')
    sheet.write((2, 1), 2.0, like=(1, 1))
    assert b'<c r="A2" s="4"><v>2.0</v></c>' in sheet.content()


def test_resizing_an_array_grows_the_sheets_dimension():
    sheet = _sheet('<row r="1"><c r="A1"><f t="array" ref="A1:B2">F()</f></c></row>')
    sheet.resize((1, 1), Area(1, 1, 40, 3))
    assert sheet.array_at((1, 1)) == Area(1, 1, 40, 3)
    assert b'<dimension ref="A1:C40"/>' in sheet.content()


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [(1.0, 1, True), (1.0, True, False), (None, "", True), (43941.0, date(2020, 4, 20), True), ("1", 1, False)],
)
def test_sameness_is_that_of_the_cell(old: object, new: object, same: bool):
    assert same_value(old, new) is same  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [2.5, 0.0, "text", True, None])
def test_a_value_written_over_a_number_is_read_again(value: float | str | None):
    sheet = _sheet('<row r="1"><c r="A1"><v>7</v></c></row>')
    assert sheet.value((1, 1)) == 7
    sheet.write((1, 1), value)
    assert sheet.value((1, 1)) == value
