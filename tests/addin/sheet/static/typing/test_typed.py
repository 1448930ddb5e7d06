"""What is typed and pasted becomes what Excel makes of it, or stays text; it is never another number."""

from datetime import date

import openpyxl
import pytest

from tests.addin.sheet.parts.pages import opened_sheet, sheet_server

pytestmark = pytest.mark.usefixtures("component")

TEXTS = ["1 1/2", "1 234", "- 5", "(5)", "Jan 2026", "5 Jan", "-A1", "@A1", "10 a", "#N/A", "TRUE", "1/1/1899"]
"""Texts of a file that would be something else if they were typed."""

COPY = """([from, to, pasteOption]) => {
  const { model } = sheet.book;
  const zone = o_spreadsheet.helpers.toZone;
  model.selection.selectZone({ cell: { col: zone(from).left, row: zone(from).top }, zone: zone(from) });
  model.dispatch("COPY");
  model.dispatch("PASTE", { target: [zone(to)], pasteOption });
}"""


FORMULAS = """(cells) => cells.map((xc) => sheet.book.model.getters.getCellText(
  { sheetId: "Sheet1", ...o_spreadsheet.helpers.toCartesian(xc) }, { showFormula: true }))"""


def test_fractions_brackets_and_months_are_typed_as_in_excel(blank, tmp_path):
    typed = {
        "A1": "1 1/2",
        "A2": "(1,000)",
        "A3": "Jan 2026",
        "A4": "-A1",
        "A5": "@SUM(A1:A2)",
        "A6": "#N/A",
        "A7": "- 5",
    }
    for cell, text in typed.items():
        blank.select(cell)
        blank.run(lambda page, text=text: page.keyboard.type(text))
        blank.keys("Enter")
    assert blank.values(*typed) == [1.5, -1000, 46023, -1.5, -998.5, "#N/A", -5]
    assert blank.cell("A3")["shown"] == "Jan-26"
    blank.download(tmp_path / "copy.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "copy.xlsx")["Sheet1"]
    assert [sheet[cell].value for cell in ("A1", "A2", "A4", "A7")] == [1.5, -1000, "=-A1", -5]
    assert sheet["A3"].number_format == "mmm-yy"


def test_enter_keeps_what_was_typed_where_a_function_is_offered_that_is_called_otherwise(blank):
    typed = {"B1": "=Total", "B2": "=SUM(1,2)+us", "B3": "=A1*ate"}
    for cell, formula in typed.items():
        blank.select(cell)
        blank.run(lambda page, formula=formula: page.keyboard.type(formula))
        blank.until("document.querySelector('.o-autocomplete-dropdown') !== null")
        blank.keys("Enter")
    assert blank.tab.evaluate(FORMULAS, list(typed)) == list(typed.values())


def test_what_excel_leaves_text_is_no_number(blank):
    typed = {
        "A1": "1 234",
        "A2": "1 5 2026",
        "A3": "-5 apples",
        "A4": "- item (1)",
        "A5": "@john",
        "A6": "1/1/1899",
        "A7": "-abc",
    }
    blank.put(typed)
    assert blank.values(*typed) == list(typed.values())


def test_text_of_a_file_stays_text_where_it_is_copied(chromium, service, tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "Sheet1"
    for row, text in enumerate(TEXTS, 1):
        cell = book.active.cell(row, 1, text)
        cell.data_type = "s"
    book.save(tmp_path / "book.xlsx")
    with sheet_server(service, tmp_path, tmp_path / "book.xlsx") as url, opened_sheet(chromium, url) as page:
        cells = [f"{column}{row}" for column in "ACE" for row in range(1, len(TEXTS) + 1)]
        page.tab.evaluate(COPY, [f"A1:A{len(TEXTS)}", "C1", None])
        page.tab.evaluate(COPY, [f"A1:A{len(TEXTS)}", "E1", "asValue"])
        assert page.values(*cells) == TEXTS * 3


def test_what_formulas_show_as_days_and_percentages_a_copy_shows_so_too(blank, tmp_path):
    blank.put({"A1": "Jan 2026", "A2": "=EOMONTH(A1,0)", "A3": "=A1+45", "B1": "5%", "B2": "=B1*2"})
    blank.put({"D1": '=DS.SIGNAL_HISTORY("us-cpi","N3")'})
    assert [blank.cell(cell)["shown"] for cell in ("A2", "A3", "B2", "D2")] == [
        "1/31/2026",
        "Feb-26",
        "10%",
        "2026-06-01",
    ]
    blank.download(tmp_path / "copy.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "copy.xlsx", data_only=True)["Sheet1"]
    assert [sheet[cell].value.date() for cell in ("A2", "A3", "D2", "D4")] == [
        date(2026, 1, 31), date(2026, 2, 15), date(2026, 6, 1), date(2026, 8, 1)
    ]  # fmt: skip
    assert (sheet["B2"].value, sheet["B2"].number_format, sheet["E2"].number_format) == (0.1, "0%", "General")


def test_formats_of_files_are_shown_as_in_excel(chromium, service, tmp_path):
    shown = {
        "[h]:mm:ss": (1.0625, "25:30:00"),
        "d-mmm-yy": (46023, "1-Jan-26"),
        "mmm-yy": (46023, "Jan-26"),
        "h:mm": (0.0625, "01:30"),
        "#,##0_);(#,##0)": (-1234.5, "(1,235)"),
    }
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sheet1"
    for row, (code, (value, _)) in enumerate(shown.items(), 1):
        sheet.cell(row, 1, value).number_format = code
    book.save(tmp_path / "book.xlsx")
    with sheet_server(service, tmp_path, tmp_path / "book.xlsx") as url, opened_sheet(chromium, url) as page:
        assert [page.cell(f"A{row}")["shown"] for row in range(1, 6)] == [text for _, text in shown.values()]
