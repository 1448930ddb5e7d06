"""`addin certs`: https on this machine."""

from __future__ import annotations

import datetime as dt
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from addin.errors import AddinError
from dataservice.terminal import echo, new_group

if TYPE_CHECKING:
    from addin.tls.trust import Step

app = new_group(
    """Make, show or remove the certificate that Excel needs to reach the backend on this machine.

\b
Examples:
  addin certs install
  addin certs show
"""
)


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
    from addin.tls.certificates import certificates
    from addin.tls.trust import NSS_DATABASE, platform, trust_steps

    own = certificates()
    own.ensure(dt.datetime.now(dt.UTC))
    echo(f"Certificates for localhost are in {own.folder}, good until {_day(own.ends())}.")
    system = platform()
    steps = trust_steps(system, own.authority, home=Path.home())
    _print(steps)
    if trust or _confirmed("Tell the system to trust it now?"):
        if system == "linux":
            (Path.home() / NSS_DATABASE).mkdir(parents=True, exist_ok=True)
        _run(steps)
        echo("The system trusts it. Restart Excel and the browser.")
    else:
        echo("Run these commands, or: addin certs install --trust. Then restart Excel and the browser.")


@app.command()
def show() -> None:
    """Show where the certificate is, how long it is valid, and what the system calls its authority.

    \b
    Example:
      addin certs show
    """
    from addin.tls.certificates import AUTHORITY_NAME, certificates

    own = certificates()
    if own.ends() is None:
        echo("There is no certificate. Make one with: addin certs install")
        raise typer.Exit(1)
    echo(f"folder       {own.folder}")
    echo(f"good until   {_day(own.ends())} (`addin serve` renews it in time)")
    echo(f"authority    {AUTHORITY_NAME}")
    echo(f"fingerprint  {own.fingerprint()}")


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
    from addin.tls.certificates import certificates
    from addin.tls.trust import platform, untrust, untrust_steps

    own = certificates()
    known = own.remembered()
    for fingerprint in known:
        _print(untrust_steps(platform(), fingerprint, home=Path.home()))
    if known and (trust or _confirmed("Tell the system to forget it now?")):
        if (wrong := untrust(own, home=Path.home())) is not None:
            raise AddinError(f"the system was not told: {wrong}; run the commands above yourself")
    elif known:
        own.remember()
        echo("The system may still trust it; it is remembered until: addin certs remove --trust")
    echo(f"Deleted from {own.folder}." if own.remove() else "There was no certificate.")


def _print(steps: Sequence[Step]) -> None:
    for step in steps:
        echo(f"\n  {shlex.join(step.command)}\n      {step.purpose}")
    echo("")


def _confirmed(question: str) -> bool:
    """Return whether a person says yes; without a terminal nobody is asked."""
    return sys.stdin.isatty() and typer.confirm(question)


def _run(steps: Sequence[Step]) -> None:
    from addin.tls.trust import run

    wrong = run(steps)
    if wrong is not None:
        raise AddinError(f"the system was not told: {wrong}; run the commands above yourself")


def _day(moment: dt.datetime | None) -> str:
    return "never" if moment is None else f"{moment:%Y-%m-%d}"
