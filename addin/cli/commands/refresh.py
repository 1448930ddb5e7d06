"""`addin refresh` and `addin cost`: bring a workbook up to date, and show what that would spend."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from addin.config.settings import load_settings
from dataservice.cli.printing import echo, printable

if TYPE_CHECKING:
    from addin.workbook.refresh.dependencies import CellNote
    from addin.workbook.refresh.report import BookCost, Refreshed

BooksArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="BOOK...", help="Workbooks (.xlsx, .xlsm), folders of them, or patterns such as 'r/*.xlsx'."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

SHOWN_CELLS = 3
"""How many of the cells with the same reason are named."""


class Engine(StrEnum):
    """What evaluates the formulas."""

    BUILTIN = "builtin"
    LIBREOFFICE = "libreoffice"
    EXCEL = "excel"


def refresh(
    books: BooksArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here, several books into this folder; else the books are replaced."),
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
    audit: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="Append signed lines about every number to this file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a workbook's formulas up to date, with or without a spreadsheet program.

    Several books are one task: what they share is asked once, and one that fails stops no other. The exit code is 0
    when every formula of ours shows a current value, 3 when some keep their last value or show an error, 1 when nothing
    could be done.

    \b
    Examples:
      addin refresh report.xlsx
      addin refresh report.xlsx -o monday.xlsx
      addin refresh report.xlsx --dry-run
      addin refresh report.xlsx --audit numbers.jsonl
      addin refresh reports/*.xlsx -o done
    """
    from addin.workbook.many.names import is_one_book

    if audit is not None and engine is not Engine.BUILTIN:
        raise typer.BadParameter("only what the builtin engine computes can be signed", param_hint="--audit")
    if dry_run:
        cost(books, as_json=as_json)
        return
    if not is_one_book(books):
        from addin.cli.books.many import refresh_many

        by_program = None if engine is Engine.BUILTIN else partial(_by_program, engine)
        refresh_many(books, output, force=force, audit=audit, as_json=as_json, by_program=by_program)
        return
    from addin.workbook.ooxml.target import Target

    target = output or books[0]
    target = target / books[0].name if target.is_dir() and not books[0].is_dir() else target
    Target(target, like=books[0])  # a wrong target is refused before anything is asked
    report = _refreshed(books[0], target, engine, force=force, audit=audit, quiet=as_json)
    if as_json:
        from addin.cli.output import print_json

        print_json(report_as_json(report, target))
    elif engine is Engine.BUILTIN:
        _print_report(report, target)
    else:
        _print_program_report(report, target, engine)
    if report.kept or report.errors or report.skipped:
        raise typer.Exit(3)


def _refreshed(book: Path, target: Path, engine: Engine, *, force: bool, audit: Path | None, quiet: bool) -> Refreshed:
    if engine is Engine.BUILTIN:
        return asyncio.run(_refresh(book, target, force=force, audit=audit, quiet=quiet))
    return _by_program(engine, book, target)


def _by_program(engine: Engine, book: Path, target: Path) -> Refreshed:
    match engine:
        case Engine.LIBREOFFICE:
            from addin.cli.output import working
            from addin.workbook.refresh.programs import refresh_with_libreoffice

            with working(f"Refreshing {book.name} in LibreOffice"):
                return refresh_with_libreoffice(book, target, load_settings())
        case _:
            from addin.cli.output import working
            from addin.workbook.refresh import programs, report

            with working(f"Refreshing {book.name} in Excel"):
                programs.refresh_with_excel(book, target, load_settings())
            return report.Refreshed()


def cost(books: BooksArgument, as_json: JsonOption = False) -> None:
    """Show how many requests a refresh of a workbook would spend; nothing is sent.

    \b
    Examples:
      addin cost report.xlsx
      addin cost --json report.xlsx
      addin cost january.xlsx february.xlsx
    """
    from addin.cli.output import print_json, working
    from addin.workbook.many.names import is_one_book

    if not is_one_book(books):
        from addin.cli.books.many import cost_many

        cost_many(books, as_json=as_json)
        return
    with working(f"Reading {books[0].name}"):
        found = asyncio.run(_cost(books[0]))
    if as_json:
        print_json(cost_as_json(found))
    else:
        _print_cost(found, books[0])


async def _refresh(book: Path, target: Path, *, force: bool, audit: Path | None, quiet: bool) -> Refreshed:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    from addin.cli.books.session import run_session, signer
    from addin.workbook.refresh.refresh import refresh_book

    settings = load_settings()
    signing = signer(audit, settings)
    async with run_session(settings, traced=signing is not None) as session:
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
            task = progress.add_task(escape(f"Refreshing {printable(book.name)}"), total=None)

            def show(done: int, total: int) -> None:
                progress.update(task, completed=done, total=total)

            return await refresh_book(
                session, book, target, namespace=settings.namespace, force=force, progress=show, signing=signing
            )


def _print_report(report: Refreshed, target: Path) -> None:
    from addin.cli.output import counted, requests_text

    spent = requests_text(report.requests)
    echo(f"{target}: {counted(report.cells, 'formula')}, {len(report.written):,} changed, {spent} spent")
    print_notes(report)
    if report.mended:
        echo(f"  entered anew: {len(report.mended):,} formulas that Excel would have shown as #NAME?")
    if report.recalculates:
        echo("  other formulas depend on these values: Excel recalculates them when it opens the book")


def _print_program_report(report: Refreshed, target: Path, engine: Engine) -> None:
    program = {"libreoffice": "LibreOffice", "excel": "Excel"}[engine]
    if report.errors:
        echo(f"{target}: {len(report.errors):,} of {report.cells:,} formulas show an error ({program})")
        print_notes(report)
    else:
        echo(f"{target} is up to date ({program})")


def print_notes(report: Refreshed, *, before: str = "") -> None:
    """Print every reason once, with the first cells that it concerns; `before` stands at the start of each line."""
    for name, items in _groups(report).items():
        by_reason: dict[str, list[str]] = {}
        for item in items:
            by_reason.setdefault(item.why, []).append(item.where)
        for why, cells in by_reason.items():
            more = " …" if len(cells) > SHOWN_CELLS else ""
            several = f"{len(cells):,} formulas ({', '.join(cells[:SHOWN_CELLS])}{more})"
            echo(f"  {before}{name}: {cells[0] if len(cells) == 1 else several}: {why}", err=True)


def _groups(report: Refreshed) -> dict[str, Sequence[CellNote]]:
    return {
        "kept their last value": report.kept,
        "show an error": report.errors,
        "left as they are": report.skipped,
        "note": report.notes,
    }


def report_as_json(report: Refreshed, target: Path) -> dict[str, Any]:
    return {
        "book": printable(str(target)),
        "formulas": report.cells,
        "changed": len(report.written),
        "entered_anew": len(report.mended),
        "requests": report.requests,
        "recalculates_on_opening": report.recalculates,
        **{name.replace(" ", "_"): _as_json(items) for name, items in _groups(report).items()},
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


def cost_as_json(cost: BookCost) -> dict[str, Any]:
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
