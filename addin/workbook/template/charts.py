"""The sheets with a chart: Dashboard, the latest values of ten signals, and Compare, several signals side by side."""

from __future__ import annotations

from typing import Any

from xlsxwriter.chart import Chart
from xlsxwriter.worksheet import Worksheet

from addin.workbook.template.lists import FIRST_ROW as CATALOGUE_ROW
from addin.workbook.template.theme import ACCENT, DATE, MUTED, RULE, Theme

_SIGNALS_ROW, _SIGNALS = 6, 10
_POINTS = 250
_HISTORY_ROW = 9
_HISTORY_POINTS = 37


def write_dashboard(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet: slugs that the user overwrites, with value, change and trend, and the chart of one signal."""
    subtitle = "Overwrite a slug in column B with any other; it begins with the first of the catalogue."
    theme.begin(sheet, "Dashboard", subtitle, (2, 20, 40, 13, 12, 11, 12, 22, 27, 3, 12, 12))
    sheet.freeze_panes(_SIGNALS_ROW - 1, 2)
    headings = ("Slug", "Signal", "Value", "Change", "Change %", "As of", "Unit", "Last 24")
    for column, heading in zip("BCDEFGHI", headings, strict=True):
        look = theme.number_heading if column in "DEF" else theme.heading
        sheet.write(f"{column}{_SIGNALS_ROW - 1}", heading, look)
    rows = range(_SIGNALS_ROW, _SIGNALS_ROW + _SIGNALS)
    for row in rows:
        _write_signal(sheet, theme, row)
    theme.colour_changes(sheet, f"E{rows[0]}:F{rows[-1]}")
    chart_row = rows[-1] + 3
    _write_dashboard_chart(sheet, theme, chart_row)
    sheet.print_area(0, 0, chart_row + 20, 8)


def _write_signal(sheet: Worksheet, theme: Theme, row: int) -> None:
    # A plain reference as text: it shows a blank where a service has fewer signals than the table has rows.
    sheet.write_formula(f"B{row}", f'=Catalogue!B{CATALOGUE_ROW + row - _SIGNALS_ROW}&""', theme.input, "")
    fields = (
        ("C", "name", theme.text),
        ("D", "value", theme.value),
        ("E", "change", theme.change),
        ("F", "pct_change", theme.percent_change),
        ("G", "observed_at", theme.date),
        ("H", "unit", theme.cell(font_color=MUTED, indent=1)),
    )
    for column, field, look in fields:
        theme.formula(sheet, f"{column}{row}", theme.call("SIGNAL", f"$B{row}", f'"{field}"'), look)
    spark = theme.cell(indent=1, font_color=ACCENT, font_name="DejaVu Sans Mono", font_size=9)
    theme.formula(sheet, f"I{row}", theme.call("SPARK", f"$B{row}", '"N24"', "24"), spark)


def _write_dashboard_chart(sheet: Worksheet, theme: Theme, row: int) -> None:
    """Write the chart of the signal whose slug is above it; its values are beside it, outside the printed area."""
    sheet.write(f"B{row}", "Chart of", theme.label)
    first, last = _SIGNALS_ROW, _SIGNALS_ROW + _POINTS - 1
    sheet.write_formula(f"C{row}", f'=B{first}&""', theme.input, "")
    source = f"=Catalogue!$B${CATALOGUE_ROW}:$B${CATALOGUE_ROW + 199}"
    sheet.data_validation(f"C{row}", {"validate": "list", "source": source, "error_type": "information"})
    sheet.write(f"D{row}", "choose a slug", theme.note)
    sheet.write(f"K{first - 1}", "Date", theme.heading)
    sheet.write(f"L{first - 1}", "Value", theme.number_heading)
    history = theme.call("SIGNAL_HISTORY", f"$C${row}", f'"N{_POINTS}"', "", '"header=none"')
    theme.formula(sheet, f"K{first}", history, theme.date)
    sheet.write_blank(f"L{first}", None, theme.value)
    chart = _line_chart(theme, {"width": 1060, "height": 340}, date_axis=False, interval_unit=41)
    chart.set_title({"none": True})
    chart.set_legend({"none": True})
    _add_line(chart, f"Dashboard!$C${row}", f"Dashboard!$K${first}:$K${last}", f"Dashboard!$L${first}:$L${last}")
    sheet.insert_chart(f"B{row + 1}", chart, {"description": "The last 250 values of the chosen signal"})


def write_comparison(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet: signals side by side from a start on, resampled, in one formula, and their chart."""
    subtitle = "Change the shaded cells: slugs, start, frequency, transform. One formula fills the table."
    widths = (2, 14, 29, 20, 20, 3, 12, 12, 12, 12, 12, 12)
    theme.begin(sheet, "Compare", subtitle, widths, header_row=_HISTORY_ROW)
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
    formula = theme.call("SIGNAL_HISTORY", "C4:E4", "C5", "", "C6")
    theme.table(sheet, "BCDE", _HISTORY_ROW, formula, numbers="CDE")
    theme.columns(sheet, {"B": {"num_format": DATE, "indent": 1}, "CDE": {"num_format": "#,##0.00"}})
    first, last = _HISTORY_ROW + 1, _HISTORY_ROW + _HISTORY_POINTS
    theme.rule_rows(sheet, f"B{first}:E{_HISTORY_ROW + 5000}")
    chart = _line_chart(theme, {"width": 620, "height": 380}, interval_unit=6)
    chart.set_legend({"position": "bottom"})
    for column, colour in zip("CDE", (ACCENT, "#D9822B", "#5B4B9A"), strict=True):
        values = f"{sheet.name}!${column}${first}:${column}${last}"
        _add_line(chart, f"{sheet.name}!${column}${_HISTORY_ROW}", f"{sheet.name}!$B${first}:$B${last}", values, colour)
    sheet.insert_chart(f"G{first}", chart, {"description": "The signals above, from the same start"})


def _line_chart(theme: Theme, size: dict[str, int], **x_axis: Any) -> Chart:
    chart = theme.workbook.add_chart({"type": "line"})
    chart.set_x_axis({"num_format": "mmm yyyy", "line": {"color": RULE}, "major_tick_mark": "none", **x_axis})
    chart.set_y_axis({"major_gridlines": {"visible": True, "line": {"color": RULE}}, "line": {"none": True}})
    chart.set_chartarea({"border": {"none": True}})
    chart.set_size(size)
    return chart


def _add_line(chart: Chart, name: str, dates: str, values: str, colour: str = ACCENT) -> None:
    line = {"color": colour, "width": 2}
    chart.add_series({"name": f"={name}", "categories": f"={dates}", "values": f"={values}", "line": line})
