"""`addin freeze`: a copy of a workbook that needs no add-in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def freeze(
    book: Annotated[Path, typer.Argument(help="An .xlsx or .xlsm workbook.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    namespace: Annotated[str, typer.Option(help="The functions' namespace in the workbook.")] = "DS",
) -> None:
    """Write a copy of a workbook with values in place of our formulas, for readers without the add-in.

    Example: addin freeze report.xlsx -o for-the-board.xlsx
    """
    from addin.workbook.freeze import freeze_book

    frozen = freeze_book(book, output, namespace=namespace)
    typer.echo(f"{output}: {frozen:,} formulas became values; the copy asks for no add-in")
