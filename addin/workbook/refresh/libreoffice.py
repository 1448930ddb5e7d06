"""Refreshing a book through LibreOffice, on any system."""

from __future__ import annotations

import tempfile
from pathlib import Path

from addin.backend import create_app
from addin.backend.serving import listen, running
from addin.calc.extension import Extension
from addin.calc.soffice import convert
from addin.config.settings import Settings
from addin.workbook.ooxml.package import WorkbookError
from addin.workbook.refresh.refresh import refuse_if_open


def refresh_with_libreoffice(book: Path, target: Path, settings: Settings) -> None:
    """Recalculate every formula of `book` in LibreOffice with our extension, and write it as `target` (.xlsx).

    LibreOffice writes the whole file anew: what only Excel knows (macros, slicers, pane settings) does not survive.
    A backend of its own answers it on a free port. Raises `AddinError` where LibreOffice is missing or fails.
    """
    if book.suffix.lower() == ".xlsm":
        raise WorkbookError(f"{book}: LibreOffice would drop its macros; refresh it with --engine builtin")
    refuse_if_open(target)
    listener = listen("127.0.0.1", 0)
    with running(create_app(settings), listener) as url, tempfile.TemporaryDirectory(dir=target.parent) as folder:
        extension = Extension(namespace=settings.namespace, url=url)
        convert(book, to="xlsx", into=Path(folder), extension=extension, fit_tables=True).replace(target)
