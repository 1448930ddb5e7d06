"""`addin uninstall`: remove what the add-in put on this machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from addin.errors import AddinError
from dataservice.terminal import echo

if TYPE_CHECKING:
    from addin.cli.uninstall.installed_item import InstalledItem, Part
    from addin.config.settings import Settings


def uninstall(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the list.")] = False,
    keep_cache: Annotated[bool, typer.Option("--keep-cache", help="Keep the cache and the archive.")] = False,
    keep_settings: Annotated[bool, typer.Option("--keep-settings", help="Keep the settings and the API key.")] = False,
    keep_data: Annotated[bool, typer.Option("--keep-data", help="Keep the database of your own service.")] = False,
) -> None:
    """Remove everything that the add-in put on this machine, after a list.

    It shows what there is and where, asks, removes it, and says what it could not remove. At the end it tells the
    command that removes the program itself. The exit code is 1 if something is left.

    \b
    Examples:
      addin uninstall --dry-run
      addin uninstall --keep-cache
      addin uninstall --yes
    """
    from addin.cli.uninstall.installed_item import Part
    from addin.cli.uninstall.installed_items import installed_items

    settings = _settings()
    kept = {
        part
        for part, wanted in ((Part.CACHE, keep_cache), (Part.SETTINGS, keep_settings), (Part.DATA, keep_data))
        if wanted
    }
    found = installed_items(settings, Path.home())
    _print(found, kept)
    wanted = [item for item in found if item.part not in kept]
    if not found:
        return
    if wanted and not dry_run and (yes or _confirmed()):
        failed = _remove(wanted)
        _print_the_rest(settings)
        if failed:
            raise typer.Exit(1)
    elif dry_run or not wanted:
        _print_the_rest(settings)


def _settings() -> Settings:
    """The settings, or where they are damaged the defaults: they are to be removed, not to be used."""
    from addin.config.settings import Settings, load_settings

    try:
        return load_settings()
    except AddinError as error:
        echo(f"Settings are ignored: {error}", err=True)
        return Settings()


def _print(found: Sequence[InstalledItem], kept: set[Part]) -> None:
    from rich.text import Text

    from addin.cli.output import plain_table, print_table
    from dataservice.terminal import printable

    if not found:
        echo("There is nothing of the add-in on this machine.")
        return
    table = plain_table()
    for item in found:
        stays = item.part in kept
        note = f"\n{item.note}" if item.note and not stays else ""
        word = Text("kept" if stays else "remove", style="green" if stays else "red")
        table.add_row(word, Text(printable(item.what + note)), Text(printable(item.where), overflow="fold"))
    print_table(table)


def _confirmed() -> bool:
    """Return whether a person says yes; without a terminal nobody can be asked."""
    if not sys.stdin.isatty():
        raise AddinError("no terminal to ask on: pass --yes")
    if typer.confirm("Remove all of this?"):
        return True
    echo("Nothing is removed.")
    raise typer.Exit(1)


def _remove(found: Sequence[InstalledItem]) -> bool:
    """Remove each of them and say so; whether something is left."""
    from addin.cli.uninstall.installed_items import tidy

    failed = False
    for item in found:
        try:
            item.remove()
        except Exception as error:  # noqa: BLE001 - keychains and LibreOffice have errors of their own; the rest goes on
            failed = True
            echo(f"Could not remove {item.what} ({item.where}): {error or type(error).__name__}", err=True)
        else:
            echo(f"Removed {item.what}.")
    tidy()
    return failed


def _print_the_rest(settings: Settings) -> None:
    """Print what a program cannot remove from here."""
    from dataservice.extras import this_environment

    if settings.is_store_shared:
        echo("Answers in Redis are shared, and stay; before this, `addin cache clear --all-keys` deletes them.")
    echo("From Excel on the web you remove the add-in by hand: Home, Add-ins, More Add-ins, My Add-ins.")
    echo(f"The program itself: {this_environment().uninstall()}")
