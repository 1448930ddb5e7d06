"""`addin refresh` and `addin cost`: bring a workbook up to date, and show what that would spend."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from addin.config.settings import load_settings
from addin.errors import as_argument
from dataservice.terminal import echo, printable

if TYPE_CHECKING:
    from addin.cli.books.session import SigningFiles
    from addin.workbook.refresh.report import BookCost, Refreshed

BooksArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="BOOK...", help="Workbooks (.xlsx, .xlsm), folders of them, or patterns such as 'r/*.xlsx'."
    ),
]
AuditOption = Annotated[
    Path | None, typer.Option(metavar="FILE.jsonl", help="Append signed lines about every number to this file.")
]
EvidenceOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="With --audit: ask everything anew, and keep what the service answered in this folder, so that "
        "`addin verify --evidence` can work the numbers out again without it.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class Engine(StrEnum):
    """The program that evaluates the formulas."""

    BUILTIN = "builtin"
    LIBREOFFICE = "libreoffice"
    EXCEL = "excel"


def refresh(
    books: BooksArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here, or into this folder; else the books are replaced."),
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
    audit: AuditOption = None,
    evidence: EvidenceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a workbook's formulas up to date, with or without a spreadsheet program.

    Formulas that rest on ours are worked out too, where the values in the file show that this is done right. Several
    books are one task: what they share is asked once, and one that fails stops no other.

    The exit code is 0 when every formula of ours, and what rests on it, shows a current value, 3 when some keep their
    last value or show an error, or a time stamp was not had, 1 when nothing could be done.

    \b
    Examples:
      addin refresh report.xlsx
      addin refresh report.xlsx -o monday.xlsx
      addin refresh report.xlsx --dry-run
      addin refresh report.xlsx --audit numbers.jsonl
      addin refresh report.xlsx --audit numbers.jsonl --evidence answers
      addin refresh reports/*.xlsx -o done
    """
    from addin.workbook.many.names import is_one_book

    signing_files = _signing_files(audit, evidence, engine)
    if dry_run:
        cost(books, as_json=as_json)
        return
    if not is_one_book(books):
        from addin.cli.books.many import refresh_many

        by_program = None if engine is Engine.BUILTIN else partial(_by_program, engine)
        refresh_many(books, output, force=force, signing_files=signing_files, as_json=as_json, by_program=by_program)
        return
    _refresh_one(books[0], output, engine, force=force, signing_files=signing_files, as_json=as_json)


def _signing_files(audit: Path | None, evidence: Path | None, engine: Engine) -> SigningFiles:
    """Return where signed lines and evidence go; raises `typer.BadParameter` for what does not go together."""
    from addin.cli.books.session import SigningFiles

    if audit is not None and engine is not Engine.BUILTIN:
        raise typer.BadParameter("only what the builtin engine computes can be signed", param_hint="--audit")
    if evidence is not None and audit is None:
        raise typer.BadParameter("evidence belongs to signed numbers: add --audit FILE.jsonl", param_hint="--evidence")
    return SigningFiles(audit, evidence)


def _refresh_one(
    book: Path, output: Path | None, engine: Engine, *, force: bool, signing_files: SigningFiles, as_json: bool
) -> None:
    target = _target(book, output)
    report = _refreshed(book, target, engine, force=force, signing_files=signing_files, quiet=as_json)
    _print(report, target, engine, as_json=as_json)
    if signing_files.audit is not None and not as_json:
        echo(f"  signed in {signing_files.audit}; check the book with: addin verify {as_argument(target)}")
    if not report.is_current:
        raise typer.Exit(3)


def _target(book: Path, output: Path | None) -> Path:
    """Return where the book goes; a wrong place is refused before anything is asked.

    A name without an ending is a folder, which is made, as for several books: a pattern of the shell may match one.
    """
    from addin.workbook.many.names import targets_of
    from addin.workbook.ooxml.target import Target

    if output is not None and not output.suffix and not output.exists():
        Target(book)  # refuses what is no book before a folder is made for it
        (target,) = targets_of([book], output)
        return target
    target = output or book
    target = target / book.name if target.is_dir() and not book.is_dir() else target
    Target(target, like=book)
    return target


def _print(report: Refreshed, target: Path, engine: Engine, *, as_json: bool) -> None:
    from addin.cli.books import one_book
    from addin.cli.output import print_json

    if as_json:
        print_json(one_book.report_as_json(report, target))
    elif engine is Engine.BUILTIN:
        one_book.print_report(report, target)
    else:
        one_book.print_program_report(report, target, "LibreOffice" if engine is Engine.LIBREOFFICE else "Excel")


def _refreshed(
    book: Path, target: Path, engine: Engine, *, force: bool, signing_files: SigningFiles, quiet: bool
) -> Refreshed:
    if engine is Engine.BUILTIN:
        return asyncio.run(_refresh(book, target, force=force, signing_files=signing_files, quiet=quiet))
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
    from addin.cli.books import one_book
    from addin.cli.output import print_json, working
    from addin.workbook.many.names import is_one_book

    if not is_one_book(books):
        from addin.cli.books.many import cost_many

        cost_many(books, as_json=as_json)
        return
    with working(f"Reading {books[0].name}"):
        found = asyncio.run(_cost(books[0]))
    if as_json:
        print_json(one_book.cost_as_json(found))
    else:
        one_book.print_cost(found, books[0])


async def _refresh(book: Path, target: Path, *, force: bool, signing_files: SigningFiles, quiet: bool) -> Refreshed:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    from addin.cli.books.session import run_session
    from addin.workbook.refresh.refresh import refresh_book

    settings = load_settings()
    async with run_session(settings, signing_files) as (session, signing):
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
            task = progress.add_task(escape(f"Refreshing {printable(book.name)}"), total=None)

            def show(done: int, total: int) -> None:
                if task not in progress.task_ids:
                    return
                if done < total:
                    progress.update(task, completed=done, total=total)
                    return
                # Of a large book the answers are less than half of the time: a full bar would tell of an end.
                progress.remove_task(task)
                progress.add_task(escape(f"Working out and writing {printable(book.name)}"), total=None)

            return await refresh_book(
                session, book, target, namespace=settings.namespace, force=force, progress=show, signing=signing
            )


async def _cost(book: Path) -> BookCost:
    from addin.config.connect import connected
    from addin.workbook.refresh.refresh import book_cost

    settings = load_settings()
    async with connected(settings) as session:
        return await book_cost(session, book, namespace=settings.namespace)
