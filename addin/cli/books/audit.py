"""`addin verify` and `addin replay`: check a book against what was signed, and build it again from that."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from addin.errors import AddinError
from dataservice.cli.printing import echo, printable

if TYPE_CHECKING:
    from addin.workbook.audit.replay import Replayed, ToReplay
    from addin.workbook.audit.verify import Verified

NamespaceOption = Annotated[str, typer.Option(help="The functions' namespace in the workbook.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def verify(
    book: Annotated[Path, typer.Argument(help="An .xlsx or .xlsm workbook that was signed.")],
    audit: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="The signed lines; without it, those inside the book.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="FINGERPRINT", help="Accept only this key, such as 60e0-5bd1-b195-af2f.")
    ] = None,
    named: Annotated[
        str | None, typer.Option("--book", help="What the lines call the book, if that is not its name.")
    ] = None,
    namespace: NamespaceOption = "DS",
    as_json: JsonOption = False,
) -> None:
    """Name every cell of a workbook that no longer holds what was signed.

    The exit code is 0 if every cell holds it and the lines are as they were signed, 3 if not, 1 if that cannot be
    told. Nothing is sent and nothing is written.

    \b
    Examples:
      addin verify for-the-board.xlsx
      addin verify report.xlsx --audit numbers.jsonl
      addin verify again.xlsx --audit numbers.jsonl --book report.xlsx
      addin verify report.xlsx --key 60e0-5bd1-b195-af2f
    """
    from addin.workbook.audit.keys import fingerprint, known_public_key
    from addin.workbook.audit.verify import verify_book

    verified = verify_book(book, audit, named=named, namespace=namespace)
    signed_with = fingerprint(verified.block.public_key)
    problems = [*verified.problems]
    if key is not None and key != signed_with:
        problems.append(f"signed with the key {signed_with}, not with {key}")
    is_own = verified.block.public_key == known_public_key()
    if as_json:
        _print_json(verified, book, problems, signed_with, is_own=is_own)
    else:
        _print_verified(verified, book, problems, signed_with, is_own=is_own)
    if problems or verified.differences:
        raise typer.Exit(3)


def replay(
    audit: Annotated[Path, typer.Argument(metavar="AUDIT.jsonl", help="The signed lines.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A file for one book, a folder for several; else the books themselves."),
    ] = None,
    book: Annotated[str | None, typer.Option(help="Only the book that the lines call so.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Replace books by lines of another key, too.")] = False,
    namespace: NamespaceOption = "DS",
) -> None:
    """Build refreshed workbooks again from their signed lines, without a request.

    The formulas come from the book as it is now, the values from the lines. The exit code is 0 if every value is in
    its cell again, 3 if a formula is another one now, 1 if nothing could be done. Frozen copies are not built again:
    replay the book that the copy was made of, and freeze it.

    Without -o a book is replaced only in the folder of the lines or below, and only by lines that your own key
    signed; of others you are asked.

    \b
    Examples:
      addin replay numbers.jsonl
      addin replay numbers.jsonl -o again.xlsx
      addin replay numbers.jsonl --book reports/monday.xlsx -o again.xlsx
    """
    from addin.workbook.audit.replay import books_to_replay, replay_book
    from addin.workbook.many.names import targets_of

    tasks = books_to_replay(audit, only=book)
    targets: list[Path] | list[None]
    if output is None:
        _confirm_replacing(tasks, yes=yes)
        targets = [None] * len(tasks)
    elif len(tasks) == 1 and not output.is_dir():
        targets = [output]
    else:
        targets = targets_of([task.target for task in tasks], output)
    done = [replay_book(task, target, namespace=namespace) for task, target in zip(tasks, targets, strict=True)]
    for replayed in done:
        _print_replayed(replayed)
    if any(replayed.differences for replayed in done):
        raise typer.Exit(3)


def _confirm_replacing(tasks: Sequence[ToReplay], *, yes: bool) -> None:
    """Go on if the user's own key signed all of the lines, or if the user says yes to the others'."""
    from addin.workbook.audit.keys import fingerprint, known_public_key

    own = known_public_key()
    foreign = {fingerprint(task.block.public_key): task.target for task in tasks if task.block.public_key != own}
    if not foreign or yes:
        return
    keys = ", ".join(foreign)
    if not sys.stdin.isatty():
        raise AddinError(
            f"the lines are signed with {keys}, not with your own key: pass -o to write elsewhere, or --yes"
        )
    echo(f"The lines are signed with {keys}, not with your own key.")
    if not typer.confirm(f"Replace {', '.join(str(each) for each in foreign.values())}?"):
        echo("Nothing is written.")
        raise typer.Exit(1)


def _print_verified(verified: Verified, book: Path, problems: list[str], key: str, *, is_own: bool) -> None:
    begin = verified.block.begin
    for difference in verified.differences:
        echo(f"{difference.where}: holds {difference.found or 'nothing'}, signed was {difference.signed or 'nothing'}")
    for problem in problems:
        echo(f"the signed lines: {problem}", err=True)
    if verified.unfinished:
        echo(f"note: {verified.unfinished:,} lines at the end have no signature; they were not counted", err=True)
    whose = "your own key" if is_own else "a key that is not yours"
    at = str(begin.get("at"))[:19].replace("T", " ")
    changed = len(verified.differences)
    result = f"{changed:,} of {verified.cells:,} cells changed" if changed else f"all {verified.cells:,} cells hold"
    echo(f"{book}: {result}; signed {at} UTC with {key}, {whose}")


def _print_json(verified: Verified, book: Path, problems: list[str], key: str, *, is_own: bool) -> None:
    from addin.cli.output import print_json

    differences = [
        {"cell": printable(each.where), "signed": printable(each.signed), "found": printable(each.found)}
        for each in verified.differences
    ]
    told = {"cells": verified.cells, "changed": differences, "problems": [printable(each) for each in problems]}
    signed = {"signed_at": verified.block.begin.get("at"), "key": key, "own_key": is_own, "seal": verified.block.seal}
    print_json({"book": printable(str(book)), **told, **signed, "unfinished_lines": verified.unfinished})


def _print_replayed(replayed: Replayed) -> None:
    from addin.cli.output import counted

    echo(f"{replayed.target}: {counted(replayed.numbers, 'formula')} with the values that were signed")
    for difference in replayed.differences:
        echo(f"  left as it is: {difference.where}: {difference.found}; signed was {difference.signed}", err=True)
