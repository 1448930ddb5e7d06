"""How the template looks: colours that hold on paper too, formats, and the marks every sheet shares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from addin.formulas.live_parts import LIVE_ONLY
from addin.workbook.template.data import DATA_SHEET, Data, Spill

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
"""Changes up and down; the sign shows it too, for print and for the colour-blind."""

FONT = "Calibri"
DATE = "yyyy-mm-dd"
TIME = "yyyy-mm-dd hh:mm"
VALUE = "#,##0.00##"

HEADING_POINTS, ROW_POINTS = 21, 17

_RIGHT = {"align": "right", "indent": 1}
"""Numbers stand clear of the text in the next column."""


class Theme:
    """The formats of the template and the header of a sheet, for one workbook under construction."""

    def __init__(self, workbook: Workbook, namespace: str, data: Data) -> None:
        self.workbook = workbook
        self.namespace = namespace
        self.data = data
        self._widths: dict[str, tuple[float, ...]] = {}
        bar = {"bold": True, "font_color": "#FFFFFF", "bg_color": ACCENT, "border": 1, "border_color": ACCENT}
        self.heading = self.format(**bar, indent=1)
        self.number_heading = self.format(**bar, **_RIGHT)
        self.section = self.format(bold=True, font_size=13, font_color=ACCENT)
        self.note = self.format(font_color=MUTED, font_size=10, indent=1)
        self.code = self.format(font_color=MUTED, font_size=9, font_name="Consolas")
        self.label = self.format(font_color=MUTED)
        self.input = self.format(bg_color=PALE, border=1, border_color=ACCENT, indent=1)
        self.text = self.cell(indent=1)
        self.date = self.cell(num_format=DATE, align="left", indent=1)
        self.value = self.cell(num_format=VALUE, **_RIGHT)
        self.change = self.cell(num_format="+#,##0.00##;-#,##0.00##;0.00", **_RIGHT)
        self.percent_change = self.cell(num_format="+0.0%;-0.0%;0.0%", **_RIGHT)

    def format(self, **properties: Any) -> Format:
        """A format with these properties, in the template's font."""
        base = {"font_name": FONT, "font_size": 11, "font_color": INK, "valign": "vcenter"}
        return self.workbook.add_format({**base, **properties})

    def cell(self, **properties: Any) -> Format:
        """A cell of a table, with a hairline below."""
        return self.format(bottom=1, bottom_color=RULE, **properties)

    def columns(self, sheet: Worksheet, look: Mapping[str, Mapping[str, Any]]) -> None:
        """Set how the cells of a table look, by column; widths stay.

        Without a number format it is text. Numbers are right-aligned, dates and texts left.
        """
        for columns, properties in look.items():
            dated = "yyyy" in properties.get("num_format", "")
            number = "num_format" in properties and not dated
            column_format = self.format(**{**(_RIGHT if number else {"align": "left", "indent": 1}), **properties})
            for column in columns:
                width = self._widths[sheet.name][ord(column) - ord("A")]
                sheet.set_column(f"{column}:{column}", width, column_format)

    def colour_changes(self, sheet: Worksheet, cells: str) -> None:
        """Show rises in green and falls in red, in addition to their sign."""
        for criteria, colour in ((">", RISE), ("<", FALL)):
            look = self.workbook.add_format({"font_color": colour})
            sheet.conditional_format(cells, {"type": "cell", "criteria": criteria, "value": 0, "format": look})

    def rule_rows(self, sheet: Worksheet, cells: str) -> None:
        """Draw a hairline below every row that is not empty, however long the table is."""
        first_column, first_row = cells.partition(":")[0][0], cells.partition(":")[0][1:]
        look = self.workbook.add_format({"bottom": 1, "bottom_color": RULE})
        formula = f'=${first_column}{first_row}<>""'
        sheet.conditional_format(cells, {"type": "formula", "criteria": formula, "format": look})

    def begin(
        self,
        sheet: Worksheet,
        title: str,
        subtitle: str,
        widths: tuple[float, ...],
        *,
        header_row: int | None = None,
    ) -> None:
        """Write the title and what the sheet shows, and set its widths from column A on and how it prints.

        The rows down to the `header_row` of a table stay in view, and it is printed on every page.
        """
        sheet.hide_gridlines(2)
        sheet.set_zoom(100)
        sheet.set_default_row(ROW_POINTS)
        self._widths[sheet.name] = widths
        plain = self.format()
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width, plain)
        sheet.set_row(0, 30)
        sheet.write(0, 1, title, self.format(bold=True, font_size=18))
        sheet.write(1, 1, subtitle, self.format(font_color=MUTED, font_size=10))
        self.live_only(sheet, "$B$2")
        sheet.set_landscape()
        sheet.set_paper(9)
        sheet.fit_to_pages(1, 0)
        sheet.set_margins(left=0.5, right=0.5, top=0.6, bottom=0.6)
        sheet.set_footer("&L&8&A&C&8&P / &N&R&8&D")
        if header_row is not None:
            sheet.freeze_panes(header_row, 0)  # a fixed column would cut the titles that reach beyond it
            sheet.repeat_rows(header_row - 1)

    def live_only(self, sheet: Worksheet, cells: str, part: str = "") -> None:
        """Say that these cells mean something only as long as the book has its formulas: a frozen copy has them not."""
        self.workbook.define_name(f"'{sheet.name}'!{LIVE_ONLY}{part}", f"='{sheet.name}'!{cells}")

    def table(
        self,
        sheet: Worksheet,
        headings: Mapping[str, str],
        row: int,
        formula: str,
        *,
        key: str,
        rows: int,
        unfolded: int | None = None,
        numbers: str = "",
    ) -> Spill:
        """Write plain `headings` by column, and below them the first `rows` of the table that `formula` spills.

        Those after the `unfolded` are folded away.

        The formula as one would type it is above. `key` is the name of the first field: its heading shows an error of
        the formula instead. `numbers` are the columns with numbers.
        """
        spill = self.data.spill(formula, len(headings))
        sheet.set_row(row - 1, HEADING_POINTS)
        self.typed(sheet, f"{next(iter(headings))}{row - 1}", formula)
        for number, (column, heading) in enumerate(headings.items()):
            look = self.number_heading if column in numbers else self.heading
            if number:
                sheet.write(f"{column}{row}", heading, look)
            else:
                self.heading_or_error(sheet, f"{column}{row}", spill, key, heading, look)
            for below in range(1, rows + 1):
                sheet.write_formula(f"{column}{row + below}", spill.shown(number, below), None, "")
        self.end(sheet, next(iter(headings)), row, spill, rows, unfolded or rows)
        return spill

    def end(self, sheet: Worksheet, column: str, heading_row: int, spill: Spill, rows: int, unfolded: int) -> None:
        """Fold away the rows after the `unfolded`, and write below the table what to do when it goes on.

        Folded rows are not printed: else the room for a long table is printed as pages with nothing but headings.
        """
        below = heading_row + rows
        if unfolded < rows:
            for row in range(heading_row + unfolded, below):
                sheet.set_row(row, ROW_POINTS, None, {"level": 1, "hidden": True})
            sheet.set_row(below, ROW_POINTS, None, {"collapsed": True})
            below += 1
            unfold = "There are more rows: unhide those above, with the + on the left"
            self._note_if(sheet, f"{column}{below}", spill.cell(0, unfolded + 1), unfold)
        beyond = f"There are more rows: unhide the sheet {DATA_SHEET}"
        self._note_if(sheet, f"{column}{below + 1}", spill.cell(0, rows + 1), beyond)

    def _note_if(self, sheet: Worksheet, cell: str, source: str, text: str) -> None:
        """Write a note that shows only where the cell `source` holds something."""
        sheet.write_formula(cell, f'=IF({source}&""="","","{text}")', self.note, "")

    def picker(self, sheet: Worksheet, cells: str, source: str | list[str], hint: str) -> None:
        """Offer a list in cells where anything else may be typed too."""
        rule = {"validate": "list", "source": source, "error_type": "information", "input_message": hint}
        sheet.data_validation(cells, rule)

    def typed(self, sheet: Worksheet, cell: str, formula: str) -> None:
        """Write the formula that fills a table as one would type it, to be copied."""
        text = formula.replace(f"_xldudf_{self.namespace}_", f"{self.namespace}.").replace(f"{sheet.name}!", "")
        sheet.write_string(cell, re.sub(",(?! )", ", ", text), self.code)
        self.live_only(sheet, f"${cell[0]}${cell[1:]}", f"_Formula_{cell[0]}")

    def heading_or_error(self, sheet: Worksheet, cell: str, spill: Spill, key: str, heading: str, look: Format) -> None:
        """Write the heading of the first column, whose name is `key` unless the formula failed."""
        source = spill.cell(0, 0)
        sheet.write_formula(cell, f'=IF({source}&""="{key}","{heading}",{source})', look, "")

    def link(self, sheet: Worksheet, cell: str, target: str, text: str, look: Format) -> None:
        """Write a link inside the workbook."""
        sheet.write_url(cell, f"internal:{target}", look, text)

    def call(self, function_id: str, *arguments: str) -> str:
        """A call of ours as Excel stores it: `=_xldudf_DS_SIGNAL(B6,"value")`."""
        return f"=_xldudf_{self.namespace}_{function_id}({','.join(arguments)})"

    def formula(self, sheet: Worksheet, cell: str, formula: str, look: Format) -> None:
        """Write a formula with a single value, which the first refresh adds.

        A plain one, although Excel shows it with an `@`: Calc without the extension keeps its value.
        """
        sheet.write_formula(cell, formula, look, "")
