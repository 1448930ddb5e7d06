"""`addin freeze` and `addin template`: workbooks to pass on, with values only, and workbooks to begin with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Annotated

import typer

from dataservice.cli.printing import echo

NamespaceOption = Annotated[str, typer.Option(help="The functions' namespace in the workbook.")]


def freeze(
    book: Annotated[Path, typer.Argument(help="An .xlsx or .xlsm workbook.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    namespace: NamespaceOption = "DS",
    audit: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="Sign every number, and list their sources on a sheet of the copy."),
    ] = None,
) -> None:
    """Write a copy of a workbook with values in place of our formulas, for readers without the add-in.

    \b
    Examples:
      addin freeze report.xlsx -o for-the-board.xlsx
      addin freeze report.xlsx -o for-the-board.xlsx --audit numbers.jsonl
    """
    from addin.cli.output import counted, working
    from addin.workbook.freeze import freeze_book

    if audit is not None:
        from addin.cli.books.frozen import freeze_signed

        with working(f"Freezing {book.name}"):
            freeze_signed(book, output, audit, namespace=namespace)
        return
    with working(f"Freezing {book.name}"):
        frozen = freeze_book(book, output, namespace=namespace)
    became = "became a value" if frozen == 1 else "became values"
    echo(f"{output}: {counted(frozen, 'formula')} {became}; the copy needs no add-in")


def template(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path("workbook_template.xlsx"),
    namespace: NamespaceOption = "DS",
) -> None:
    """Write the workbook template, with example values from made-up data.

    \b
    Example:
      addin template -o report.xlsx
    """
    from addin.cli.output import working

    with working("Making up data") as show:
        asyncio.run(_write(output, namespace, show))
    echo(f"{output} is written; open it in Excel or Calc, or bring it up to date with: addin refresh {output}")


async def _write(output: Path, namespace: str, show: Callable[[str], None]) -> None:
    from addin.workbook.template.build import EXAMPLE_DAY, example_session, refuse_unwritable, write_template

    refuse_unwritable(output)
    async with example_session() as session:
        show(f"Writing {output.name}")
        created = datetime.combine(EXAMPLE_DAY, time(12), UTC)
        await write_template(
            output,
            session,
            created=created,
            namespace=namespace,
            progress=lambda done, total: show(f"Writing {output.name}: {done:,} of {total:,} formulas"),
        )
