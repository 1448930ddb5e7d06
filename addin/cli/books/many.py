"""`addin refresh` and `addin cost` for several books: one cost, progress, one report, one exit code."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import typer

from addin.cli.books.session import SigningFiles, run_session
from addin.cli.stopping import ended_like_ctrl_c
from addin.config.settings import Settings, load_settings
from dataservice.terminal import echo, printable

if TYPE_CHECKING:
    from rich.console import Console

    from addin.workbook.many.run import BookDone, BooksCost
    from addin.workbook.refresh.report import Refreshed

Progress: TypeAlias = Callable[[Path, int], None]
"""Told the next book, and how many are done."""

STOPPED = 130
"""The exit code after Ctrl-C, as shells have it."""


def refresh_many(
    arguments: Sequence[Path],
    output: Path | None,
    *,
    force: bool,
    signing_files: SigningFiles,
    as_json: bool,
    by_program: Callable[[Path, Path], Refreshed] | None,
) -> None:
    """Refresh every book that is named, print one report, and end with one exit code.

    `by_program` refreshes a book through a spreadsheet program instead.
    """
    from addin.cli.books.report import print_report
    from addin.workbook.many.names import books_named, targets_of
    from addin.workbook.ooxml.target import remove_leftovers

    books = books_named(arguments)
    targets = targets_of(books, output)
    for folder in {target.parent for target in targets}:
        remove_leftovers(folder, now=time.time())
    done: list[BookDone] = []
    is_stopped = False
    try:
        with ended_like_ctrl_c(), _shown(len(books), "Refreshing", quiet=as_json) as progress:
            if by_program is None:
                asyncio.run(
                    _refresh(books, targets, done, progress, force=force, signing_files=signing_files, quiet=as_json)
                )
            else:
                asyncio.run(_each(books, targets, _in_program(by_program), done, progress, quiet=as_json))
    except KeyboardInterrupt:
        is_stopped = True
    print_report(done, len(books), is_stopped=is_stopped, as_json=as_json)
    if is_stopped:
        raise typer.Exit(STOPPED)
    if not all(book.is_current for book in done):
        raise typer.Exit(3 if any(book.report for book in done) else 1)


def cost_many(arguments: Sequence[Path], *, as_json: bool) -> None:
    """Print what refreshing every book that is named would spend together."""
    from addin.cli.books.report import print_cost
    from addin.workbook.many.names import books_named

    books = books_named(arguments)
    with _shown(len(books), "Counting", quiet=as_json) as progress:
        cost = asyncio.run(_cost(books, progress))
    print_cost(cost, as_json=as_json)
    if cost.failed:
        raise typer.Exit(3 if cost.books else 1)


async def _refresh(
    books: Sequence[Path],
    targets: Sequence[Path],
    done: list[BookDone],
    progress: Progress,
    *,
    force: bool,
    signing_files: SigningFiles,
    quiet: bool,
) -> None:
    from addin.workbook.many.run import books_cost, refuse_if_too_dear
    from addin.workbook.refresh.refresh import refresh_book

    settings = load_settings()
    async with run_session(settings, signing_files) as (session, signing):
        if not force:
            cost = await books_cost(session, books, namespace=settings.namespace)
            refuse_if_too_dear(cost)
            if not quiet:
                echo(f"{len(books):,} books: {cost.cost}", err=True)

        async def refresh(book: Path, target: Path) -> Refreshed:
            return await refresh_book(session, book, target, namespace=settings.namespace, force=True, signing=signing)

        await _each(books, targets, refresh, done, progress, quiet=quiet)


async def _each(
    books: Sequence[Path],
    targets: Sequence[Path],
    refresh: Callable[[Path, Path], Awaitable[Refreshed]],
    done: list[BookDone],
    progress: Progress,
    *,
    quiet: bool,
) -> None:
    """Refresh the books one by one; `done` holds what was done also when this is broken off."""
    from addin.cli.books.report import line_of
    from addin.workbook.many.run import refresh_books

    progress(books[0], 0)
    async for book in refresh_books(books, targets, refresh):
        done.append(book)
        if len(done) < len(books):
            progress(books[len(done)], len(done))
        if not quiet and not _console().is_terminal:
            echo(f"{len(done):,}/{len(books):,} {line_of(book)}", err=True)


def _in_program(refresh: Callable[[Path, Path], Refreshed]) -> Callable[[Path, Path], Awaitable[Refreshed]]:
    async def run(book: Path, target: Path) -> Refreshed:
        return refresh(book, target)

    return run


async def _cost(books: Sequence[Path], progress: Progress) -> BooksCost:
    from addin.workbook.many.run import books_cost

    settings: Settings = load_settings()
    async with run_session(settings) as (session, _):
        return await books_cost(session, books, namespace=settings.namespace, progress=progress)


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True)


@contextmanager
def _shown(total: int, what: str, *, quiet: bool) -> Iterator[Progress]:
    """A bar with the book under way, where stderr is a terminal."""
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = _console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)

        def show(book: Path, done: int) -> None:
            bar.update(task, completed=done, description=escape(f"{what} {printable(book.name)}"))

        yield show
