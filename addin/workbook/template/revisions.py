"""Revisions: what changed in the past of a signal, and between which two looks."""

from __future__ import annotations

from xlsxwriter.worksheet import Worksheet

from addin.workbook.template.lists import CHOOSE_SLUG, SLUGS
from addin.workbook.template.theme import DATE, FALL, RISE, RULE, TIME, VALUE, Theme

SLUG = "us-cpi"
"""Of the made-up signals, the one with three estimates for each month."""

_HEADER_ROW = 9
_ROWS = 100
_ROWS_SHOWN = 24
"""One printed page; the others are folded away."""


def write_revisions(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet: a signal in the shaded cell with its present value, and below it all that was revised."""
    subtitle = "What changed in the past of a signal since this add-in first looked at it. Costs no further request."
    widths = (2, 18, 18, 18, 22, 22, 40)
    theme.begin(sheet, "Revisions", subtitle, widths, header_row=_HEADER_ROW)
    _write_signal(sheet, theme)
    headings = {"B": "Date", "C": "Value before", "D": "Value", "E": "First seen (UTC)", "F": "Not before (UTC)"}
    formula = theme.call("REVISIONS", "Revisions!C4")
    room = {"rows": _ROWS, "unfolded": _ROWS_SHOWN}
    theme.table(sheet, headings, _HEADER_ROW, formula, key="observed_at", numbers="CD", **room)
    theme.columns(sheet, {"B": {"num_format": DATE}, "CD": {"num_format": VALUE}, "EF": {"num_format": TIME}})
    first, last = _HEADER_ROW + 1, _HEADER_ROW + _ROWS
    # Not a column with the difference: a formula that depends on ours would let Excel drop all values on opening. Calc
    # shows the first of several conditional formats, so this one draws the hairline too.
    for comparison, colour in ((">", RISE), ("<", FALL)):
        look = theme.workbook.add_format({"font_color": colour, "bottom": 1, "bottom_color": RULE})
        changed = f"=AND(ISNUMBER($C{first}),ISNUMBER($D{first}),$D{first}{comparison}$C{first})"
        sheet.conditional_format(f"D{first}:D{last}", {"type": "formula", "criteria": changed, "format": look})
    theme.rule_rows(sheet, f"B{first}:F{last}")


def _write_signal(sheet: Worksheet, theme: Theme) -> None:
    """Write the signal with what it shows now, and what the two times of a row mean."""
    sheet.write("B4", "Signal", theme.label)
    sheet.write("C4", SLUG, theme.input)
    theme.picker(sheet, "C4", SLUGS, CHOOSE_SLUG)
    sheet.write("D4", "choose a slug", theme.note)
    theme.live_only(sheet, "$D$4", "_Choice")
    shown = (("B5", "Now", "value", VALUE), ("B6", "As of", "observed_at", DATE))
    for cell, label, field, number_format in shown:
        sheet.write(cell, label, theme.label)
        look = theme.format(num_format=number_format, indent=1, align="left")
        theme.formula(sheet, f"C{cell[1:]}", theme.call("SIGNAL", "C4", f'"{field}"'), look)
    notes = (
        "First seen: the first answer that showed the change. Not before: the last one that did not yet.",
        "A blank value before: a new observation. A blank value: one that vanished.",
        "Only the headers: no change was seen so far. Refresh now and then to see more.",
    )
    for row, note in enumerate(notes, 5):
        sheet.write(f"E{row}", note, theme.note)
    theme.live_only(sheet, "$E$7", "_Note")
