"""`addin refresh`: bring a workbook up to date, by default without any spreadsheet program."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from addin.config.settings import load_settings

if TYPE_CHECKING:
    from addin.workbook.refresh.refresh import Refreshed


class Engine(StrEnum):
    """What works the formulas out."""

    BUILTIN = "builtin"
    LIBREOFFICE = "libreoffice"
    EXCEL = "excel"


def refresh(
    book: Annotated[Path, typer.Argument(help="An .xlsx or .xlsm workbook.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here; without it the book itself is replaced.")
    ] = None,
    engine: Annotated[
        Engine,
        typer.Option(
            help="builtin: formulas of ours, no program needed; libreoffice: everything, through soffice; "
            "excel: everything, in a running Excel on Windows or Mac."
        ),
    ] = Engine.BUILTIN,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what it would spend.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Start even if the requests left may not be enough.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Bring a workbook's formulas up to date, with or without a spreadsheet program.

    The exit code is 0 when every formula of ours shows a value of now, 3 when some keep their last value or show an
    error, 1 when nothing could be done.

    \b
    Examples:
      addin refresh report.xlsx
      addin refresh report.xlsx -o monday.xlsx
      addin refresh report.xlsx --dry-run
    """
    if dry_run:
        from addin.cli.commands.cost import cost

        cost(book, as_json=as_json)
        return
    target = output or book
    match engine:
        case Engine.BUILTIN:
            report = asyncio.run(_refresh(book, target, force=force, quiet=as_json))
            _show(report, target, as_json=as_json)
            if report.kept or report.errors or report.skipped:
                raise typer.Exit(3)
        case Engine.LIBREOFFICE:
            from addin.workbook.refresh.programs import refresh_with_libreoffice

            refresh_with_libreoffice(book, target, load_settings())
            typer.echo(f"{target} is up to date (LibreOffice)")
        case Engine.EXCEL:
            from addin.workbook.refresh.programs import refresh_with_excel

            refresh_with_excel(book, target, load_settings())
            typer.echo(f"{target} is up to date (Excel)")


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


def _show(report: Refreshed, target: Path, *, as_json: bool) -> None:
    groups = {
        "kept their last value": report.kept,
        "show an error": report.errors,
        "left as they are": report.skipped,
        "note": report.notes,
    }
    if as_json:
        import orjson

        out = {
            "book": str(target),
            "formulas": report.cells,
            "changed": len(report.written),
            "requests": report.requests,
            "recalculates_on_opening": report.recalculates,
            **{
                name.replace(" ", "_"): [{"cell": i.where, "formula": i.formula, "why": i.why} for i in items]
                for name, items in groups.items()
            },
        }
        typer.echo(orjson.dumps(out, option=orjson.OPT_INDENT_2).decode())
        return
    requests = "1 request" if report.requests == 1 else f"{report.requests:,} requests"
    typer.echo(f"{target}: {report.cells:,} formulas, {len(report.written):,} changed, {requests} spent")
    for name, items in groups.items():
        for item in items:
            typer.echo(f"  {name}: {item.where}: {item.why}", err=True)
    if report.recalculates:
        typer.echo("  other formulas rest on these values: Excel works them out when it opens the book")
