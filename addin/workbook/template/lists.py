"""The sheets that are one list each: the catalogue, currents, indices and the wire."""

from __future__ import annotations

from xlsxwriter.worksheet import Worksheet

from addin.workbook.template.theme import DATE, TIME, VALUE, Theme
from udfs.functions.wire import KINDS

_TABLE_ROW = 4
"""The row of a table's headings."""
_WIRE_ROW = 6

FIRST_ROW = _TABLE_ROW + 1
"""The row of the first signal in the catalogue; its slug is in column B."""

SLUGS = f"=Catalogue!$B${FIRST_ROW}:$B${FIRST_ROW + 199}"
"""What a list of slugs to choose from holds."""

CHOOSE_SLUG = "Choose a slug from the list, or type one."

_SIGNALS = 100
_CURRENTS = 60
_INDICES = 40
_COMPONENTS = 20
_WIRE_ITEMS = 20

_SIGNALS_SHOWN = 40
_CURRENTS_SHOWN = 24
"""So many rows are one printed page; the others are folded away."""


def write_catalogue(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet."""
    subtitle = "Every signal of the service; its slug or shortcode works in any formula."
    theme.begin(sheet, "Catalogue", subtitle, (2, 22, 13, 46, 16, 14, 24, 24, 40), header_row=_TABLE_ROW)
    fields = '"slug, shortcode, name, category, signal_type, unit, source, description"'
    headings = ("Slug", "Shortcode", "Name", "Category", "Type", "Unit", "Source", "Description")
    columns = dict(zip("BCDEFGHI", headings, strict=True))
    formula = theme.call("SIGNALS", "", "", fields)
    theme.table(sheet, columns, _TABLE_ROW, formula, key="slug", rows=_SIGNALS, unfolded=_SIGNALS_SHOWN)
    theme.rule_rows(sheet, f"B{FIRST_ROW}:I{FIRST_ROW + _SIGNALS}")
    theme.columns(sheet, {"BCDEFGHI": {}})


def write_currents(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet; the higher a score, the darker its cell."""
    subtitle = "Momentum and belief run from 0 to 100; strongest momentum first."
    theme.begin(sheet, "Currents", subtitle, (2, 22, 30, 16, 13, 13, 16, 46), header_row=_TABLE_ROW)
    fields = '"slug, name, family, momentum_score, belief_score, maturity_stage, phrase"'
    formula = theme.call("CURRENTS", "", fields, '"sort=momentum_score"')
    headings = ("Slug", "Name", "Family", "Momentum", "Belief", "Stage", "In a phrase")
    columns = dict(zip("BCDEFGH", headings, strict=True))
    theme.table(sheet, columns, _TABLE_ROW, formula, key="slug", rows=_CURRENTS, unfolded=_CURRENTS_SHOWN, numbers="EF")
    theme.columns(sheet, {"EF": {"num_format": "0.0"}, "BCDGH": {}})
    for column, colour in (("E", "#BFD5F2"), ("F", "#D6D0EC")):
        scale = {"type": "2_color_scale", "min_type": "num", "min_value": 0, "max_type": "num", "max_value": 100}
        cells = f"{column}{_TABLE_ROW + 1}:{column}{_TABLE_ROW + _CURRENTS}"
        sheet.conditional_format(cells, {**scale, "min_color": "#FFFFFF", "max_color": colour})
    theme.rule_rows(sheet, f"B{_TABLE_ROW + 1}:H{_TABLE_ROW + 200}")


def write_indices(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet: the list on the left, the components of the index in the shaded cell on the right."""
    subtitle = "Composite indices; all their cells together cost one request."
    theme.begin(sheet, "Indices", subtitle, (2, 20, 36, 13, 13, 14, 20, 3, 22, 20, 20), header_row=_TABLE_ROW)
    fields = '"slug, name, value, observed_at, category, scale"'
    headings = ("Slug", "Name", "Value", "As of", "Category", "Scale")
    columns = dict(zip("BCDEFG", headings, strict=True))
    theme.table(sheet, columns, _TABLE_ROW, theme.call("INDICES", fields), key="slug", rows=_INDICES, numbers="D")
    theme.rule_rows(sheet, f"B{_TABLE_ROW + 1}:G{_TABLE_ROW + _INDICES}")
    theme.rule_rows(sheet, f"I{_TABLE_ROW + 1}:K{_TABLE_ROW + _COMPONENTS}")
    sheet.write("I2", "Components of", theme.label)
    sheet.write_formula("J2", f'=B{_TABLE_ROW + 1}&""', theme.input, "")
    rows = f"$B${_TABLE_ROW + 1}:$B${_TABLE_ROW + _INDICES}"
    theme.picker(sheet, "J2", f"=Indices!{rows}", "Choose an index from the list, or type one.")
    parts = {"I": "Signal", "J": "Weight", "K": "Transform"}
    formula = theme.call("INDEX", "Indices!J2", '"components"')
    theme.table(sheet, parts, _TABLE_ROW, formula, key="signal_slug", rows=_COMPONENTS, numbers="J")
    theme.columns(sheet, {"D": {"num_format": VALUE}, "E": {"num_format": DATE}, "J": {"num_format": "0.0%"}})
    theme.columns(sheet, {"BCFGIK": {}})


def write_wire(sheet: Worksheet, theme: Theme) -> None:
    """Write the sheet: filters in the shaded cells, the items below, each with its address.

    The address is no HYPERLINK: if a book has one, Calc works out everything when it opens the book.
    """
    subtitle = "The newest primary-source items (Pro tier). Filters left blank let everything through."
    widths = (2, 20, 20, 24, 72, 24, 60)
    theme.begin(sheet, "Wire", subtitle, widths, header_row=_WIRE_ROW)
    for column, text in zip("BCDE", ("Ticker", "Kind", "Minimum importance", "Since"), strict=True):
        sheet.write(f"{column}3", text, theme.label)
        sheet.write_blank(f"{column}4", None, theme.input)
    theme.live_only(sheet, "$B$3:$E$4", "_Filters")
    shortcodes = SLUGS.replace("$B$", "$C$")
    theme.picker(sheet, "B4", shortcodes, "Items about one ticker; blank: about any.")
    sheet.data_validation("C4", {"validate": "list", "source": [kind.value for kind in KINDS]})
    theme.picker(sheet, "D4", ["25", "50", "75", "90"], "Items at least as important, 0 to 100.")
    theme.picker(sheet, "E4", ["-1D", "-7D", "-1M", "MTD"], "Items since a day, such as -7D or 2026-01-31.")
    formula = theme.call("WIRE", "Wire!B4", "Wire!C4", "Wire!D4", "Wire!E4", str(_WIRE_ITEMS))
    headings = ("Published (UTC)", "Importance", "Kind", "Headline", "Source", "Address")
    columns = dict(zip("BCDEFG", headings, strict=True))
    theme.table(sheet, columns, _WIRE_ROW, formula, key="published_at", rows=_WIRE_ITEMS, numbers="C")
    theme.columns(sheet, {"B": {"num_format": TIME}, "C": {"num_format": "0"}, "DEFG": {}})
    theme.rule_rows(sheet, f"B{_WIRE_ROW + 1}:G{_WIRE_ROW + _WIRE_ITEMS}")
