"""The table of commands: a name, the place of its code, and one line of help, so that listing them imports nothing.

To add a command: write `addin/cli/commands/NAME.py` with a function whose parameters are typer's (or a `typer.Typer`
with sub-commands), and add one line here. The help is the first line of its docstring; a test compares them.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import typer


class Entry(NamedTuple):
    """Where a command's code is (`module:function` or `module:typer_app`), and its line in `addin --help`."""

    target: str
    help: str


COMMANDS: dict[str, Entry] = {
    "demo": Entry("addin.cli.commands.demo:demo", "Try everything on made-up data: no account, no network."),
    "serve": Entry("addin.cli.commands.serve:serve", "Answer the formulas of Excel and Calc until Ctrl-C."),
    "eval": Entry("addin.cli.commands.evaluate:evaluate_formulas", "Work out formulas and print their values."),
    "functions": Entry("addin.cli.commands.functions:functions", "List the functions, or explain one."),
    "key": Entry(
        "addin.cli.commands.key:app", "Keep the API key in the system's keychain, show where it is, or forget it."
    ),
    "refresh": Entry(
        "addin.cli.commands.refresh:refresh",
        "Bring a workbook's formulas up to date, with or without a spreadsheet program.",
    ),
    "cost": Entry(
        "addin.cli.commands.cost:cost", "Tell how many requests a refresh of a workbook would spend; nothing is sent."
    ),
    "freeze": Entry(
        "addin.cli.commands.freeze:freeze",
        "Write a copy of a workbook with values in place of our formulas, for readers without the add-in.",
    ),
    "mcp": Entry(
        "addin.cli.commands.mcp:mcp",
        "Serve agents over MCP: seven read tools, with the same key, cache and allowance as the cells.",
    ),
    "template": Entry(
        "addin.cli.commands.template:template", "Write the workbook template, with example values from made-up data."
    ),
    "calc-extension": Entry(
        "addin.cli.commands.calc_extension:calc_extension",
        "Write the extension for LibreOffice Calc: functions, a menu and a toolbar.",
    ),
    "manifest": Entry("addin.cli.commands.manifest:manifest", "Write the manifest that Excel loads, or check one."),
    "sideload": Entry(
        "addin.cli.commands.sideload:sideload",
        "Give the add-in to Excel on this machine, or tell how to give it to Excel on the web.",
    ),
    "certs": Entry(
        "addin.cli.commands.certs:app",
        "Make, show or remove the certificate that Excel needs to reach the backend on this machine.",
    ),
    "doctor": Entry(
        "addin.cli.commands.doctor:doctor", "Look at every link from Excel to the service, and say what to do."
    ),
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
