"""`addin doctor`: what keeps the add-in from working here, and what to do about it."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from addin.config.settings import Settings, load_settings
from dataservice.terminal import echo

if TYPE_CHECKING:
    from addin.findings import Finding


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    report: Annotated[Path | None, typer.Option(help="Also write a report for support into this file.")] = None,
    contract: Annotated[
        bool, typer.Option("--contract", help="Find out how this service answers what the contract leaves open.")
    ] = False,
    signal: Annotated[
        str | None, typer.Option(help="With --contract: the signal to ask about, best a long daily one.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --contract: do not ask before the requests.")] = False,
) -> None:
    """Check every link from Excel to the service, and say what to do.

    The exit code is 1 when a link is broken. It asks the service for at most one request. With --contract it asks at
    most 11, and says so before: it shows where this service differs from what is documented, and keeps that for the
    client.

    \b
    Examples:
      addin doctor
      addin doctor --json
      addin doctor --report report.md
      addin doctor --contract --yes
    """
    if contract:
        from addin.cli.contract import doctor_contract

        asyncio.run(doctor_contract(yes=yes, as_json=as_json, signal=signal))
        return
    from addin.cli.autostart.status import autostart_link
    from addin.cli.findings import print_findings
    from addin.cli.output import print_json
    from addin.excel.doctor import examine
    from addin.findings import State
    from addin.tls.certificates import certificates

    settings, now = load_settings(), dt.datetime.now(dt.UTC)
    findings = asyncio.run(examine(settings, certificates(), now))
    findings += [autostart_link(settings), *_libreoffice()]
    if report is not None:
        _write(report, findings, settings, now)
    if as_json:
        print_json(findings)
    else:
        print_findings(findings)
    if any(finding.state is State.BROKEN for finding in findings):
        raise typer.Exit(1)


def _write(path: Path, findings: Sequence[Finding], settings: Settings, now: dt.datetime) -> None:
    from addin.cli import support_report
    from addin.errors import AddinError

    try:
        path.write_text(support_report.report(findings, settings, os.environ, now), encoding="utf-8")
    except OSError as error:
        raise AddinError(f"{path} cannot be written ({error.strerror}); name another file") from error
    echo(f"the report is in {path}; read it before you send it: it names addresses, but holds no key", err=True)


def _libreoffice() -> list[Finding]:
    """Return whether LibreOffice can be started from this terminal; nothing where there is none."""
    from addin.calc.soffice import find_soffice, python_in_the_way
    from addin.errors import AddinError
    from addin.findings import Finding, State

    try:
        soffice = find_soffice()
    except AddinError:
        return []
    python = python_in_the_way(soffice, os.environ.get("PATH", ""))
    if python is None:
        return [Finding("libreoffice", State.GOOD, str(soffice))]
    text = f"started from this terminal it would abort: it would use {python} instead of its own Python"
    advice = "deactivate the virtual environment, or start LibreOffice from the desktop's menu"
    return [Finding("libreoffice", State.WARNING, text, advice)]
