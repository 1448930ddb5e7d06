"""The template: a workbook whose every value a first refresh against a service has put there.

The layout is written by XlsxWriter with formulas in the form Excel stores; then the same refresh that any user's book
gets fills in the values and the true size of every spill. Nothing is put in by hand: the template proves the refresh.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from addin.excel.manifest import ADDIN_ID, addin_version
from addin.workbook.layout.catalogue import write_catalogue
from addin.workbook.layout.currents import write_currents
from addin.workbook.layout.dashboard import write_dashboard
from addin.workbook.layout.history import write_history
from addin.workbook.layout.indices import write_indices
from addin.workbook.layout.start import write_start
from addin.workbook.layout.theme import Theme
from addin.workbook.layout.wire import write_wire
from addin.workbook.package import Package
from addin.workbook.refresh import Refreshed, refresh_book
from addin.workbook.webextension import webextension_parts
from udfs import Session

__all__ = ["write_template"]

Writer: TypeAlias = Callable[[Workbook, Worksheet, Theme], None]

_SHEETS: tuple[tuple[str, Writer], ...] = (
    ("Start", write_start),
    ("Dashboard", write_dashboard),
    ("History", write_history),
    ("Indices", write_indices),
    ("Currents", write_currents),
    ("Wire", write_wire),
    ("Catalogue", write_catalogue),
)

_CALC_ENGINE = 191029
"""The version of Excel's calculation engine that the book says it was calculated by: that of Microsoft 365."""


async def write_template(target: Path, session: Session, *, created: datetime, namespace: str = "DS") -> Refreshed:
    """Write the template to `target` with the values that `session` gives; the same session gives the same bytes."""
    with TemporaryDirectory() as folder:
        layout = Path(folder) / "layout.xlsx"
        _write_layout(layout, created, namespace)
        opening = Path(folder) / target.name
        with Package(layout) as package:
            package.write(opening, webextension_parts(package, addin_id=ADDIN_ID, version=addin_version()))
        return await refresh_book(session, opening, target, namespace=namespace, force=True)


def _write_layout(path: Path, created: datetime, namespace: str) -> None:
    workbook = Workbook(path)
    # Without this Excel would throw the values away at opening, and ask for all of them again.
    workbook.calc_on_load = False
    workbook.set_calc_mode("auto", _CALC_ENGINE)
    workbook.set_properties(
        {
            "title": "Data Service workbook",
            "comments": "Formulas of the Data Service add-in with example values from a made-up data set.",
            "created": created.astimezone(UTC).replace(tzinfo=None),
        }
    )
    theme = Theme(workbook, namespace)
    sheets = [(workbook.add_worksheet(name), write) for name, write in _SHEETS]
    for sheet, write in sheets:
        write(workbook, sheet, theme)
    workbook.close()
