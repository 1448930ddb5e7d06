"""Catalogue: every signal there is."""

from __future__ import annotations

from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from addin.workbook.layout.theme import Theme

__all__ = ["FIRST_ROW", "write_catalogue"]

_TABLE_ROW = 4

FIRST_ROW = _TABLE_ROW + 1
"""The row of the first signal; its slug stands in column B."""


def write_catalogue(_workbook: Workbook, sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet."""
    subtitle = "Every signal of the service; its slug or shortcode works in any formula."
    theme.begin(sheet, "Catalogue", subtitle, (2, 22, 12, 44, 16, 14, 24, 34, 44))
    sheet.freeze_panes(_TABLE_ROW, 2)
    fields = '"slug, shortcode, name, category, signal_type, unit, source, description"'
    theme.formula(sheet, f"B{_TABLE_ROW}", theme.call("SIGNALS", "", "", fields), theme.heading)
    for column in "CDEFGHI":
        sheet.write_blank(f"{column}{_TABLE_ROW}", None, theme.heading)
    theme.rule_rows(sheet, f"B{FIRST_ROW}:I{FIRST_ROW + 5000}")
    theme.columns(sheet, {"BCDEFGHI": {"indent": 1}})
    sheet.repeat_rows(_TABLE_ROW - 1)
