"""The program `addin`: its commands, and what precedes each of them.

To add a command: write `addin/cli/commands/NAME.py` with a function whose parameters are typer's (or a `typer.Typer`
with sub-commands), and add one entry to the table here. Its help is the first line of the docstring; a test compares
them.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from addin.errors import AddinError
from dataservice.terminal import CommandEntry, LazyGroup, VersionOption, new_group

COMMANDS = {
    "demo": CommandEntry("addin.cli.commands.demo:demo", "Try everything on made-up data: no account, no network."),
    "setup": CommandEntry(
        "addin.cli.commands.setup:setup",
        "Set the add-in up: the address, your key, the spreadsheet program, the start at login. "
        "Asks for what is left out.",
    ),
    "serve": CommandEntry("addin.cli.commands.serve:serve", "Answer the formulas of Excel and Calc until Ctrl-C."),
    "sheet": CommandEntry(
        "addin.cli.commands.serve:sheet",
        "Open a spreadsheet in the browser, with the functions in it and your own key, until Ctrl-C.",
    ),
    "eval": CommandEntry("addin.cli.commands.functions:evaluate_formulas", "Evaluate formulas and print their values."),
    "functions": CommandEntry("addin.cli.commands.functions:functions", "List the functions, or explain one."),
    "key": CommandEntry(
        "addin.cli.commands.key:app", "Keep the API key in the system's keychain, show where it is, or forget it."
    ),
    "cache": CommandEntry(
        "addin.cli.cache.commands:app", "Show how much is cached and archived; export, prune or clear it."
    ),
    "refresh": CommandEntry(
        "addin.cli.commands.refresh:refresh",
        "Bring a workbook's formulas up to date, with or without a spreadsheet program.",
    ),
    "cost": CommandEntry(
        "addin.cli.commands.refresh:cost",
        "Show how many requests a refresh of a workbook would spend; nothing is sent.",
    ),
    "freeze": CommandEntry(
        "addin.cli.commands.workbook:freeze",
        "Write a copy of a workbook with values in place of our formulas, for readers without the add-in.",
    ),
    "verify": CommandEntry(
        "addin.cli.books.audit:verify",
        "Say whether a workbook is the file that was signed; if not, name each cell, name and part that differs.",
    ),
    "replay": CommandEntry(
        "addin.cli.books.audit:replay", "Build refreshed workbooks again from their signed lines, without a request."
    ),
    "signer": CommandEntry(
        "addin.cli.books.signer:app",
        "Show, replace and back up the key that signs your numbers, and say whose signatures count.",
    ),
    "people": CommandEntry(
        "addin.cli.commands.people:app",
        "List the people of a shared backend, stop them, or erase what is kept of them.",
    ),
    "check-config": CommandEntry(
        "addin.cli.commands.check_config:check_config",
        "Try out what a server needs: variables, the service, store, ledger, sign-in, proxy, clock, disk, certificate.",
    ),
    "mcp": CommandEntry(
        "addin.cli.commands.mcp:mcp",
        "Serve agents over MCP: seven tools that read, one that tells costs, "
        "with the key, cache and quota of the cells.",
    ),
    "template": CommandEntry(
        "addin.cli.commands.workbook:template", "Write the workbook template, with example values from made-up data."
    ),
    "calc-extension": CommandEntry(
        "addin.cli.commands.calc_extension:calc_extension",
        "Write the extension for LibreOffice Calc: functions, a menu and a toolbar.",
    ),
    "manifest": CommandEntry("addin.cli.commands.excel:manifest", "Write the manifest that Excel loads, or check one."),
    "sideload": CommandEntry(
        "addin.cli.commands.excel:sideload",
        "Add the add-in to Excel on this machine, or show how to add it to Excel on the web.",
    ),
    "certs": CommandEntry(
        "addin.cli.commands.certs:app",
        "Make, show or remove the certificate that Excel needs to reach the backend on this machine.",
    ),
    "loadtest": CommandEntry(
        "addin.cli.commands.loadtest:loadtest",
        "Simulate many users who open workbooks and recalculate at once, and show how long they wait.",
    ),
    "autostart": CommandEntry(
        "addin.cli.commands.autostart:app",
        "Start the backend with your session, so that Excel and Calc find it every morning.",
    ),
    "doctor": CommandEntry(
        "addin.cli.commands.doctor:doctor", "Check every link from Excel to the service, and say what to do."
    ),
    "uninstall": CommandEntry(
        "addin.cli.commands.uninstall:uninstall", "Remove everything that the add-in put on this machine, after a list."
    ),
}


class _Commands(LazyGroup):
    table = COMMANDS
    reported = AddinError


app = new_group(cls=_Commands, add_completion=True)


@app.callback()
def root(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log to stderr.")] = False,
    version: VersionOption = False,  # noqa: ARG001 - acted on by its callback
) -> None:
    """Put a data service into spreadsheet cells: serve Excel and Calc, refresh workbooks, try formulas.

    \b
    Examples:
      addin demo
      addin eval '=DS.SIGNAL("us-cpi")'
      addin refresh report.xlsx
    """
    from addin.config.api_key import configure_logging

    configure_logging(verbose=verbose)


def main() -> None:
    """Run the program."""
    # httpx brings a command line of its own, which loads rich, click and pygments wherever they are installed.
    sys.modules["httpx._main"] = None  # type: ignore[assignment]  # to Python that is a module that is not there
    app(prog_name="addin")


if __name__ == "__main__":
    main()
