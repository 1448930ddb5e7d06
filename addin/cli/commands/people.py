"""`addin people`: who signs in at a shared backend, and stopping or erasing them without the pane."""

from __future__ import annotations

import asyncio
import getpass
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from addin.errors import AddinError
from dataservice.terminal import echo, new_group

if TYPE_CHECKING:
    from addin.backend.sign_in.people import People, Usage

T = TypeVar("T")

app = new_group()

WhoArgument = Annotated[str, typer.Argument(metavar="PERSON", help="The short name that `addin people list` shows.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@app.callback()
def people() -> None:
    """List the people of a shared backend, stop them, or erase what is kept of them.

    Run it on the server, with the backend's settings and secrets. Running backends notice at once.

    \b
    Examples:
      addin people list
      addin people stop 3f2a9c
      addin people erase 3f2a9c --yes
    """


@app.command("list")
def list_people(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show who signed in, with which role, what they have spent this month, and whether they stored a key.

    \b
    Examples:
      addin people list
      addin people list --json
    """
    rows = _with_people(lambda kept: kept.usage())
    if as_json:
        import msgspec

        echo(msgspec.json.encode(rows).decode())
        return
    for row in rows:
        seen = datetime.fromtimestamp(row.seen_at, UTC)
        key = "a key" if row.has_key else "no key"
        ended = f"  sessions last ended by {row.ended_by}" if row.ended_by else ""
        told = f"{row.role}  {row.requests:,} requests  {key}  last seen {seen:%Y-%m-%d %H:%M} UTC{ended}"
        echo(f"{row.id}  {row.name}  {told}")
    if not rows:
        echo("Nobody has signed in.")


@app.command()
def stop(person: WhoArgument, yes: YesOption = False) -> None:
    """End a person's sessions on all machines, and forget their key; at the provider, see that they cannot come back.

    \b
    Example:
      addin people stop 3f2a9c
    """

    async def work(kept: People) -> Usage:
        row = await _found(kept, person)
        _confirm(f"Stop {row.name}?", yes=yes)
        await kept.end_sessions(row.id, by=_actor(), forget_key=True)
        return row

    echo(f"Stopped {_with_people(work).name}: their sessions are over, their key is forgotten.")


@app.command()
def erase(person: WhoArgument, yes: YesOption = False) -> None:
    """Forget all that is kept of a person: name, key and usage; only that their sessions have ended stays.

    \b
    Example:
      addin people erase 3f2a9c --yes
    """

    async def work(kept: People) -> Usage:
        row = await _found(kept, person)
        _confirm(f"Erase {row.name}?", yes=yes)
        await kept.erase(row.id, by=_actor())
        return row

    echo(f"Erased {_with_people(work).name}.")


async def _found(kept: People, person: str) -> Usage:
    rows = [row for row in await kept.usage() if row.id.startswith(person)]
    if len(rows) != 1:
        raise AddinError(f"{len(rows) or 'no'} short names begin with {person}; see: addin people list")
    return rows[0]


def _confirm(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise AddinError("no terminal to ask on: pass --yes")
    if not typer.confirm(question):
        echo("Nothing is done.")
        raise typer.Exit(1)


def _actor() -> str:
    """Return who gives the command, for the record: their account on this machine."""
    with suppress(OSError, KeyError):
        return f"{getpass.getuser()}@{socket.gethostname()}"
    return f"somebody@{socket.gethostname()}"


def _with_people(work: Callable[[People], Awaitable[T]]) -> T:
    """Return what `work` gives with the ledger of the settings; raises `AddinError` where it cannot be used."""
    from addin.backend.sign_in.people import People
    from addin.config.connect import open_ledger
    from addin.config.secrets import session_secrets
    from addin.config.settings import load_settings
    from dataservice.ledger import LedgerAwayError

    settings = load_settings()
    if settings.oidc_issuer is None:
        raise AddinError("nobody signs in at this backend: oidc_issuer is not set")

    async def run() -> T:
        kept = People(open_ledger(settings), *session_secrets())
        try:
            return await work(kept)
        finally:
            await kept.aclose()

    try:
        return asyncio.run(run())
    except (LedgerAwayError, ValueError) as error:
        raise AddinError(f"nothing was done: {error}") from None
