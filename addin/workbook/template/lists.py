"""The sheets that are one list each: the catalogue, currents, indices and the wire."""

from __future__ import annotations

from xlsxwriter.worksheet import Worksheet

from addin.workbook.template.theme import ACCENT, DATE, MUTED, VALUE, Theme
from udfs.functions.wire import KINDS

_TABLE_ROW = 4
_WIRE_ROW = 6

FIRST_ROW = _TABLE_ROW + 1
"""The row of the first signal in the catalogue; its slug is in column B."""

_BAR_ROWS = 60
_WIRE_ITEMS = 20


def write_catalogue(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet."""
    subtitle = "Every signal of the service; its slug or shortcode works in any formula."
    theme.begin(sheet, "Catalogue", subtitle, (2, 22, 12, 44, 16, 14, 24, 34, 44), header_row=_TABLE_ROW)
    fields = '"slug, shortcode, name, category, signal_type, unit, source, description"'
    theme.table(sheet, "BCDEFGHI", _TABLE_ROW, theme.call("SIGNALS", "", "", fields))
    theme.rule_rows(sheet, f"B{FIRST_ROW}:I{FIRST_ROW + 5000}")
    theme.columns(sheet, {"BCDEFGHI": {"indent": 1}})


def write_currents(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet, with a bar behind every score."""
    subtitle = "Momentum and belief run from 0 to 100; strongest momentum first."
    theme.begin(sheet, "Currents", subtitle, (2, 24, 28, 16, 20, 20, 16, 48), header_row=_TABLE_ROW)
    fields = '"slug, name, family, momentum_score, belief_score, maturity_stage, phrase"'
    formula = theme.call("CURRENTS", "", fields, '"sort=momentum_score"')
    theme.table(sheet, "BCDEFGH", _TABLE_ROW, formula, numbers="EF")
    theme.columns(sheet, {"EF": {"num_format": "0.0"}, "BCDGH": {"indent": 1}})
    for column, colour in (("E", "#A9C4EA"), ("F", "#C5BEE3")):
        bars = {"type": "data_bar", "bar_color": colour, "bar_solid": True, "min_type": "num", "max_type": "num"}
        cells = f"{column}{_TABLE_ROW + 1}:{column}{_TABLE_ROW + _BAR_ROWS}"
        sheet.conditional_format(cells, {**bars, "min_value": 0, "max_value": 100})
    theme.rule_rows(sheet, f"B{_TABLE_ROW + 1}:H{_TABLE_ROW + 200}")


def write_indices(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet: the list on the left, the components of the index in the shaded cell on the right."""
    subtitle = "Composite indices; all their cells together cost one request."
    theme.begin(sheet, "Indices", subtitle, (2, 22, 30, 12, 13, 16, 24, 3, 22, 12, 18), header_row=_TABLE_ROW)
    fields = '"slug, name, value, observed_at, category, scale"'
    theme.table(sheet, "BCDEFG", _TABLE_ROW, theme.call("INDICES", fields), numbers="D")
    theme.rule_rows(sheet, f"B{_TABLE_ROW + 1}:G{_TABLE_ROW + 200}")
    theme.rule_rows(sheet, f"I{_TABLE_ROW + 1}:K{_TABLE_ROW + 200}")
    sheet.write("I2", "Components of", theme.label)
    sheet.write_formula("J2", f'=B{_TABLE_ROW + 1}&""', theme.input, "")
    sheet.write_blank("K2", None, theme.input)
    theme.table(sheet, "IJK", _TABLE_ROW, theme.call("INDEX", "J2", '"components"'), numbers="J")
    theme.columns(sheet, {"D": {"num_format": VALUE}, "E": {"num_format": DATE, "indent": 1}, "BCFGIK": {"indent": 1}})
    theme.columns(sheet, {"J": {"num_format": "0.0%"}})


def write_wire(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet: filters in the shaded cells, the items below, a link beside each."""
    subtitle = "The newest primary-source items (Pro tier). Filters left blank let everything through."
    widths = (2, 18, 17, 17, 72, 28, 30, 9)
    theme.begin(sheet, "Wire", subtitle, widths, header_row=_WIRE_ROW, fixed_columns=0)
    for column, text in zip("BCDE", ("Ticker", "Kind", "Least importance", "Since"), strict=True):
        sheet.write(f"{column}3", text, theme.label)
        sheet.write_blank(f"{column}4", None, theme.input)
    sheet.data_validation("C4", {"validate": "list", "source": [kind.value for kind in KINDS]})
    formula = theme.call("WIRE", "B4", "C4", "D4", "E4", str(_WIRE_ITEMS))
    theme.table(sheet, "BCDEFG", _WIRE_ROW, formula, numbers="C")
    sheet.write(f"H{_WIRE_ROW}", "open", theme.heading)
    times = {"num_format": "yyyy-mm-dd hh:mm", "indent": 1}
    addresses = {"font_color": MUTED, "font_size": 9, "indent": 1}
    theme.columns(sheet, {"B": times, "C": {"num_format": "0"}, "DEF": {"indent": 1}, "G": addresses})
    theme.rule_rows(sheet, f"B{_WIRE_ROW + 1}:H{_WIRE_ROW + _WIRE_ITEMS}")
    link = theme.format(font_color=ACCENT, underline=1, indent=1)
    for row in range(_WIRE_ROW + 1, _WIRE_ROW + 1 + _WIRE_ITEMS):
        sheet.write_formula(f"H{row}", f'=IF(G{row}="","",HYPERLINK(G{row},"Open"))', link, "")
