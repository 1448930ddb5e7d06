"""How the template looks: colours that hold on paper too, formats, and the marks every sheet shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

INK = "#16283A"
"""Text and titles."""
ACCENT = "#1757A6"
"""Headings, the button, the line of a chart."""
PALE = "#EDF2F9"
"""Input cells and bands: light enough to vanish in print."""
RULE = "#CBD3DE"
"""Hairlines."""
MUTED = "#5C6F7B"
"""Notes."""
RISE, FALL = "#1E7B4F", "#B3392F"
"""Changes up and down; the sign says it too, for print and for eyes that see no red."""

FONT = "Calibri"
DATE = "yyyy-mm-dd"
VALUE = "#,##0.00##"


class Theme:
    """The formats of the template and the header of a sheet, for one workbook under construction."""

    def __init__(self, workbook: Workbook, namespace: str) -> None:
        self._workbook = workbook
        self._formats: dict[tuple[tuple[str, Any], ...], Format] = {}
        self._widths: dict[str, tuple[float, ...]] = {}
        self.namespace = namespace

    def format(self, **properties: Any) -> Format:
        """The format with these properties over the template's font; equal ones are one."""
        key = tuple(sorted(properties.items()))
        if key not in self._formats:
            base = {"font_name": FONT, "font_size": 11, "font_color": INK, "valign": "vcenter"}
            self._formats[key] = self._workbook.add_format({**base, **properties})
        return self._formats[key]

    @property
    def heading(self) -> Format:
        """A table's header cell."""
        return self.format(bold=True, font_color="#FFFFFF", bg_color=ACCENT, border=1, border_color=ACCENT, indent=1)

    @property
    def number_heading(self) -> Format:
        """A header cell above numbers."""
        return self.format(
            bold=True, font_color="#FFFFFF", bg_color=ACCENT, border=1, border_color=ACCENT, align="right"
        )

    @property
    def note(self) -> Format:
        """Small explaining text."""
        return self.format(font_color=MUTED, font_size=10, indent=1)

    @property
    def input(self) -> Format:
        """A cell the user changes."""
        return self.format(bg_color=PALE, border=1, border_color=ACCENT, indent=1)

    @property
    def label(self) -> Format:
        """The name of an input."""
        return self.format(font_color=MUTED)

    def cell(self, **properties: Any) -> Format:
        """A cell of a table, with a hairline below."""
        return self.format(bottom=1, bottom_color=RULE, **properties)

    @property
    def value(self) -> Format:
        """A number of any size."""
        return self.cell(num_format=VALUE)

    @property
    def change(self) -> Format:
        """A number with its sign."""
        return self.cell(num_format="+#,##0.00##;-#,##0.00##;0.00")

    @property
    def percent_change(self) -> Format:
        """A change in percent with its sign."""
        return self.cell(num_format="+0.0%;-0.0%;0.0%")

    @property
    def date(self) -> Format:
        """A day."""
        return self.cell(num_format=DATE, indent=1)

    @property
    def text(self) -> Format:
        """Text."""
        return self.cell(indent=1)

    def columns(self, sheet: Worksheet, look: Mapping[str, Mapping[str, Any]]) -> None:
        """How cells look that a table spills into: properties by column, over those of text; widths stay."""
        for columns, properties in look.items():
            for column in columns:
                width = self._widths[sheet.name][ord(column) - ord("A")]
                sheet.set_column(f"{column}:{column}", width, self.format(**properties))

    def colour_changes(self, sheet: Worksheet, cells: str) -> None:
        """Rises green and falls red, beside their sign."""
        for criteria, colour in ((">", RISE), ("<", FALL)):
            look = self._workbook.add_format({"font_color": colour})
            sheet.conditional_format(cells, {"type": "cell", "criteria": criteria, "value": 0, "format": look})

    def rule_rows(self, sheet: Worksheet, cells: str) -> None:
        """A hairline below every row that holds something, however long the table is."""
        first_column, first_row = cells.partition(":")[0][0], cells.partition(":")[0][1:]
        look = self._workbook.add_format({"bottom": 1, "bottom_color": RULE})
        formula = f'=${first_column}{first_row}<>""'
        sheet.conditional_format(cells, {"type": "formula", "criteria": formula, "format": look})

    def begin(self, sheet: Worksheet, title: str, subtitle: str, widths: tuple[float, ...]) -> None:
        """The header that every sheet has: a title, what it shows, widths from column A on, and how it prints."""
        sheet.hide_gridlines(2)
        sheet.set_zoom(100)
        sheet.set_default_row(17)
        self._widths[sheet.name] = widths
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width, self.format())
        sheet.set_row(0, 30)
        sheet.write(0, 1, title, self.format(bold=True, font_size=18))
        sheet.write(1, 1, subtitle, self.format(font_color=MUTED, font_size=10))
        sheet.set_landscape()
        sheet.set_paper(9)
        sheet.fit_to_pages(1, 0)
        sheet.set_margins(left=0.5, right=0.5, top=0.6, bottom=0.6)
        sheet.set_footer("&L&8&A&C&8&P / &N&R&8&D")

    def link(self, sheet: Worksheet, cell: str, target: str, text: str, look: Format) -> None:
        """A link inside the workbook; a formula, because a hyperlink proper is blue in Calc whatever its format."""
        sheet.write_formula(cell, f'=HYPERLINK("#{target}","{text}")', look, text)

    def call(self, function_id: str, *arguments: str) -> str:
        """The stored form of a call of ours: `=_xldudf_DS_SIGNAL(B6,"value")`."""
        return f"=_xldudf_{self.namespace}_{function_id}({','.join(arguments)})"

    def formula(self, sheet: Worksheet, cell: str, formula: str, look: Format) -> None:
        """A formula as Excel stores a dynamic array; its value and true area come from the first refresh."""
        sheet.write_dynamic_array_formula(f"{cell}:{cell}", formula, look, "")
