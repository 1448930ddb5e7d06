"""Start: what this is, the refresh button, three steps to begin, quota and status."""

from __future__ import annotations

from xlsxwriter.worksheet import Worksheet

from addin.workbook.template.theme import ACCENT, DATE, MUTED, RULE, Theme

BUTTON_NAME = "DS_Refresh_Button"
"""The defined name of the button's cell; the add-in refreshes when this cell is selected."""

_BUTTON = "B4"

_SHEETS = (
    ("Dashboard", "ten signals of your choice with change and trend, and a chart of one of them"),
    ("Compare", "dated values of several signals side by side, resampled as you like"),
    ("Indices", "composite indices, and the components of one of them"),
    ("Currents", "the macro motions with momentum and belief"),
    ("Wire", "the newest primary-source items with links (Pro tier)"),
    ("Revisions", "what changed in the past of a signal, and when that was seen"),
    ("Catalogue", "every signal there is; its slugs work in any formula"),
)


def write_start(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet."""
    subtitle = "Live numbers of the Data Service in ordinary cells. Change any slug; the rest follows."
    theme.begin(sheet, "Data Service", subtitle, (2, 36, 42, 10, 24, 22, 20, 52))
    _write_button(sheet, theme)
    _write_steps(sheet, theme)
    _write_quota(sheet, theme)
    _write_sheets(sheet, theme)
    sheet.write("B22", "Status", theme.section)
    sheet.write("C22", "every resource behind these cells: fresh, or why not", theme.note)
    theme.table(sheet, "BCDEFGH", 23, theme.call("STATUS"), numbers="D")
    theme.columns(
        sheet,
        {"D": {"num_format": "0"}, "EF": {"indent": 1}, "G": {"num_format": DATE, "indent": 1}, "H": {"indent": 1}},
    )


def _write_button(sheet: Worksheet, theme: Theme) -> None:
    look = theme.format(bold=True, font_size=13, font_color="#FFFFFF", bg_color=ACCENT, align="center")
    sheet.set_row(3, 30)
    theme.link(sheet, _BUTTON, f"'{sheet.name}'!{_BUTTON}", "↻  Refresh this workbook", look)
    theme.workbook.define_name(BUTTON_NAME, f"='{sheet.name}'!$B$4")
    sheet.write("C4", "Spends a request only for what is older than 15 minutes.", theme.note)


def _write_steps(sheet: Worksheet, theme: Theme) -> None:
    steps = (
        ("1  Start the add-in", "addin serve, and then once: addin sideload (Excel) or addin calc-extension (Calc)"),
        ("2  Give it your key", "in the task pane under Account; it stays in your keychain, never in this file"),
        ("3  Type a formula", "for example the line below, or use the wizard in the task pane"),
    )
    sheet.write("B6", "Begin in three steps", theme.section)
    for row, (step, what) in enumerate(steps, 6):
        sheet.write(row, 1, step, theme.format(bold=True))
        sheet.write(row, 2, what, theme.format(text_wrap=True, font_size=10, font_color=MUTED, indent=1))
        sheet.set_row(row, 30)
    look = theme.format(font_name="Consolas", font_size=10, border=1, border_color=RULE, indent=1)
    sheet.write_string("C10", f'={theme.namespace}.SIGNAL_HISTORY("us-cpi", "-5Y")', look)
    sheet.set_row(9, 30)


def _write_quota(sheet: Worksheet, theme: Theme) -> None:
    sheet.write("E6", "Your requests this month", theme.section)
    number = {"num_format": "#,##0", "align": "right"}
    shown = (
        ("Left", "remaining", theme.cell(bold=True, font_size=14, **number)),
        ("Of", "cap", theme.cell(**number)),
        ("Spent by this add-in", "used_here", theme.cell(**number)),
        ("Tier", "tier", theme.cell(align="right")),
    )
    for row, (label, field, look) in enumerate(shown, 7):
        sheet.write(f"E{row}", label, theme.cell(font_color=MUTED))
        theme.formula(sheet, f"F{row}", theme.call("QUOTA", f'"{field}"'), look)


def _write_sheets(sheet: Worksheet, theme: Theme) -> None:
    sheet.write("B12", "What is here", theme.section)
    link = theme.format(font_color=ACCENT, underline=1)
    for row, (name, what) in enumerate(_SHEETS, 13):
        theme.link(sheet, f"B{row}", f"'{name}'!A1", name, link)
        sheet.write(f"C{row}", what, theme.note)
