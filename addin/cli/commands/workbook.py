"""`addin freeze` and `addin template`: workbooks to pass on, with values only, and workbooks to begin with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from addin.errors import as_argument
from dataservice.terminal import echo

if TYPE_CHECKING:
    from addin.workbook.audit.frozen import SignedCopy
    from addin.workbook.freeze import Frozen
    from addin.workbook.refresh.dependencies import CellNote
    from udfs.engine import Outcome

UNTRUSTED = 4
"""The exit code where a book is signed with a key that is not trusted."""

SHOWN_CELLS = 3
"""How many cells without a source are named."""

NamespaceOption = Annotated[str, typer.Option(help="The functions' namespace in the workbook.")]


def freeze(
    book: Annotated[Path, typer.Argument(help="An .xlsx or .xlsm workbook.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    namespace: NamespaceOption = "DS",
    allow_stale: Annotated[
        bool, typer.Option("--allow-stale", help="Write values that may be old all the same, and mark their cells.")
    ] = False,
    audit: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="Sign every number, and list their sources on a sheet of the copy."),
    ] = None,
) -> None:
    """Write a copy of a workbook with values in place of our formulas, for readers without the add-in.

    The calls keep the values that the book shows; every formula that rests on them is worked out from these first. The
    exit code is 3, and nothing is written, when a value cannot be shown to be up to date; it is 4 when --audit would
    sign numbers of a book that is signed with a key that you do not trust.

    \b
    Examples:
      addin freeze report.xlsx -o for-the-board.xlsx
      addin freeze report.xlsx -o for-the-board.xlsx --allow-stale
      addin freeze report.xlsx -o for-the-board.xlsx --audit numbers.jsonl
    """
    from addin.cli.output import counted, working
    from addin.workbook.freeze import StaleValuesError, refuse_itself

    refuse_itself(book, output)
    with TemporaryDirectory() as folder:
        copy = output if audit is None else Path(folder) / f"frozen{book.suffix}"
        try:
            with working(f"Freezing {book.name}"):
                frozen = asyncio.run(_freeze(book, copy, namespace, allow_stale=allow_stale))
        except StaleValuesError as error:
            echo(f"{book}: {error}", err=True)
            _print_stale(error.cells)
            raise typer.Exit(3) from None
        copied = None if audit is None else _signed(book, copy, output, audit, namespace)
    became = "became a value" if frozen.cells == 1 else "became values"
    signed = "" if audit is None else f", signed in {audit}"
    echo(f"{output}: {counted(frozen.cells, 'formula')} of ours {became}{signed}; the copy needs no add-in")
    _print_remaining(frozen)
    if audit is not None and copied is not None:
        _print_signed(book, audit, copied)


def _print_signed(book: Path, audit: Path, copied: SignedCopy) -> None:
    """Print what the signature of a copy lacks, and end with the exit code for that."""
    from addin.cli.output import counted

    unknown = copied.unknown
    if unknown:
        named = ", ".join(unknown[:SHOWN_CELLS]) + (" …" if len(unknown) > SHOWN_CELLS else "")
        advice = f"refresh the book first: addin refresh {as_argument(book)} --audit {as_argument(audit)}"
        echo(f"  source not known: {counted(len(unknown), 'formula')} ({named}); {advice}", err=True)
    if copied.not_stamped:
        echo(f"  not stamped, but signed all the same: {copied.not_stamped}", err=True)
    if unknown or copied.not_stamped:
        raise typer.Exit(3)


def _signed(book: Path, frozen: Path, output: Path, audit: Path, namespace: str) -> SignedCopy:
    """Sign the numbers of a frozen copy and write it."""
    from addin.cli.books.session import time_stamper
    from addin.config.settings import load_settings
    from addin.workbook.audit.frozen import sign_copy
    from addin.workbook.audit.signing import BookSigner
    from addin.workbook.audit.trusted import UntrustedKeyError

    settings = load_settings()
    signer = BookSigner(audit, namespace=namespace, service=settings.url, stamper=time_stamper(settings))
    try:
        return sign_copy(book, frozen, output, signer, namespace=namespace)
    except UntrustedKeyError as error:
        echo(f"{error}", err=True)
        raise typer.Exit(UNTRUSTED) from None


def _print_remaining(frozen: Frozen) -> None:
    """Print what the reader of a copy should know about it."""
    from addin.cli.output import counted

    if frozen.stale:
        echo(f"  {counted(len(frozen.stale), 'formula')} may show an old value; the cells are marked:", err=True)
        _print_stale(frozen.stale)
    if frozen.left_alone:
        named = ", ".join(frozen.left_alone[:SHOWN_CELLS])
        echo(f"  kept, though a name says they are of no use in a copy: {named}", err=True)
    if frozen.unchecked:
        _print_unchecked(frozen.unchecked)
    if frozen.rules:
        rules = counted(frozen.rules, "conditional format or validation", "conditional formats or validations")
        echo(f"  without the add-in, {rules} with our functions will do nothing: replace or delete them", err=True)


def _print_stale(cells: Sequence[CellNote]) -> None:
    for note in cells:
        echo(f"  {note.where}: {note.why}", err=True)


def _print_unchecked(cells: Sequence[CellNote]) -> None:
    from addin.cli.output import counted
    from addin.workbook.calculation.engine.process import how_to_install

    named = ", ".join(note.where for note in cells[:SHOWN_CELLS]) + (" …" if len(cells) > SHOWN_CELLS else "")
    echo(
        f"  not checked: {counted(len(cells), 'formula')} ({named}) became what the book shows, and what rests on our "
        f"values may be old; to work them out first, {how_to_install()}",
        err=True,
    )


async def _freeze(book: Path, output: Path, namespace: str, *, allow_stale: bool) -> Frozen:
    from contextlib import AsyncExitStack

    from addin.config.connect import connected
    from addin.config.settings import load_settings
    from addin.workbook.freeze import freeze as freeze_book
    from udfs import Call

    async with AsyncExitStack() as stack:

        async def ask(calls: Sequence[Call]) -> Sequence[Outcome]:
            """Connect only if there is something to ask: most books need no answer."""
            session = await stack.enter_async_context(connected(load_settings()))
            return await session.answer(calls)

        return await freeze_book(book, output, namespace=namespace, allow_stale=allow_stale, ask=ask)


def template(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path("workbook_template.xlsx"),
    namespace: NamespaceOption = "DS",
) -> None:
    """Write the workbook template, with example values from made-up data.

    \b
    Example:
      addin template -o report.xlsx
    """
    from addin.workbook.template.ready_made import copy_template

    if namespace != "DS" or not copy_template(output):
        from addin.cli.output import working

        with working("Making up data") as show:
            asyncio.run(_write(output, namespace, show))
    update = f"addin refresh {as_argument(output)}"
    echo(f"{output} is written; open it in Excel or Calc, or bring it up to date with: {update}")


async def _write(output: Path, namespace: str, show: Callable[[str], None]) -> None:
    from addin.workbook.template.build import EXAMPLE_DAY, example_session, write_template
    from addin.workbook.template.ready_made import refuse_unwritable

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
