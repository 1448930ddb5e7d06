"""Formulas found in a sheet's XML while it is read, also where the file is damaged."""

import pytest

from addin.workbook.ooxml.cellformulas import scanned_formulas
from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.ooxml.stored import MAIN


def found(rows, rest=""):
    content = f'<worksheet xmlns="{MAIN}">{rest}<sheetData>{rows}</sheetData></worksheet>'.encode()
    return {spot: formula.text for spot, formula in scanned_formulas(content, "sheet1.xml")}


def test_formulas_stand_where_rows_and_cells_say_or_after_the_one_before():
    rows = '<row r="2"><c r="C2"><f>A1</f></c><c><f>A2</f></c></row><row><c><f>A3</f></c></row>'
    assert found(rows) == {(2, 3): "A1", (2, 4): "A2", (3, 1): "A3"}


@pytest.mark.parametrize("stray", ["<row/>", '<row r="9"/>', "<c/>", '<c r="Z9"><f>B9</f></c>'])
def test_a_cell_where_only_some_programs_look_for_one_is_refused(stray):
    for rows, rest in ((f'<row r="2"><c r="A2"><f>A1</f><v>1</v>{stray}</c></row>', ""), ('<row r="2"/>', stray)):
        with pytest.raises(WorkbookError, match="stands where not every program looks for it"):
            found(rows, rest=f"<x>{rest}<f>1</f></x>")


def test_the_empty_formulas_that_excel_leaves_in_spilled_cells_are_none():
    head = '<c r="A1" cm="1"><f t="array" aca="1" ref="A1:A3" ca="1">_xlfn.SEQUENCE(3)+DAY(TODAY())</f><v>1</v></c>'
    shared = '<c r="B1"><f t="shared" ref="B1:B2" si="0">A1+1</f></c>'
    spilled = '<c r="A2"><f ca="1"/><v>2</v></c><c r="B2"><f t="shared" si="0"/></c>'
    rows = f'<row r="1">{head}{shared}</row><row r="2">{spilled}</row>'
    assert found(rows) == {(1, 1): "_xlfn.SEQUENCE(3)+DAY(TODAY())", (1, 2): "A1+1", (2, 2): "A2+1"}
