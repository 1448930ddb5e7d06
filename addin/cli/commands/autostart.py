"""`addin autostart`: the backend that starts with the user's session."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from addin.autostart.form import Form
from addin.config.settings import PREFIX, load_settings
from dataservice.terminal import echo, new_group

if TYPE_CHECKING:
    from addin.autostart.entries import Entry

app = new_group(
    """Start the backend with your session, so that Excel and Calc find it every morning.

\b
Examples:
  addin autostart install
  addin autostart status
  addin autostart remove
"""
)


def _form(text: str | Form) -> Form:
    try:
        return Form.named(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


FormOption = Annotated[
    Form | None,
    typer.Option(
        "--for", parser=_form, metavar="SYSTEM", help="With --print: for windows, macos, linux (systemd) or xdg."
    ),
]

SHORT_S = 10.0
"""In this time a backend that was just started answers, or its log says why not."""


@app.command()
def install(
    http: Annotated[bool, typer.Option("--http", help="Plain HTTP, enough for Calc; Excel needs HTTPS.")] = False,
    show: Annotated[bool, typer.Option("--print", help="Only print what would be written and run.")] = False,
    form: FormOption = None,
) -> None:
    """Start the backend now and at every login, with the settings of this terminal.

    It needs no administrator. Windows gets a line in your Run key, macOS a launch agent, Linux a systemd user unit or
    an autostart entry. The backend restarts by itself after an update, and renews its certificate.

    \b
    Examples:
      addin autostart install
      addin autostart install --http
      addin autostart install --print
      addin autostart install --print --for windows
    """
    from addin.autostart import machine
    from addin.autostart.record import Record, kept_variables, record_file, write_record
    from addin.errors import AddinError

    if form is not None and not show:
        raise AddinError("--for shows what another system would get, so it needs --print")
    if not show:
        load_settings().base_url  # noqa: B018 - reports now that no address is set
    form = form or machine.form_here()
    command = machine.command_here(form, record_file())
    made = machine.entry_here(form, command)
    record = Record(str(form), command, kept_variables(os.environ), http)
    if show:
        _print(made)
        echo(f"\n{record_file()} keeps: {', '.join(record.environ) or 'nothing'}")
        return
    machine.put(made)
    write_record(record_file(), record)
    _say_what_is_there(made, record.environ)
    failed = machine.start_now(made, command, {**os.environ, f"{PREFIX}API_KEY": ""})
    if failed is not None:
        raise AddinError(f"it starts at the next login, but could not be started now: {failed}")
    _say_whether_it_answers()


@app.command()
def remove() -> None:
    """End the backend and start it no more at login; settings, key and cache stay.

    \b
    Example:
      addin autostart remove
    """
    from addin.cli.autostart.removal import remove_autostart

    removed = remove_autostart()
    if removed is None:
        echo("It was not set up.")
    else:
        echo(f"Removed: {removed}. The backend ends within seconds.")


@app.command()
def status(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show whether the backend starts at login, whether it answers now, its certificate and its log.

    The exit code is 1 when it is not set up, or set up and broken.

    \b
    Examples:
      addin autostart status
      addin autostart status --json
    """
    from addin.cli.autostart.status import print_status

    if not print_status(as_json=as_json):
        raise typer.Exit(1)


@app.command(hidden=True)
def run(
    record: Annotated[Path | None, typer.Argument(help="The file that `addin autostart install` wrote.")] = None,
) -> None:
    """Run the backend as it starts at login: with the settings kept by install, and a log in place of a terminal.

    \b
    Example:
      addin autostart run
    """
    from addin.autostart.record import record_file
    from addin.cli.autostart.background import run_backend

    run_backend(record or record_file())


def _print(made: Entry) -> None:
    """Print what install would write and run."""
    echo(f"{made.place}\n")
    echo(made.text)
    for step in made.start:
        echo(f"{shlex.join(step.command)}    # {step.purpose}")


def _say_what_is_there(made: Entry, environ: Mapping[str, str]) -> None:
    from addin.cli.autostart.status import has_key_at_login

    echo(f"The backend starts at login: {made.place}")
    if environ:
        echo(f"It keeps from this terminal: {', '.join(environ)}")
    if not has_key_at_login(load_settings()):
        echo("At login it finds no API key; keep one with: addin key set", err=True)


def _say_whether_it_answers() -> None:
    from addin.cli.autostart.status import wait_for_backend

    answer = wait_for_backend(SHORT_S)
    echo(f"It answers at {answer}." if answer else "It does not answer yet; see: addin autostart status")
