"""The table of commands: a name, the place of its code, and one line of help, so that listing them imports nothing.

To add a command: write `addin/commands/NAME.py` with a function whose parameters are typer's (or a `typer.Typer` with
sub-commands), and add one line here. The help is the first line of its docstring; a test compares them.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import typer

__all__ = ["COMMANDS", "Entry", "command_of", "new_app"]


class Entry(NamedTuple):
    """Where a command's code is (`module:function` or `module:typer_app`), and its line in `addin --help`."""

    target: str
    help: str


COMMANDS: dict[str, Entry] = {
    "functions": Entry("addin.commands.functions:functions", "List the functions, or explain one."),
}
"""Every command in the order of the help."""


def new_app(help_text: str) -> typer.Typer:
    """An empty group of sub-commands in the style of all of ours."""
    # Plain help: the formatted one takes three times as long to start.
    return typer.Typer(
        help=help_text,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


def command_of(name: str) -> typer.core.TyperCommand | typer.core.TyperGroup:
    """The command `name` of the table, imported now; raises `KeyError` where there is none."""
    module, _, attribute = COMMANDS[name].target.partition(":")
    target = getattr(import_module(module), attribute)
    if not isinstance(target, typer.Typer):
        function, target = target, new_app("")
        target.command(name)(function)
    command: typer.core.TyperCommand | typer.core.TyperGroup = typer.main.get_command(target)  # type: ignore[assignment]
    command.name = name
    return command
