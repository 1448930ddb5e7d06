"""Refreshing a book through a spreadsheet program: LibreOffice on any system, or an Excel that is running."""

from __future__ import annotations

import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from addin.backend import create_app
from addin.backend.serving import listen, running
from addin.calc.extension import Extension
from addin.calc.soffice import convert
from addin.config.settings import Settings
from addin.errors import AddinError
from addin.formulas import Area, mentions
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import WorkbookError, any_failure_explained
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.relations import without_parts
from addin.workbook.ooxml.target import Target
from addin.workbook.ooxml.webextension import webextension_parts_in
from addin.workbook.refresh.dependencies import CellNote
from addin.workbook.refresh.report import Refreshed
from udfs.errors import CellError

POLL_S = 0.25
"""The time between two looks at cells that Excel is still calculating."""

GRACE_S = 10.0
"""How much longer than one batch to wait: Excel shows what has arrived at its own pace."""

LIBREOFFICE_KNOWS_NO_MORE = " (refresh with --engine builtin to see the reason)"


def refresh_with_libreoffice(book: Path, target: Path, settings: Settings) -> Refreshed:
    """Recalculate every formula of `book` in LibreOffice with our extension, and write it as `target` (.xlsx).

    LibreOffice rewrites the whole file, so what only Excel knows (macros, slicers, the task pane) is lost. It asks a
    backend of its own on a free port. Raises `AddinError` where LibreOffice is missing or fails.
    """
    if book.suffix.lower() == ".xlsm":
        raise WorkbookError(f"{book}: LibreOffice would drop its macros; refresh it with --engine builtin")
    place = Target(target, like=book)
    Package(book).close()  # refuses what is no workbook, for LibreOffice would import any text as one
    listener = listen("127.0.0.1", 0, is_private=True)
    with running(create_app(settings), listener) as url, tempfile.TemporaryDirectory() as folder:
        extension = Extension(namespace=settings.namespace, url=url)
        made = convert(book, to="xlsx", into=Path(folder), extension=extension, fit_tables=True)
        with any_failure_explained(book), Package(made) as package:
            report = _errors_in(Book(package), settings.namespace)
            # LibreOffice keeps only a part of what opens the task pane, and Excel would report the rest as damage.
            leftover = webextension_parts_in(package)
            package.write(place, without_parts(package, leftover), leftover, mode=book.stat().st_mode)
    return report


def _errors_in(book: Book, namespace: str) -> Refreshed:
    """Return how many formulas of ours a recalculated book has, and which of them show an error."""
    report = Refreshed()
    for sheet in book.sheets_with_calls(namespace):
        for spot, formula in sheet.formulas():
            if mentions(formula.text, namespace):
                report.cells += 1
                value = sheet.value(spot)
                if isinstance(value, CellError):
                    cell = Area(*spot, *spot, sheet=sheet.name)
                    report.errors.append(
                        CellNote(str(cell), formula.text, f"{value.message}{LIBREOFFICE_KNOWS_NO_MORE}")
                    )
    return report


def refresh_with_excel(book: Path, target: Path, settings: Settings) -> None:
    """Recalculate every formula of `book` in the running Excel and save it as `target`.

    The user must have started Excel (Windows or Mac), with `addin serve` running and the add-in loaded: an Excel that a
    program starts loads no functions of add-ins, and would save #NAME? instead of values. Nothing is saved where a
    formula of ours gets no value. Raises `AddinError`, which says what to do.
    """
    if platform.system() not in ("Windows", "Darwin"):
        raise AddinError("Excel runs on Windows and Mac only; use --engine builtin or --engine libreoffice here")
    import xlwings

    Target(target, like=book)
    app = xlwings.apps.active
    if app is None:
        raise AddinError("start Excel with the add-in loaded first; an Excel started from here would not load it")
    copied = book.resolve() != target.resolve()
    if copied:
        shutil.copy2(book, target)
    try:
        recalculate(app, target, settings.namespace, deadline_s=settings.deadline_s + GRACE_S)
    except Exception as error:
        if copied:
            target.unlink(missing_ok=True)
        if isinstance(error, AddinError):
            raise
        raise AddinError(f"Excel could not refresh {book.name} ({type(error).__name__}: {error})") from error


def recalculate(
    app: Any,
    path: Path,
    namespace: str,
    *,
    deadline_s: float,
    timer: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Open the book at `path` in Excel, recalculate and save it; close it unsaved where a formula of ours fails."""
    book = app.books.open(str(path.resolve()))
    try:
        _calculate(app)
        ends = timer() + deadline_s
        while (waiting := _unfinished(book, namespace)) and timer() < ends:
            sleep(POLL_S)
        if waiting:
            raise AddinError(f"{waiting[0]} was not worked out within {deadline_s:g} s; nothing was saved")
        lost = [place for place, value in _ours(book, namespace) if value == "#NAME?"]
        if lost:
            raise AddinError(f"{lost[0]} shows #NAME?: the add-in is not loaded in this Excel; nothing was saved")
        book.save()
    finally:
        book.close()


def _calculate(app: Any) -> None:
    if platform.system() == "Darwin":
        app.calculate()
    else:
        app.api.CalculateFullRebuild()
        app.api.CalculateUntilAsyncQueriesDone()


def _unfinished(book: Any, namespace: str) -> list[str]:
    """Our cells that show #BUSY! or #GETTING_DATA: error numbers that xlwings has no text for."""
    return [place for place, value in _ours(book, namespace) if isinstance(value, int) and not isinstance(value, bool)]


def _ours(book: Any, namespace: str) -> Iterator[tuple[str, Any]]:
    """Address and value of every cell with a formula of ours; numbers are floats, named errors are texts."""
    for sheet in book.sheets:
        used = sheet.used_range
        formulas = used.formula
        rows = formulas if isinstance(formulas, tuple | list) else ((formulas,),)
        values = used.options(ndim=2, err_to_str=True).value
        for row, cells in enumerate(rows):
            for column, formula in enumerate(cells):
                if isinstance(formula, str) and formula.startswith("=") and mentions(formula, namespace):
                    address = used[row, column].get_address(row_absolute=False, column_absolute=False)
                    yield f"{sheet.name}!{address}", values[row][column]
