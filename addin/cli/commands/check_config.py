"""`addin check-config`: whether a server has what it needs, before users come."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Annotated

import typer


def check_config(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Try out what a server needs: variables, the service, store, ledger, sign-in, proxy, clock, disk, certificate.

    The exit code is 1 when something is broken. It costs no request of the month. `addin serve` does the same when it
    starts, and tells what is wrong.

    \b
    Examples:
      addin check-config
      addin check-config --json
    """
    from addin.backend.operation.server_check import examine_server
    from addin.cli.findings import print_findings
    from addin.cli.output import print_json
    from addin.config.settings import load_settings
    from addin.findings import State

    findings = asyncio.run(examine_server(load_settings(), os.environ, now=time.time()))
    if as_json:
        print_json(findings)
    else:
        print_findings(findings)
    if any(finding.state is State.BROKEN for finding in findings):
        raise typer.Exit(1)
