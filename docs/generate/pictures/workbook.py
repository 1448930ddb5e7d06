"""The picture of the template's dashboard: `python -m docs.generate.pictures.workbook`.

Needs LibreOffice and pdftoppm (poppler). Run it when the template looks different; nothing compares the picture.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from addin.calc.soffice import convert
from addin.workbook.freeze import freeze_book
from docs.generate.pages import DOCS

__all__ = ["draw_workbook"]

TEMPLATE = DOCS.parent / "workbook_template.xlsx"
PAGE = "2"
"""The dashboard's page."""

DPI = 116
LEFT, TOP, WIDTH, HEIGHT = 30, 40, 1290, 660
"""The part of the page that is not margin, in pixels."""


def draw_workbook(target: Path) -> None:
    """Write the dashboard of the committed template as a PNG."""
    with TemporaryDirectory() as folder:
        frozen = Path(folder) / "frozen.xlsx"
        freeze_book(TEMPLATE, frozen)
        pdf = convert(frozen, to="pdf", into=Path(folder))
        crop = ["-x", str(LEFT), "-y", str(TOP), "-W", str(WIDTH), "-H", str(HEIGHT)]
        page = ["-f", PAGE, "-l", PAGE, "-singlefile", "-r", str(DPI)]
        command = ["pdftoppm", "-png", *page, *crop, str(pdf), str(target.with_suffix(""))]
        subprocess.run(command, check=True)  # noqa: S603 - our own files


if __name__ == "__main__":
    draw_workbook(DOCS / "images" / "workbook.png")
