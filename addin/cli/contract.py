"""`addin doctor --contract`: how a service answers what the contract leaves open, found out in a few requests."""

from __future__ import annotations

import sys

import msgspec
import typer
from rich.text import Text

from addin.cli.output import plain_table, print_json, print_table
from addin.config.connect import connected
from addin.errors import AddinError
from dataservice.client.contract import Profile
from dataservice.client.probe import MOST_REQUESTS
from dataservice.errors import BudgetError, DataServiceError
from dataservice.terminal import echo, printable
from udfs.errors import reason


async def doctor_contract(*, yes: bool, as_json: bool, signal: str | None) -> bool:
    """Ask, show and keep the profile; whether all is as documented."""
    async with connected() as session:
        client = session.client
        quota = await client.look_up_quota()
        left = f" of {quota.remaining:,} that are left" if quota is not None else ""
        told = f"This asks {client.base_url} at most {MOST_REQUESTS} requests{left}."
        if not yes:
            _confirm(told)
        else:
            echo(told, err=True)
        try:
            profile = await client.probe(signal)
        except BudgetError as error:
            raise AddinError(f"nothing is asked: {error.message}") from None
        except DataServiceError as error:
            raise AddinError(reason(error, "doctor")) from None
    if as_json:
        print_json(msgspec.to_builtins(profile))
    else:
        print_profile(profile)
    return not profile.deviations


def print_profile(profile: Profile) -> None:
    """Print what is not as documented first, then the rest."""
    table = plain_table()
    for finding in (*profile.deviations, *(each for each in profile.findings if not each.differs)):
        mark, style = ("≠", "yellow") if finding.differs else ("=", "green")
        cells = (finding.question, finding.documented, finding.found, finding.does if finding.differs else "")
        table.add_row(Text(mark, style=style), *(Text(printable(cell)) for cell in cells))
    print_table(table)
    count = len(profile.deviations)
    echo(f"{profile.requests} requests; {count or 'nothing'} not as documented. The client goes by this for 30 days.")


def _confirm(told: str) -> None:
    if not sys.stdin.isatty():
        raise AddinError(f"{told} No terminal to ask on: pass --yes")
    if not typer.confirm(f"{told} Go on?"):
        echo("Nothing is asked.")
        raise typer.Exit(1)
