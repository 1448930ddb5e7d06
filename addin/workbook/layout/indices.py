"""Indices: all of them with their readings, and the components of one."""

from __future__ import annotations

from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from addin.workbook.layout.theme import DATE, VALUE, Theme

__all__ = ["write_indices"]

_TABLE_ROW = 4
_COMPONENTS_ROW = 4


def write_indices(_workbook: Workbook, sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet: the list on the left, the components of the index in the shaded cell on the right."""
    subtitle = "Composite indices; all their cells together cost one request."
    theme.begin(sheet, "Indices", subtitle, (2, 22, 30, 12, 13, 16, 24, 3, 22, 12, 18))
    sheet.freeze_panes(_TABLE_ROW, 2)
    fields = '"slug, name, value, observed_at, category, scale"'
    theme.formula(sheet, f"B{_TABLE_ROW}", theme.call("INDICES", fields), theme.heading)
    for column in "CDEFG":
        sheet.write_blank(f"{column}{_TABLE_ROW}", None, theme.number_heading if column == "D" else theme.heading)
    texts = {"indent": 1}
    theme.columns(sheet, {"D": {"num_format": VALUE}, "E": {"num_format": DATE, **texts}, "BCFGIK": texts})
    theme.rule_rows(sheet, f"B{_TABLE_ROW + 1}:G{_TABLE_ROW + 200}")
    theme.rule_rows(sheet, f"I{_COMPONENTS_ROW + 1}:K{_COMPONENTS_ROW + 200}")
    sheet.write("I2", "Components of", theme.label)
    sheet.write_formula("J2", f'=B{_TABLE_ROW + 1}&""', theme.input, "")
    sheet.write_blank("K2", None, theme.input)
    theme.formula(sheet, f"I{_COMPONENTS_ROW}", theme.call("INDEX", "J2", '"components"'), theme.heading)
    for column in "JK":
        look = theme.number_heading if column == "J" else theme.heading
        sheet.write_blank(f"{column}{_COMPONENTS_ROW}", None, look)
    theme.columns(sheet, {"J": {"num_format": "0.0%"}})
    sheet.repeat_rows(_TABLE_ROW - 1)
