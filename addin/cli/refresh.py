"""`addin refresh` and `addin cost`: bring a workbook up to date, and show what that would spend."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from addin.config.settings import load_settings
from dataservice.cli.printing import echo

if TYPE_CHECKING:
    from addin.workbook.refresh.dependencies import CellNote
    from addin.workbook.refresh.refresh import BookCost, Refreshed

BookArgument = Annotated[Path, typer.Argument(help="An .xlsx or .xlsm workbook.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class Engine(StrEnum):
    """What evaluates the formulas."""

    BUILTIN = "builtin"
    LIBREOFFICE = "libreoffice"
    EXCEL = "excel"


def refresh(
    book: BookArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here; without it the book itself is replaced.")
    ] = None,
    engine: Annotated[
        Engine,
        typer.Option(
            help="builtin: our formulas, no program needed; libreoffice: everything, through soffice; "
            "excel: everything, in a running Excel on Windows or Mac."
        ),
    ] = Engine.BUILTIN,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what it would spend.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Start even if the requests left may not be enough.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring a workbook's formulas up to date, with or without a spreadsheet program.

    The exit code is 0 when every formula of ours shows a current value, 3 when some keep their last value or show an
    error, 1 when nothing could be done.

    \b
    Examples:
      addin refresh report.xlsx
      addin refresh report.xlsx -o monday.xlsx
      addin refresh report.xlsx --dry-run
    """
    if dry_run:
        cost(book, as_json=as_json)
        return
    target = output or book
    match engine:
        case Engine.BUILTIN:
            report = asyncio.run(_refresh(book, target, force=force, quiet=as_json))
            _print_report(report, target, as_json=as_json)
            if report.kept or report.errors or report.skipped:
                raise typer.Exit(3)
        case Engine.LIBREOFFICE:
            from addin.workbook.refresh.programs import refresh_with_libreoffice

            refresh_with_libreoffice(book, target, load_settings())
            echo(f"{target} is up to date (LibreOffice)")
        case Engine.EXCEL:
            from addin.workbook.refresh.programs import refresh_with_excel

            refresh_with_excel(book, target, load_settings())
            echo(f"{target} is up to date (Excel)")


def cost(book: BookArgument, as_json: JsonOption = False) -> None:
    """Show how many requests a refresh of a workbook would spend; nothing is sent.

    \b
    Examples:
      addin cost report.xlsx
      addin cost --json report.xlsx
    """
    from addin.cli.output import print_json

    found = asyncio.run(_cost(book))
    if as_json:
        print_json(_cost_as_json(found))
    else:
        _print_cost(found, book)


async def _refresh(book: Path, target: Path, *, force: bool, quiet: bool) -> Refreshed:
    from rich.console import Console
    from rich.progress import Progress

    from addin.config.connect import connected
    from addin.workbook.refresh.refresh import refresh_book

    settings = load_settings()
    async with connected(settings) as session:
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
            task = progress.add_task(f"Refreshing {book.name}", total=None)

            def show(done: int, total: int) -> None:
                progress.update(task, completed=done, total=total)

            return await refresh_book(session, book, target, namespace=settings.namespace, force=force, progress=show)


def _print_report(report: Refreshed, target: Path, *, as_json: bool) -> None:
    from addin.cli.output import counted, print_json, requests_text

    groups = {
        "kept their last value": report.kept,
        "show an error": report.errors,
        "left as they are": report.skipped,
        "note": report.notes,
    }
    if as_json:
        print_json(
            {
                "book": str(target),
                "formulas": report.cells,
                "changed": len(report.written),
                "requests": report.requests,
                "recalculates_on_opening": report.recalculates,
                **{name.replace(" ", "_"): _as_json(items) for name, items in groups.items()},
            }
        )
        return
    spent = requests_text(report.requests)
    echo(f"{target}: {counted(report.cells, 'formula')}, {len(report.written):,} changed, {spent} spent")
    for name, items in groups.items():
        for item in items:
            echo(f"  {name}: {item.where}: {item.why}", err=True)
    if report.recalculates:
        echo("  other formulas depend on these values: Excel recalculates them when it opens the book")


def _as_json(items: Sequence[CellNote]) -> list[dict[str, str]]:
    return [{"cell": item.where, "formula": item.formula, "why": item.why} for item in items]


async def _cost(book: Path) -> BookCost:
    from addin.config.connect import connected
    from addin.workbook.refresh.refresh import book_cost

    settings = load_settings()
    async with connected(settings) as session:
        return await book_cost(session, book, namespace=settings.namespace)


def _print_cost(cost: BookCost, book: Path) -> None:
    """Print the cost as a table by sheet and function."""
    from rich.console import Console

    from addin.cli.output import plain_table, requests_text

    console = Console()
    table = plain_table(show_header=True)
    for heading in ("sheet", "function"):
        table.add_column(heading)
    for heading in ("formulas", "requests"):
        table.add_column(heading, justify="right")
    for (sheet, function_id), (formulas, requests) in cost.by_sheet.items():
        table.add_row(sheet, function_id, f"{formulas:,}", f"{requests:,}")
    console.print(table)
    left = "" if cost.remaining is None else f", {cost.remaining:,} left this month"
    console.print(
        f"[bold]{book.name}: {requests_text(cost.requests)}[/bold]{left}; "
        f"{cost.fresh_cells:,} of {cost.cells:,} formulas are fresh already. "
        "Formulas that share data share its requests."
    )
    for item in cost.skipped:
        console.print(f"[yellow]left as it is[/yellow] {item.where}: {item.why}", highlight=False)


def _cost_as_json(cost: BookCost) -> dict[str, Any]:
    return {
        "requests": cost.requests,
        "remaining": cost.remaining,
        "affordable": cost.affordable,
        "formulas": cost.cells,
        "fresh_formulas": cost.fresh_cells,
        "by_sheet": [
            {"sheet": sheet, "function": function_id, "formulas": formulas, "requests": requests}
            for (sheet, function_id), (formulas, requests) in cost.by_sheet.items()
        ],
        "left_as_is": _as_json(cost.skipped),
    }
