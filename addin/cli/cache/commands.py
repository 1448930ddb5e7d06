"""`addin cache`: show, export, prune and clear what is cached and archived."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from addin.errors import AddinError
from dataservice.terminal import echo, new_group

app = new_group()

AllKeysOption = Annotated[bool, typer.Option("--all-keys", help="Of every key, not only of the one in use.")]


@app.callback(invoke_without_command=True, no_args_is_help=False)
def show(context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show how much is cached and archived; export, prune or clear it.

    The cache holds answers and histories, which the service can give again. The archive holds what was known when,
    which nobody can give again. Nothing here sends a request.

    \b
    Examples:
      addin cache
      addin cache export revisions.csv
      addin cache prune --before 2025-01-01
      addin cache clear
    """
    if context.invoked_subcommand is None:
        from addin.cli.cache.contents import show_contents

        asyncio.run(show_contents(as_json=as_json))


@app.command()
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write: .csv or .jsonl.")],
    slugs: Annotated[
        list[str] | None, typer.Argument(metavar="[SLUG]...", help="Only these signals.", show_default="all")
    ] = None,
) -> None:
    """Write the archive of the key in use to a file: what each look showed for the first time.

    Columns: slug, observed_at, value_before, value, vanished, first_seen, not_before; times in UTC. `not_before` is
    empty for what the first look showed, `value` for an observation that vanished.

    \b
    Examples:
      addin cache export revisions.csv
      addin cache export revisions.jsonl us-cpi us-unemployment
    """
    from addin.cli.cache.contents import export_archive

    asyncio.run(export_archive(file, slugs or []))


@app.command()
def prune(
    before: Annotated[str, typer.Option(metavar="DATE", help="A day such as 2025-01-01, or -2Y.")],
) -> None:
    """Forget what was known before a day, in the archive of the key in use; the state on that day stays.

    \b
    Examples:
      addin cache prune --before 2025-01-01
      addin cache prune --before -5Y
    """
    from addin.cli.cache.contents import prune_archive

    asyncio.run(prune_archive(before))


@app.command()
def clear(
    signals: Annotated[
        list[str] | None, typer.Argument(metavar="[SLUG]...", help="Only these signals.", show_default="all")
    ] = None,
    archive: Annotated[bool, typer.Option("--archive", help="Delete the archive too.")] = False,
    all_keys: AllKeysOption = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete the cached answers and histories of the key in use, and with --archive also the archive.

    With slugs, only those of these signals, and never the archive. What is shown next costs requests again, also from
    shared backends that run: their workers, on every machine that shares the Redis, hear of it at their next batch.
    What people need to sign in, their keys and who was stopped are kept elsewhere, and stay.

    \b
    Examples:
      addin cache clear
      addin cache clear us-cpi cboe.vix --all-keys
      addin cache clear --archive --yes
    """
    from addin.cli.cache.contents import clear_contents, clear_signals

    if signals and archive:
        raise AddinError("the archive is cleared as a whole: --archive goes without signals")
    if not yes:
        _confirm(_what(signals or [], archive=archive), all_keys=all_keys)
    if signals:
        asyncio.run(clear_signals(signals, all_keys=all_keys))
    else:
        asyncio.run(clear_contents(archive=archive, all_keys=all_keys))


@app.command()
def seal() -> None:
    """Take over what an earlier version kept in Redis for the key in use: encrypt it, and delete the readable copy.

    Only do this with a Redis that nobody else could write to: what is there is believed.

    \b
    Example:
      addin cache seal
    """
    from addin.cli.cache.contents import seal_contents

    asyncio.run(seal_contents())


def _what(signals: Sequence[str], *, archive: bool) -> str:
    if signals:
        return f"what is cached of {', '.join(signals)}"
    return "the cache and the archive, which nobody can give again" if archive else "the cache"


def _confirm(what: str, *, all_keys: bool) -> None:
    """Go on only if a person says yes; without a terminal nobody can be asked."""
    if not sys.stdin.isatty():
        raise AddinError("no terminal to ask on: pass --yes")
    if not typer.confirm(f"Delete {what}, of {'every key' if all_keys else 'the key in use'}?"):
        echo("Nothing is deleted.")
        raise typer.Exit(1)
