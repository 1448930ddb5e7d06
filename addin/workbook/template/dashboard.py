"""Dashboard: ten slugs that the user overwrites, with value, change and trend, and the chart of one signal."""

from __future__ import annotations

from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from addin.workbook.template.lists import FIRST_ROW as CATALOGUE_ROW
from addin.workbook.template.theme import ACCENT, MUTED, RULE, Theme

_ROWS = 10
_FIRST = 6
_POINTS = 250
_CHART_ROW = _FIRST + _ROWS + 2


def write_dashboard(workbook: Workbook, sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet."""
    subtitle = "Overwrite a slug in column B with any other; it begins with the first of the catalogue."
    theme.begin(sheet, "Dashboard", subtitle, (2, 20, 40, 13, 12, 11, 12, 22, 27, 3, 12, 12))
    sheet.freeze_panes(_FIRST - 1, 2)
    _write_headings(sheet, theme)
    for row in range(_FIRST, _FIRST + _ROWS):
        _write_row(sheet, theme, row)
    last = _FIRST + _ROWS - 1
    theme.colour_changes(sheet, f"E{_FIRST}:F{last}")
    _write_chart(workbook, sheet, theme)
    sheet.print_area(0, 0, _CHART_ROW + 20, 8)


def _write_headings(sheet: Worksheet, theme: Theme) -> None:
    for column, (text, number) in enumerate(
        (
            ("Slug", False),
            ("Signal", False),
            ("Value", True),
            ("Change", True),
            ("Change %", True),
            ("As of", False),
            ("Unit", False),
            ("Last 24", False),
        ),
        1,
    ):
        sheet.write(_FIRST - 2, column, text, theme.number_heading if number else theme.heading)


def _write_row(sheet: Worksheet, theme: Theme, row: int) -> None:
    # A plain reference as text: it shows a blank where a service has fewer signals than the table has rows.
    sheet.write_formula(f"B{row}", f'=Catalogue!B{CATALOGUE_ROW + row - _FIRST}&""', theme.input, "")
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


def _write_chart(workbook: Workbook, sheet: Worksheet, theme: Theme) -> None:
    """The chart of the signal whose slug stands above it; its 250 values stand beside it, outside the printed area."""
    row = _CHART_ROW
    sheet.write(f"B{row}", "Chart of", theme.label)
    sheet.write_formula(f"C{row}", f'=B{_FIRST}&""', theme.input, "")
    last = CATALOGUE_ROW + 199
    source = f"=Catalogue!$B${CATALOGUE_ROW}:$B${last}"
    sheet.data_validation(f"C{row}", {"validate": "list", "source": source, "error_type": "information"})
    sheet.write(f"D{row}", "choose a slug", theme.note)
    first = _FIRST
    sheet.write(f"K{first - 1}", "Date", theme.heading)
    sheet.write(f"L{first - 1}", "Value", theme.number_heading)
    history = theme.call("SIGNAL_HISTORY", f"$C${row}", f'"N{_POINTS}"', "", '"header=none"')
    theme.formula(sheet, f"K{first}", history, theme.date)
    sheet.write_blank(f"L{first}", None, theme.value)
    chart = workbook.add_chart({"type": "line"})
    end = first + _POINTS - 1
    chart.add_series(
        {
            "name": f"=Dashboard!$C${row}",
            "categories": f"=Dashboard!$K${first}:$K${end}",
            "values": f"=Dashboard!$L${first}:$L${end}",
            "line": {"color": ACCENT, "width": 2},
        }
    )
    chart.set_title({"none": True})
    chart.set_legend({"none": True})
    chart.set_x_axis(
        {
            "date_axis": False,
            "num_format": "mmm yyyy",
            "interval_unit": 41,
            "line": {"color": RULE},
            "major_tick_mark": "none",
        }
    )
    chart.set_y_axis({"major_gridlines": {"visible": True, "line": {"color": RULE}}, "line": {"none": True}})
    chart.set_chartarea({"border": {"none": True}})
    chart.set_size({"width": 1060, "height": 340})
    sheet.insert_chart(f"B{row + 1}", chart, {"description": "The last 250 values of the chosen signal"})
