"""Currents: the macro motions with their scores as bars."""

from __future__ import annotations

from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from addin.workbook.layout.theme import Theme

__all__ = ["write_currents"]

_TABLE_ROW = 4
_BAR_ROWS = 60


def write_currents(_workbook: Workbook, sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet."""
    subtitle = "Momentum and belief run from 0 to 100; strongest momentum first."
    theme.begin(sheet, "Currents", subtitle, (2, 24, 28, 16, 20, 20, 16, 48))
    sheet.freeze_panes(_TABLE_ROW, 2)
    fields = '"slug, name, family, momentum_score, belief_score, maturity_stage, phrase"'
    formula = theme.call("CURRENTS", "", fields, '"sort=momentum_score"')
    theme.formula(sheet, f"B{_TABLE_ROW}", formula, theme.heading)
    for column in "CDEFGH":
        look = theme.number_heading if column in "EF" else theme.heading
        sheet.write_blank(f"{column}{_TABLE_ROW}", None, look)
    theme.columns(sheet, {"EF": {"num_format": "0.0"}, "BCDGH": {"indent": 1}})
    for column, colour in (("E", "#A9C4EA"), ("F", "#C5BEE3")):
        bars = {"type": "data_bar", "bar_color": colour, "bar_solid": True, "min_type": "num", "max_type": "num"}
        cells = f"{column}{_TABLE_ROW + 1}:{column}{_TABLE_ROW + _BAR_ROWS}"
        sheet.conditional_format(cells, {**bars, "min_value": 0, "max_value": 100})
    theme.rule_rows(sheet, f"B{_TABLE_ROW + 1}:H{_TABLE_ROW + 200}")
    sheet.repeat_rows(_TABLE_ROW - 1)
