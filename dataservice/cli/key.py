"""`dataservice key`: create, list and revoke API keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dataservice.cli.data import DatabaseOption, open_store
from dataservice.key_text import without_keys
from dataservice.terminal.command_group import CommandError, new_group
from dataservice.terminal.printing import echo

if TYPE_CHECKING:
    from dataservice.server import KeyRecord

app = new_group(
    """Create, list and revoke API keys.

\b
Examples:
  dataservice key create --tier pro --label "Anna's workbook"
  dataservice key list
"""
)


@app.command("create")
def create_key(
    tier: Annotated[str, typer.Option(help="free (1,000 requests a month), pro (50,000) or enterprise.")] = "free",
    cap: Annotated[int | None, typer.Option(min=1, help="Another number of requests a month.")] = None,
    label: Annotated[str, typer.Option(help="Who or what it is for; shown by `key list`.")] = "",
    db: DatabaseOption = "",
) -> None:
    """Print a new key, and nothing else. It is shown only once: the database stores a hash of it.

    \b
    Examples:
      dataservice key create
      dataservice key create --tier pro --label "Anna's workbook"
      export DATA_SERVICE_API_KEY=$(dataservice key create --tier pro)
    """
    from dataservice.server import Tier

    if tier not in set(Tier):
        raise typer.BadParameter(f"must be free, pro or enterprise, not {tier!r}", param_hint="--tier")
    if without_keys(label) != label:
        raise typer.BadParameter(
            "holds a key: the database keeps none, and `key list` shows labels", param_hint="--label"
        )
    with open_store(db) as store:
        echo(store.create_key(tier, cap=cap, label=label))


@app.command("list")
def list_keys(db: DatabaseOption = "") -> None:
    """List the keys by their ids, with tier, requests of this month and cap. Keys themselves are never shown.

    \b
    Example:
      dataservice key list --db team.db
    """
    with open_store(db) as store:
        records = store.keys.records()
    if not records:
        echo("There is no key yet. Create one: dataservice key create")
        return
    rows = [("ID", "TIER", "USED", "CAP", "CREATED", "STATE", "LABEL"), *map(_row, records)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@app.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="An id as `key list` shows it, or its beginning.")],
    db: DatabaseOption = "",
) -> None:
    """Revoke a key: the service refuses it from now on.

    \b
    Example:
      dataservice key revoke 3f0c9a61
    """
    with open_store(db) as store:
        found = [record for record in store.keys.records() if key_id and record.id.startswith(key_id)]
        if len(found) != 1:
            count = len(found) or "no"
            raise CommandError(f"{count} keys have an id that begins with {key_id!r}: dataservice key list")
        store.keys.revoke(found[0])
    echo(f"Key {found[0].id} is revoked.")


def _row(record: KeyRecord) -> tuple[str, ...]:
    state = "active" if record.revoked_at is None else f"revoked {record.revoked_at:%Y-%m-%d}"
    used, cap, created = f"{record.used:,}", f"{record.cap:,}", f"{record.created_at:%Y-%m-%d}"
    return record.id, record.tier.value, used, cap, created, state, record.label
