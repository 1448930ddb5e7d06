"""The template: a workbook whose values all come from a refresh against a service.

XlsxWriter writes the layout, with formulas in the form that Excel stores. Then the refresh that any user's book gets
fills in the values and the true size of every spill. Nothing is filled in by hand: the template proves the refresh.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from addin.excel.manifest import ADDIN_ID
from addin.formulas.shown_cells import cell_reference
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.stored import CALCULATION_ENGINE
from addin.workbook.ooxml.target import Target
from addin.workbook.ooxml.webextension import webextension_parts
from addin.workbook.refresh.plan import referenced_value
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from addin.workbook.template.charts import write_comparison, write_dashboard
from addin.workbook.template.data import DATA_SHEET, Data
from addin.workbook.template.lists import CHOOSE_SLUG, SLUGS, write_catalogue, write_currents, write_indices, write_wire
from addin.workbook.template.ready_made import refuse_unwritable
from addin.workbook.template.start import write_start
from addin.workbook.template.theme import DATE, FALL, RISE, RULE, TIME, VALUE, Theme
from dataservice.client import AsyncClient
from dataservice.stores import MemoryStore
from udfs import Session

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


_SHEETS: dict[str, Callable[[Worksheet, Theme], None]] = {
    "Start": write_start,
    "Dashboard": write_dashboard,
    "Compare": write_comparison,
    "Indices": write_indices,
    "Currents": write_currents,
    "Wire": write_wire,
    "Revisions": write_revisions,
    "Catalogue": write_catalogue,
}

ANY_VERSION = "0.1.0.0"
"""The oldest version of the add-in whose pane the template opens with; newer ones do as well."""

EXAMPLE_DAY = date(2026, 8, 31)
"""The last day of the made-up data: fixed, so that the template is the same file on every machine."""

EARLIER_LOOKS_DAYS = (95, 65, 35)
"""So many days before, somebody looked at the signal whose revisions the template shows."""


async def write_template(
    target: Path,
    session: Session,
    *,
    created: datetime,
    namespace: str = "DS",
    opens_on: str = "Start",
    progress: Callable[[int, int], None] | None = None,
) -> Refreshed:
    """Write the template to `target` with the values of `session`; the same session gives the same bytes.

    It opens on the sheet `opens_on`. `progress` gets the formulas that are done, and all.
    """
    refuse_unwritable(target)
    with TemporaryDirectory() as folder:
        layout = Path(folder) / "layout.xlsx"
        _write_layout(layout, created, namespace, opens_on)
        opening = Path(folder) / "opening.xlsx"
        with Package(layout) as package:
            book = Book(package)
            _show_blanks(book)
            own = webextension_parts(package, addin_id=ADDIN_ID, version=ANY_VERSION)
            package.write(Target(opening), {**book.changed_parts(), **own})
        return await refresh_book(session, opening, target, namespace=namespace, force=True, progress=progress)


def _write_layout(path: Path, created: datetime, namespace: str, opens_on: str) -> None:
    workbook = Workbook(path)
    # Otherwise Excel drops the values when it opens the book, and asks for all of them again.
    workbook.calc_on_load = False
    workbook.set_calc_mode("auto", CALCULATION_ENGINE)
    workbook.set_properties(
        {
            "title": "Data Service workbook",
            "comments": "Formulas of the Data Service add-in with example values from a made-up data set.",
            "created": created.astimezone(UTC).replace(tzinfo=None),
        }
    )
    sheets = {name: workbook.add_worksheet(name) for name in _SHEETS}
    theme = Theme(workbook, namespace, Data(workbook.add_worksheet(DATA_SHEET)))
    for name, write in _SHEETS.items():
        write(sheets[name], theme)
    sheets[opens_on].activate()
    workbook.close()


def _show_blanks(book: Book) -> None:
    """Give each formula that shows another cell what it shows of a blank one, as below the end of a table."""
    for name in book.sheet_names:
        sheet = book.sheet(name)
        for spot, formula in list(sheet.formulas()):
            if (reference := cell_reference(formula.text)) is not None:
                sheet.write(spot, referenced_value(book, reference, name))


@asynccontextmanager
async def example_session(day: date = EXAMPLE_DAY) -> AsyncIterator[Session]:
    """A session with a Pro key on an embedded service with made-up data up to `day`; the time is noon of that day.

    Others looked at one signal on some days before, when the service showed the data of those days.
    """
    # No other command for workbooks needs the server, so it is loaded here.
    from dataservice.server import DailySample, Store, running

    noon = now = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    with TemporaryDirectory() as folder, Store(Path(folder) / "service.db", clock=lambda: now) as store:
        sample, answers, key = DailySample(store, clock=lambda: now), MemoryStore(), store.create_key("pro")
        with running(store) as service:
            for days in EARLIER_LOOKS_DAYS:
                now = noon - timedelta(days=days)
                sample.update()
                async with AsyncClient(service.url, key, store=answers, clock=now.timestamp) as earlier:
                    await earlier.signal(SLUG)
            now = noon
            sample.update()
            async with AsyncClient(service.url, key, store=answers, clock=noon.timestamp) as client:
                yield Session(client, clock=noon.timestamp)
