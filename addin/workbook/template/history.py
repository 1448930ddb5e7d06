"""History: several signals side by side from a start on, resampled, in one formula."""

from __future__ import annotations

from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from addin.workbook.template.lists import FIRST_ROW as CATALOGUE_ROW
from addin.workbook.template.theme import DATE, RULE, Theme

_TABLE_ROW = 9
_CHART_ROWS = 37
_LINES = ("#1757A6", "#D9822B", "#5B4B9A")


def write_history(workbook: Workbook, sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet."""
    subtitle = "Change the shaded cells: slugs, start, frequency, transform. One formula fills the table."
    theme.begin(sheet, "History", subtitle, (2, 14, 29, 20, 20, 3, 12, 12, 12, 12, 12, 12))
    sheet.freeze_panes(_TABLE_ROW, 2)
    sheet.write("B4", "Signals", theme.label)
    for number, column in enumerate("CDE"):
        sheet.write_formula(f"{column}4", f'=Catalogue!B{CATALOGUE_ROW + number}&""', theme.input, "")
    sheet.write("B5", "Start", theme.label)
    sheet.write("C5", "-3Y", theme.input)
    sheet.write("D5", "a date, -5Y, YTD, N60 or MAX", theme.note)
    sheet.write("B6", "Options", theme.label)
    sheet.write("C6", "freq=M; transform=index(100)", theme.input)
    sheet.write("E6", "freq, agg, fill, align, transform, order …", theme.note)
    sheet.write("B8", "Monthly, the first value = 100", theme.format(bold=True))
    theme.formula(sheet, f"B{_TABLE_ROW}", theme.call("SIGNAL_HISTORY", "C4:E4", "C5", "", "C6"), theme.heading)
    theme.columns(sheet, {"B": {"num_format": DATE, "indent": 1}, "CDE": {"num_format": "#,##0.00"}})
    for column in "CDE":
        sheet.write_blank(f"{column}{_TABLE_ROW}", None, theme.number_heading)
    theme.rule_rows(sheet, f"B{_TABLE_ROW + 1}:E{_TABLE_ROW + 5000}")
    _write_chart(workbook, sheet)
    sheet.repeat_rows(_TABLE_ROW - 1)


def _write_chart(workbook: Workbook, sheet: Worksheet) -> None:
    chart = workbook.add_chart({"type": "line"})
    first, last = _TABLE_ROW + 1, _TABLE_ROW + _CHART_ROWS
    for column, colour in zip("CDE", _LINES, strict=True):
        chart.add_series(
            {
                "name": f"=History!${column}${_TABLE_ROW}",
                "categories": f"=History!$B${first}:$B${last}",
                "values": f"=History!${column}${first}:${column}${last}",
                "line": {"color": colour, "width": 2},
            }
        )
    chart.set_legend({"position": "bottom"})
    chart.set_x_axis({"num_format": "mmm yyyy", "interval_unit": 6, "line": {"color": RULE}, "major_tick_mark": "none"})
    chart.set_y_axis({"major_gridlines": {"visible": True, "line": {"color": RULE}}, "line": {"none": True}})
    chart.set_chartarea({"border": {"none": True}})
    chart.set_size({"width": 620, "height": 380})
    sheet.insert_chart(f"G{_TABLE_ROW + 1}", chart, {"description": "The signals above, from the same start"})
