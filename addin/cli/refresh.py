"""`addin refresh` and `addin cost`: bring a workbook up to date, and show what that would spend."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from addin.config.settings import load_settings
from dataservice.cli.printing import echo, printable

if TYPE_CHECKING:
    from addin.workbook.refresh.dependencies import CellNote
    from addin.workbook.refresh.report import BookCost, Refreshed

BookArgument = Annotated[Path, typer.Argument(help="An .xlsx or .xlsm workbook.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

SHOWN_CELLS = 3
"""How many of the cells with the same reason are named."""


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
            help="builtin: our formulas and what rests on them, no program needed; libreoffice: everything, through "
            "soffice; excel: everything, in a running Excel on Windows or Mac."
        ),
    ] = Engine.BUILTIN,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what it would spend.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Start even if the requests left may not be enough.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring a workbook's formulas up to date, with or without a spreadsheet program.

    Formulas that rest on ours are worked out too, where the values in the file show that this is done right.

    The exit code is 0 when every formula of ours, and what rests on it, shows a current value, 3 when some keep their
    last value or show an error, 1 when nothing could be done.

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
    report = _refreshed(book, target, engine, force=force, quiet=as_json)
    if as_json:
        from addin.cli.output import print_json

        print_json(_report_as_json(report, target))
    elif engine is Engine.BUILTIN:
        _print_report(report, target)
    else:
        _print_program_report(report, target, engine)
    if report.kept or report.errors or report.skipped or report.unproven:
        raise typer.Exit(3)


def _refreshed(book: Path, target: Path, engine: Engine, *, force: bool, quiet: bool) -> Refreshed:
    match engine:
        case Engine.BUILTIN:
            return asyncio.run(_refresh(book, target, force=force, quiet=quiet))
        case Engine.LIBREOFFICE:
            from addin.workbook.refresh.programs import refresh_with_libreoffice

            return refresh_with_libreoffice(book, target, load_settings())
        case Engine.EXCEL:
            from addin.workbook.refresh import programs, report

            programs.refresh_with_excel(book, target, load_settings())
            return report.Refreshed()


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
    from rich.markup import escape
    from rich.progress import Progress

    from addin.config.connect import connected
    from addin.workbook.refresh.refresh import refresh_book

    settings = load_settings()
    async with connected(settings) as session:
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
            task = progress.add_task(escape(f"Refreshing {printable(book.name)}"), total=None)

            def show(done: int, total: int) -> None:
                progress.update(task, completed=done, total=total)

            return await refresh_book(session, book, target, namespace=settings.namespace, force=force, progress=show)


def _print_report(report: Refreshed, target: Path) -> None:
    from addin.cli.output import counted, requests_text
    from addin.workbook.calculation.engine import how_to_install, is_installed

    spent = requests_text(report.requests)
    echo(f"{target}: {counted(report.cells, 'formula')}, {len(report.written):,} changed, {spent} spent")
    _print_notes(report)
    _print_calculated(report)
    if report.mended:
        echo(f"  entered anew: {len(report.mended):,} formulas that Excel would have shown as #NAME?")
    if report.recalculates:
        echo("  other formulas depend on these values: Excel recalculates them when it opens the book")
        if not is_installed():
            echo(f"  to work them out here, {how_to_install()}")


def _print_calculated(report: Refreshed) -> None:
    """Say how many other formulas were worked out, and how far that was proven."""
    from addin.cli.output import counted

    done = [cell for cell in report.calculated if not cell.unproven]
    if done:
        blind = sum(not cell.compared for cell in done)
        more = f", {blind:,} of them without a value in the file to compare with" if blind else ""
        echo(f"  {counted(len(done), 'other formula')} worked out{more}")


def _print_program_report(report: Refreshed, target: Path, engine: Engine) -> None:
    program = {"libreoffice": "LibreOffice", "excel": "Excel"}[engine]
    if report.errors:
        echo(f"{target}: {len(report.errors):,} of {report.cells:,} formulas show an error ({program})")
        _print_notes(report)
    else:
        echo(f"{target} is up to date ({program})")


def _print_notes(report: Refreshed) -> None:
    """Print every reason once, with the first cells that it concerns."""
    for name, items in _groups(report).items():
        by_reason: dict[str, list[str]] = {}
        for item in items:
            by_reason.setdefault(item.why, []).append(item.where)
        for why, cells in by_reason.items():
            more = " …" if len(cells) > SHOWN_CELLS else ""
            several = f"{len(cells):,} formulas ({', '.join(cells[:SHOWN_CELLS])}{more})"
            echo(f"  {name}: {cells[0] if len(cells) == 1 else several}: {why}", err=True)


def _groups(report: Refreshed) -> dict[str, Sequence[CellNote]]:
    from addin.formulas import Area
    from addin.workbook.refresh.dependencies import CellNote

    return {
        "kept their last value": report.kept,
        "show an error": report.errors,
        "left as they are": report.skipped,
        "unproven, keep their old value": [
            CellNote(str(Area(*cell.cell[1], *cell.cell[1], sheet=cell.cell[0])), cell.formula, cell.unproven)
            for cell in report.unproven
        ],
        "note": report.notes,
    }


def _report_as_json(report: Refreshed, target: Path) -> dict[str, Any]:
    return {
        "book": printable(str(target)),
        "formulas": report.cells,
        "changed": len(report.written),
        "entered_anew": len(report.mended),
        "requests": report.requests,
        "recalculates_on_opening": report.recalculates,
        "worked_out": sum(not cell.unproven for cell in report.calculated),
        "not_compared": sum(not cell.unproven and not cell.compared for cell in report.calculated),
        **{name.partition(",")[0].replace(" ", "_"): _as_json(items) for name, items in _groups(report).items()},
    }


def _as_json(items: Sequence[CellNote]) -> list[dict[str, str]]:
    notes = ((item.where, item.formula, item.why) for item in items)
    return [dict(zip(("cell", "formula", "why"), map(printable, note), strict=True)) for note in notes]


async def _cost(book: Path) -> BookCost:
    from addin.config.connect import connected
    from addin.workbook.refresh.refresh import book_cost

    settings = load_settings()
    async with connected(settings) as session:
        return await book_cost(session, book, namespace=settings.namespace)


def _print_cost(cost: BookCost, book: Path) -> None:
    """Print the cost as a table by sheet and function."""
    from rich.console import Console
    from rich.text import Text

    from addin.cli.output import plain_table

    console = Console(markup=False, highlight=False)
    table = plain_table(show_header=True)
    for heading in ("sheet", "function"):
        table.add_column(heading)
    for heading in ("formulas", "requests"):
        table.add_column(heading, justify="right")
    for (sheet, function_id), (formulas, requests) in cost.by_sheet.items():
        names = (Text(printable(name)) for name in (sheet, function_id))
        table.add_row(*names, f"{formulas:,}", requests.range_text())
    console.print(table)
    left = "" if cost.remaining is None else f", {cost.remaining:,} left this month"
    total = Text(f"{printable(book.name)}: {cost.cost}", style="bold")
    total.append(
        f"{left}; {cost.fresh_cells:,} of {cost.cells:,} formulas are fresh already. "
        "Formulas that share data share its requests.",
        style="not bold",
    )
    console.print(total)
    for item in cost.skipped:
        console.print(Text.assemble(("left as it is", "yellow"), f" {printable(item.where)}: {printable(item.why)}"))


def _cost_as_json(cost: BookCost) -> dict[str, Any]:
    return {
        "requests": cost.requests,
        "at_least": cost.cost.at_least,
        "at_most": cost.cost.at_most,
        "remaining": cost.remaining,
        "affordable": cost.affordable,
        "formulas": cost.cells,
        "fresh_formulas": cost.fresh_cells,
        "by_sheet": [
            {
                "sheet": printable(sheet),
                "function": printable(function_id),
                "formulas": formulas,
                "requests": requests.number,
            }
            for (sheet, function_id), (formulas, requests) in cost.by_sheet.items()
        ],
        "left_as_is": _as_json(cost.skipped),
    }
