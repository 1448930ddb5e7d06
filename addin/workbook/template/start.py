"""Start: what is where, the refresh button, the first steps in each program, quota and status."""

from __future__ import annotations

from xlsxwriter.worksheet import Worksheet

from addin.workbook.template.theme import ACCENT, DATE, MUTED, RULE, Theme

BUTTON_NAME = "DS_Refresh_Button"
"""The defined name of the button's cell; the add-in refreshes when this cell is selected."""

_BUTTON = "B4"
_STATUS_ROW = 22
_STATUS_ROWS = 40

_SHEETS = (
    ("Dashboard", "ten signals of your choice, and a chart of one"),
    ("Compare", "several signals side by side, resampled"),
    ("Indices", "composite indices and their components"),
    ("Currents", "macro motions with momentum and belief"),
    ("Wire", "the newest primary-source items (Pro tier)"),
    ("Revisions", "what changed in the past of a signal"),
    ("Catalogue", "every signal; its slugs work in any formula"),
)

_STEPS = (
    ("1  Install once", "addin sideload", "addin calc-extension dataservice.oxt --http, then open it"),
    ("2  Start it at every login", "addin autostart install", "addin autostart install --http"),
    ("3  Give it your key", "In the task pane, under Account", "addin key set"),
    ("4  Refresh", "The button above, or Refresh in the ribbon", "Menu Data Service ▸ Refresh"),
)


def write_start(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet: on the left what is where; the rest is of no use in a copy without formulas."""
    subtitle = "Live numbers of the Data Service in ordinary cells. Change any slug; the rest follows."
    theme.begin(sheet, "Data Service", subtitle, (2, 38, 44, 9, 30, 40, 50, 50))
    _write_sheets(sheet, theme)
    _write_button(sheet, theme)
    _write_steps(sheet, theme)
    _write_quota(sheet, theme)
    theme.live_only(sheet, "$B$4:$C$4", "_Button")
    theme.live_only(sheet, "$E$6:$G$20", "_Help")
    _write_status(sheet, theme)
    theme.live_only(sheet, f"$B${_STATUS_ROW}:$H$2000", "_Status")
    sheet.print_area(0, 0, 19, 6)


def _write_sheets(sheet: Worksheet, theme: Theme) -> None:
    sheet.write("B6", "What is here", theme.section)
    link = theme.cell(font_color=ACCENT, underline=1)
    for row, (name, what) in enumerate(_SHEETS, 7):
        theme.link(sheet, f"B{row}", f"'{name}'!A1", name, link)
        sheet.write(f"C{row}", what, theme.cell(font_color=MUTED, font_size=10))


def _write_button(sheet: Worksheet, theme: Theme) -> None:
    look = theme.format(bold=True, font_size=13, font_color="#FFFFFF", bg_color=ACCENT, align="center")
    sheet.set_row(3, 30)
    sheet.write(_BUTTON, "↻  Refresh", look)
    theme.workbook.define_name(BUTTON_NAME, f"='{sheet.name}'!$B$4")
    sheet.write("C4", "In Excel and in the browser: asks again for what is older than 15 minutes", theme.note)


def _write_steps(sheet: Worksheet, theme: Theme) -> None:
    sheet.write("E6", "First steps", theme.section)
    for column, program in (("F", "in Excel"), ("G", "in LibreOffice Calc")):
        sheet.write(f"{column}6", program, theme.format(bold=True, indent=1))
    look = theme.cell(font_size=10, font_color=MUTED, indent=1)
    for row, (step, *programs) in enumerate(_STEPS, 7):
        sheet.write(f"E{row}", step, theme.cell(bold=True))
        for column, what in zip("FG", programs, strict=True):
            sheet.write(f"{column}{row}", what, look)
    example = theme.format(font_name="Consolas", font_size=10, border=1, border_color=RULE, indent=1)
    sheet.write("E12", "Then type a formula", theme.label)
    without = "Calc without the extension shows the saved values. A copy for readers without the add-in: addin freeze"
    sheet.write("E13", without, theme.format(font_color=MUTED, font_size=10))
    sheet.write_string("F12", f'={theme.namespace}.SIGNAL_HISTORY("us-cpi", "-5Y")', example)


def _write_quota(sheet: Worksheet, theme: Theme) -> None:
    sheet.write("E15", "Your requests this month", theme.section)
    number = {"num_format": "#,##0", "align": "left", "indent": 1}
    shown = (
        ("Left", "remaining", theme.cell(bold=True, **number)),
        ("Of", "cap", theme.cell(**number)),
        ("Spent by this add-in", "used_here", theme.cell(**number)),
        ("Tier", "tier", theme.cell(align="left", indent=1)),
    )
    for row, (label, field, look) in enumerate(shown, 16):
        sheet.write(f"E{row}", label, theme.cell(font_color=MUTED))
        theme.formula(sheet, f"F{row}", theme.call("QUOTA", f'"{field}"'), look)


def _write_status(sheet: Worksheet, theme: Theme) -> None:
    sheet.write(f"B{_STATUS_ROW}", "Status", theme.section)
    sheet.write(f"C{_STATUS_ROW}", "everything behind these cells: fresh, or why not", theme.label)
    headings = ("Answer", "State", "Age (s)", "From", "Last error", "Revised", "Revision")
    columns = dict(zip("BCDEFGH", headings, strict=True))
    formula = theme.call("STATUS")
    spill = theme.table(sheet, columns, _STATUS_ROW + 2, formula, key="resource", rows=_STATUS_ROWS, numbers="D")
    theme.live_only(theme.data.sheet, f"${spill.columns[0]}$1:${spill.columns[-1]}$2000")
    theme.columns(sheet, {"D": {"num_format": "#,##0"}, "BCEFH": {}, "G": {"num_format": DATE}})
