"""What the page cannot show of a book is named with its count when the book is opened."""

import openpyxl
import pytest
from openpyxl.chart import AreaChart, BarChart, Reference

from addin.sheet.opening.opened import opened_book
from tests.addin.sheet.opening.test_digestible import rewritten
from tests.addin.sheet.parts.pages import opened_sheet, sheet_server
from tests.addin.workbook.books import make_book

pytestmark = pytest.mark.usefixtures("component")

MAIN_2009 = "http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"
EXTENSIONS = f"""<extLst xmlns:x14="{MAIN_2009}"><ext uri="{{05C60535-1F16-4fd2-B633-F4F36F0B64E0}}">
<x14:sparklineGroups><x14:sparklineGroup><x14:sparklines><x14:sparkline></x14:sparkline></x14:sparklines></x14:sparklineGroup>
</x14:sparklineGroups></ext><ext uri="{{CCE6A557-97BC-4b89-ADB6-D9C93CAAB3DF}}">
<x14:dataValidations count="2"><x14:dataValidation type="list"/><x14:dataValidation type="list"/></x14:dataValidations>
</ext></extLst></worksheet>"""


def charts_book(path):
    book = openpyxl.load_workbook(make_book(path, {f"A{row}": row for row in range(1, 5)}))
    sheet = book["Sheet1"]
    for kind, cell in ((AreaChart, "D1"), (BarChart, "D20"), (AreaChart, "D40")):
        chart = kind()
        chart.add_data(Reference(sheet, min_col=1, min_row=1, max_row=4))
        sheet.add_chart(chart, cell)
    book.save(path)
    return path


def test_what_stands_inside_of_sheets_and_drawings_is_counted(tmp_path):
    book = rewritten(charts_book(tmp_path / "book.xlsx"), sheet1_xml=("</worksheet>", EXTENSIONS))
    namespace = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
    box = f'<xdr:oneCellAnchor xmlns:xdr="{namespace}"><xdr:sp/></xdr:oneCellAnchor>'
    rewritten(book, drawing1_xml=(r"(</(?:\w+:)?wsDr>)", box + r"\1"))
    kept = opened_book(book, name="book.xlsx")["kept"]
    assert kept == {"sparkline": 1, "drop-down list or check": 2, "text box or shape": 1, "chart": 3}


def test_charts_that_the_component_does_not_draw_are_named(chromium, service, tmp_path):
    book = charts_book(tmp_path / "book.xlsx")
    with sheet_server(service, tmp_path, book) as url, opened_sheet(chromium, url) as page:
        page.sees("Not shown here, but kept in a copy: 2 charts.")


def test_of_labels_in_several_rows_a_chart_has_the_last_one(tmp_path):
    book = charts_book(tmp_path / "book.xlsx")
    labels = "<cat><multiLvlStrRef><f>'Sheet1'!$A$1:$D$2</f></multiLvlStrRef></cat><val>"
    rewritten(book, chart2_xml=("<val>", labels))
    parts = opened_book(book, name="book.xlsx")["parts"]
    assert "<c:multiLvlStrRef><c:f>'Sheet1'!A2:D2</c:f>" in parts["xl/charts/chart2.xml"]
