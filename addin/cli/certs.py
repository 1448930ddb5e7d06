"""`addin certs`: https on this machine."""

from __future__ import annotations

import datetime as dt
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from addin.errors import AddinError
from addin.tls.certificates import AUTHORITY_NAME, certificates
from addin.tls.trust import NSS_DATABASE, Step, platform, run, trust_steps, untrust_steps
from dataservice.cli.command_group import new_group

app = new_group("Make, show or remove the certificate that Excel needs to reach the backend on this machine.")


@app.command()
def install(
    trust: Annotated[bool, typer.Option("--trust", help="Also tell the system to trust it, without asking.")] = False,
) -> None:
    """Make the certificate, and show how to make the system trust it.

    \b
    Examples:
      addin certs install
      addin certs install --trust
    """
    own = certificates()
    own.ensure(dt.datetime.now(dt.UTC))
    typer.echo(f"Certificates for localhost are in {own.folder}, good until {_day(own.ends())}.")
    system = platform()
    steps = trust_steps(system, own.authority, home=Path.home())
    _print(steps)
    if trust or _confirmed("Tell the system to trust it now?"):
        if system == "linux":
            (Path.home() / NSS_DATABASE).mkdir(parents=True, exist_ok=True)
        _run(steps)
        typer.echo("The system trusts it. Restart Excel and the browser.")
    else:
        typer.echo("Run these commands, or: addin certs install --trust. Then restart Excel and the browser.")


@app.command()
def show() -> None:
    """Show where the certificate is, how long it is valid, and what the system calls its authority."""
    own = certificates()
    if own.ends() is None:
        typer.echo("There is no certificate. Make one with: addin certs install")
        raise typer.Exit(1)
    typer.echo(f"folder       {own.folder}")
    typer.echo(f"good until   {_day(own.ends())} (`addin serve` renews it in time)")
    typer.echo(f"authority    {AUTHORITY_NAME}")
    typer.echo(f"fingerprint  {own.fingerprint()}")


@app.command()
def remove(
    trust: Annotated[bool, typer.Option("--trust", help="Also tell the system to forget it, without asking.")] = False,
) -> None:
    """Delete the certificate and its authority, and show how to make the system forget it.

    \b
    Examples:
      addin certs remove
      addin certs remove --trust
    """
    own = certificates()
    fingerprint = own.fingerprint()
    if fingerprint is not None:
        steps = untrust_steps(platform(), fingerprint, home=Path.home())
        _print(steps)
        if trust or _confirmed("Tell the system to forget it now?"):
            _run(steps)
    typer.echo(f"Deleted from {own.folder}." if own.remove() else "There was no certificate.")


def _print(steps: Sequence[Step]) -> None:
    for step in steps:
        typer.echo(f"\n  {shlex.join(step.command)}\n      {step.purpose}")
    typer.echo("")


def _confirmed(question: str) -> bool:
    """Whether a person says yes; without a terminal nobody is asked."""
    return sys.stdin.isatty() and typer.confirm(question)


def _run(steps: Sequence[Step]) -> None:
    wrong = run(steps)
    if wrong is not None:
        raise AddinError(f"the system was not told: {wrong}; run the commands above yourself")


def _day(moment: dt.datetime | None) -> str:
    return "never" if moment is None else f"{moment:%Y-%m-%d}"
