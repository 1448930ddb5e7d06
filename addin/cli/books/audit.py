"""`addin verify` and `addin replay`: check a book against what was signed, and build it again from that."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dataservice.terminal import echo

if TYPE_CHECKING:
    from addin.workbook.audit.replay import Replayed, ToReplay

CHANGED, UNTRUSTED = 3, 4
"""The exit codes where something is not as it was signed, and where it is, but by a key that is not trusted."""

NamespaceOption = Annotated[str, typer.Option(help="The functions' namespace in the workbook.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def verify(
    book: Annotated[Path, typer.Argument(help="An .xlsx or .xlsm workbook that was signed.")],
    audit: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="The signed lines; without it, those inside the book.")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="FINGERPRINT", help="Accept this key, too, of which somebody told you the fingerprint."),
    ] = None,
    named: Annotated[
        str | None, typer.Option("--book", help="What the lines call the book, if that is not its name.")
    ] = None,
    namespace: NamespaceOption = "DS",
    evidence: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Work every number out again from what the service answered, without the service."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether a workbook is the file that was signed; if not, name each cell, name and part that differs.

    The exit code is 0 if the book holds what was signed with a key that you trust, 3 if anything differs or the lines
    are not as they were signed, 4 if all holds but the key is not one that you trust, 1 if that cannot be told. Nothing
    is sent and nothing is written.

    \b
    Examples:
      addin verify for-the-board.xlsx
      addin verify report.xlsx --audit numbers.jsonl
      addin verify again.xlsx --audit numbers.jsonl --book report.xlsx
      addin verify report.xlsx --evidence answers
      addin verify report.xlsx --key 21fe-31df-a154-a261-626b-f854-046f-d227
    """
    from addin.cli.books.verified import print_json_verified, print_verified
    from addin.config.settings import load_settings
    from addin.workbook.audit.evidence.recompute import recompute
    from addin.workbook.audit.verify import verify_book

    authorities = load_settings().stamp_ca_file
    verified = verify_book(book, audit, named=named, namespace=namespace, key=key, authorities=authorities)
    again = None
    if evidence is not None:
        again = asyncio.run(recompute(book, verified.block, evidence, namespace=namespace))
    (print_json_verified if as_json else print_verified)(verified, book, again)
    if not verified.holds or (again is not None and (again.differences or again.problems)):
        raise typer.Exit(CHANGED)
    if not verified.trust.is_accepted:
        raise typer.Exit(UNTRUSTED)


def replay(
    audit: Annotated[Path, typer.Argument(metavar="AUDIT.jsonl", help="The signed lines.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A file for one book, a folder for several; else the books themselves."),
    ] = None,
    book: Annotated[str | None, typer.Option(help="Only the book that the lines call so.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Replay lines of keys that you do not trust, too.")] = False,
    namespace: NamespaceOption = "DS",
) -> None:
    """Build refreshed workbooks again from their signed lines, without a request.

    The formulas come from the book as it is now, the values from the lines. The exit code is 0 if every value is in
    its cell again, 3 if a formula is another one now, 1 if nothing could be done. Frozen copies are not built again:
    replay the book that the copy was made of, and freeze it.

    Without -o a book is replaced only in the folder of the lines or below. Lines of a key that you do not trust are
    not replayed (exit code 4), unless you say yes.

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
    _refuse_untrusted(tasks, replaces=output is None, yes=yes)
    if output is None:
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


def _refuse_untrusted(tasks: Sequence[ToReplay], *, replaces: bool, yes: bool) -> None:
    """Go on if keys that the user trusts signed all of the lines, or if the user says yes to the others'."""
    from addin.workbook.audit.keys import fingerprint
    from addin.workbook.audit.trusted import trust_of

    foreign = {
        fingerprint(task.block.public_key): task.target
        for task in tasks
        if not trust_of(task.block.public_key, str(task.block.begin.get("at"))).is_accepted
    }
    if not foreign or yes:
        return
    keys = ", ".join(foreign)
    told = f"The lines are signed with {keys}, which is not a key that you trust."
    if not replaces or not sys.stdin.isatty():
        echo(f"{told} Nothing is written: trust the key first (addin signer trust), or pass --yes", err=True)
        raise typer.Exit(UNTRUSTED)
    echo(told)
    if not typer.confirm(f"Replace {', '.join(str(each) for each in foreign.values())}?"):
        echo("Nothing is written.")
        raise typer.Exit(1)


def _print_replayed(replayed: Replayed) -> None:
    from addin.cli.output import counted

    echo(f"{replayed.target}: {counted(replayed.numbers, 'formula')} with the values that were signed")
    for difference in replayed.differences:
        echo(f"  left as it is: {difference.where}: {difference.found}; signed was {difference.signed}", err=True)
