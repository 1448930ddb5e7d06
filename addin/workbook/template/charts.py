"""The sheets with a chart: Dashboard, the latest values of ten signals, and Compare, several signals side by side."""

from __future__ import annotations

from xlsxwriter.chart import Chart
from xlsxwriter.worksheet import Worksheet

from addin.workbook.template.data import Spill
from addin.workbook.template.lists import CHOOSE_SLUG, SLUGS
from addin.workbook.template.lists import FIRST_ROW as CATALOGUE_ROW
from addin.workbook.template.theme import ACCENT, DATE, HEADING_POINTS, MUTED, RULE, Theme

_SIGNALS_ROW, _SIGNALS = 6, 10
_CHART_ROW = _SIGNALS_ROW + _SIGNALS + 2
_DAYS = 330
_WINDOW = f"-{_DAYS}D"
"""A window that costs no request beyond that for the signal's latest value, which comes with 365 observations."""

_HISTORY_ROW = 8
_HISTORY_ROWS = 120
_HISTORY_POINTS = 37
"""Three years of months with both ends: so many rows are drawn, and printed on one page; the others are folded away."""

_NAMES = tuple(f"Compare!${column}$4" for column in "CDE")
"""The cells with the slugs of the lines: their short names."""

_OPTIONS = ("freq=M; transform=index(100)", "freq=M; transform=yoy", "freq=W; fill=prev", "freq=Q; transform=pct")


def write_dashboard(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet: slugs that the user overwrites, with value, change and trend, and the chart of one signal."""
    subtitle = "Overwrite a slug in column B with any other; it begins with the first of the catalogue."
    theme.begin(sheet, "Dashboard", subtitle, (2, 20, 46, 14, 13, 12, 13, 22, 31))
    sheet.freeze_panes(_SIGNALS_ROW - 1, 0)
    headings = ("Slug", "Signal", "Value", "Change", "Change %", "As of", "Unit", "Last 24")
    for column, heading in zip("BCDEFGHI", headings, strict=True):
        look = theme.number_heading if column in "DEF" else theme.heading
        sheet.write(f"{column}{_SIGNALS_ROW - 1}", heading, look)
    sheet.set_row(_SIGNALS_ROW - 2, HEADING_POINTS)
    rows = range(_SIGNALS_ROW, _SIGNALS_ROW + _SIGNALS)
    for row in rows:
        _write_signal(sheet, theme, row)
    theme.picker(sheet, f"B{rows[0]}:B{rows[-1]}", SLUGS, CHOOSE_SLUG)
    theme.colour_changes(sheet, f"E{rows[0]}:F{rows[-1]}")
    _write_dashboard_chart(sheet, theme)
    sheet.print_area(0, 0, _CHART_ROW + 20, 8)


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


def _write_dashboard_chart(sheet: Worksheet, theme: Theme) -> None:
    """Write the chart of the signal whose slug is above it."""
    row = _CHART_ROW
    sheet.write(f"B{row}", "Chart of", theme.label)
    sheet.write_formula(f"C{row}", f'=B{_SIGNALS_ROW}&""', theme.input, "")
    theme.picker(sheet, f"C{row}", SLUGS, CHOOSE_SLUG)
    sheet.write(f"D{row}", "the last 330 days, in the unit of the signal", theme.note)
    chart = _line_chart(theme, {"width": 1165, "height": 340}, "#,##0.##", major_unit=1)
    chart.set_legend({"none": True})
    history = theme.call("SIGNAL_HISTORY", f"Dashboard!$C${row}", f'"{_WINDOW}"')
    name = f"Dashboard!$C${row}"
    points = _points(theme, theme.data.spill(history, 2), _DAYS + 1, (name,))
    _add_line(chart, name, points.area(0, _DAYS + 1), points.area(1, _DAYS + 1))
    chart.set_title({"none": True})
    words = "The chosen signal in the last 330 days"
    sheet.insert_chart(f"B{row + 1}", chart, {"y_offset": 6, "description": words})


def _points(theme: Theme, spill: Spill, rows: int, names: tuple[str, ...]) -> Spill:
    """Write the cells that a chart draws, below the name of each line; after the table they repeat its last row."""
    points = theme.data.room(len(spill.columns))
    for number, name in enumerate(names, 1):
        theme.data.sheet.write_formula(f"{points.columns[number]}1", f'={name}&""', None, "")
    for number, column in enumerate(points.columns):
        look = theme.date if number == 0 else None
        for row in range(1, rows + 1):
            cell = spill.cell(number, row)
            formula = f"={cell}" if row == 1 else f'=IF({cell}&""="",{points.cell(number, row - 1)},{cell})'
            theme.data.sheet.write_formula(f"{column}{row + 1}", formula, look, "")
    return points


def write_comparison(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet: signals side by side from a start on, resampled, in one formula, and their chart."""
    subtitle = "Change the shaded cells: slugs, start, frequency, transform. One formula fills the table."
    widths = (2, 16, 34, 30, 30, 3, 12, 12, 12, 12, 12, 12)
    theme.begin(sheet, "Compare", subtitle, widths, header_row=_HISTORY_ROW)
    sheet.write("B4", "Signals", theme.label)
    for number, column in enumerate("CDE"):
        sheet.write_formula(f"{column}4", f'=Catalogue!B{CATALOGUE_ROW + number}&""', theme.input, "")
    sheet.write("B5", "Start", theme.label)
    sheet.write("C5", "-3Y", theme.input)
    theme.picker(sheet, "C4:E4", SLUGS, CHOOSE_SLUG)
    theme.picker(sheet, "C5", ["-1Y", "-3Y", "-5Y", "-10Y", "YTD", "MAX"], "Choose a start, or type a date.")
    theme.picker(sheet, "C6", list(_OPTIONS), "Choose from the list, or combine options.")
    sheet.write("D5", "a date, -5Y, YTD, N60 or MAX", theme.note)
    sheet.write("B6", "Options", theme.label)
    sheet.write("C6", _OPTIONS[0], theme.input)
    sheet.write("D6", "freq, agg, fill, align, transform, order …", theme.note)
    formula = theme.call("SIGNAL_HISTORY", "Compare!C4:E4", "Compare!C5", "", "Compare!C6")
    spill = theme.data.spill(formula, 4)
    theme.typed(sheet, f"B{_HISTORY_ROW - 1}", formula)
    theme.heading_or_error(sheet, f"B{_HISTORY_ROW}", spill, "date", "Date", theme.heading)
    for number, column in enumerate("CDE", 1):
        sheet.write_formula(f"{column}{_HISTORY_ROW}", f'={spill.cell(number, 0)}&""', theme.number_heading, "")
    for row in range(1, _HISTORY_ROWS + 1):
        for number, column in enumerate("BCDE"):
            sheet.write_formula(f"{column}{_HISTORY_ROW + row}", spill.shown(number, row), None, "")
    first = _HISTORY_ROW + 1
    theme.end(sheet, "B", _HISTORY_ROW, spill, _HISTORY_ROWS, _HISTORY_POINTS)
    sheet.set_row(_HISTORY_ROW - 1, HEADING_POINTS)
    theme.columns(sheet, {"B": {"num_format": DATE}, "CDE": {"num_format": "#,##0.00"}})
    theme.rule_rows(sheet, f"B{first}:E{_HISTORY_ROW + _HISTORY_ROWS}")
    _write_comparison_chart(sheet, theme, _points(theme, spill, _HISTORY_POINTS, _NAMES))


def _write_comparison_chart(sheet: Worksheet, theme: Theme, points: Spill) -> None:
    chart = _line_chart(theme, {"width": 500, "height": 380}, "#,##0.##", major_unit=6)
    chart.set_legend({"position": "bottom"})
    for number, (name, colour) in enumerate(zip(_NAMES, (ACCENT, "#D9822B", "#5B4B9A"), strict=True), 1):
        dates, values = points.area(0, _HISTORY_POINTS), points.area(number, _HISTORY_POINTS)
        _add_line(chart, name, dates, values, colour)
    sheet.insert_chart(f"G{_HISTORY_ROW + 1}", chart, {"description": "The signals above, from the same start"})


def _line_chart(theme: Theme, size: dict[str, int], number_format: str, *, major_unit: int) -> Chart:
    """A line chart by date, with a label every `major_unit` months."""
    chart = theme.workbook.add_chart({"type": "line"})
    months = {"major_unit": major_unit, "major_unit_type": "months", "num_format": "mmm yyyy"}
    # Labels stay at the bottom where the line goes below 0.
    look = {"line": {"color": RULE}, "major_tick_mark": "none", "label_position": "low"}
    chart.set_x_axis({"date_axis": True, **months, **look})
    rules = {"major_gridlines": {"visible": True, "line": {"color": RULE}}, "line": {"none": True}}
    chart.set_y_axis({"num_format": number_format, **rules})
    chart.set_chartarea({"border": {"none": True}})
    chart.set_size(size)
    chart.show_hidden_data()
    return chart


def _add_line(chart: Chart, name: str, dates: str, values: str, colour: str = ACCENT) -> None:
    line = {"color": colour, "width": 2}
    chart.add_series({"name": f"={name}", "categories": f"={dates}", "values": f"={values}", "line": line})
