"""The scripts and styles of Excel's pages."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from addin.web import Assets, files_in

STATIC = Path(__file__).parent / "static"
"""Excel's files, as they are written."""

FOLDERS = ("client", "functions", "workbook", "taskpane")
"""Excel's scripts and styles; types and icons are not among them."""


@cache
def excel_assets() -> Assets:
    """The scripts and styles of Excel's pages, read once: an update is served by the backend that it belongs to."""
    return Assets(files_in(STATIC, FOLDERS))
