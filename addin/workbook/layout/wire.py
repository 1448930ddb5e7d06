"""Wire: the newest items with a link to each source."""

from __future__ import annotations

from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from addin.workbook.layout.theme import ACCENT, MUTED, Theme
from udfs.wire import KINDS

__all__ = ["write_wire"]

_TABLE_ROW = 6
_ITEMS = 20


def write_wire(_workbook: Workbook, sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet: filters in the shaded cells, the items below, a link beside each."""
    subtitle = "The newest primary-source items (Pro tier). Filters left blank let everything through."
    theme.begin(sheet, "Wire", subtitle, (2, 18, 17, 17, 72, 28, 30, 9))
    sheet.freeze_panes(_TABLE_ROW, 0)
    for column, text in zip("BCDE", ("Ticker", "Kind", "Least importance", "Since"), strict=True):
        sheet.write(f"{column}3", text, theme.label)
        sheet.write_blank(f"{column}4", None, theme.input)
    sheet.data_validation("C4", {"validate": "list", "source": [kind.value for kind in KINDS]})
    formula = theme.call("WIRE", "B4", "C4", "D4", "E4", str(_ITEMS))
    theme.formula(sheet, f"B{_TABLE_ROW}", formula, theme.heading)
    for column in "CDEFG":
        sheet.write_blank(f"{column}{_TABLE_ROW}", None, theme.number_heading if column == "C" else theme.heading)
    sheet.write(f"H{_TABLE_ROW}", "open", theme.heading)
    times = {"num_format": "yyyy-mm-dd hh:mm", "indent": 1}
    addresses = {"font_color": MUTED, "font_size": 9, "indent": 1}
    theme.columns(sheet, {"B": times, "C": {"num_format": "0"}, "DEF": {"indent": 1}, "G": addresses})
    theme.rule_rows(sheet, f"B{_TABLE_ROW + 1}:H{_TABLE_ROW + _ITEMS}")
    link = theme.format(font_color=ACCENT, underline=1, indent=1)
    for row in range(_TABLE_ROW + 1, _TABLE_ROW + 1 + _ITEMS):
        sheet.write_formula(f"H{row}", f'=IF(G{row}="","",HYPERLINK(G{row},"Open"))', link, "")
    sheet.repeat_rows(_TABLE_ROW - 1)
