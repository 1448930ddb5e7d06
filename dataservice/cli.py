"""The command `dataservice`: run the embedded service, fill it, and hand out keys."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

# The server's parts take most of a second to load: each command imports them when it runs.
if TYPE_CHECKING:
    from dataservice.server import ImportSummary, KeyRecord, Store

DEFAULT_PORT = 8787

_HELP = """The Data Service on your own machine: its whole API on one database.

\b
In three steps, with made-up data:
  dataservice sample made-up
  export DATA_SERVICE_API_KEY=$(dataservice key create --tier pro)
  dataservice serve --data made-up
"""
_KEY_HELP = """Create, list and revoke API keys.

\b
Examples:
  dataservice key create --tier pro --label "Anna's workbook"
  dataservice key list
"""

_options: dict[str, Any] = {"no_args_is_help": True, "rich_markup_mode": None}
app = typer.Typer(help=_HELP, **_options)
key_app = typer.Typer(help=_KEY_HELP, **_options)
app.add_typer(key_app, name="key")

Database = Annotated[
    str,
    typer.Option(
        "--db",
        envvar="DATA_SERVICE_DB",
        metavar="FILE|URL",
        help="A SQLite file, or a PostgreSQL URL.",
        show_default="a file in your data folder",
    ),
]


@app.command()
def serve(
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Import this directory first, when the database is new.")
    ] = None,
    db: Database = "",
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for every network.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = DEFAULT_PORT,
    workers: Annotated[int, typer.Option(min=1, help="Processes that answer, sharing the database.")] = 1,
    access_log: Annotated[bool, typer.Option("--access-log", help="Print a line for each request.")] = False,
) -> None:
    """Answer the whole API until Ctrl-C.

    \b
    Examples:
      dataservice sample made-up && dataservice serve --data made-up
      dataservice serve --db team.db --host 0.0.0.0 --workers 2
      dataservice serve --db postgresql+psycopg://service@db.example.org/service
    """
    from dataservice.server.running import address_of, listen
    from dataservice.server.running import serve as answer

    with _store(db) as store:
        if data is not None:
            _import_when_new(store, data)
        try:
            listener = listen(host, port)
        except OSError as error:
            raise _failure(f"cannot listen on {host} port {port}: {error.strerror}") from error
        typer.echo(_greeting(store, address_of(listener)))
        answer(store, listener, workers=workers, access_log=access_log)
    typer.echo("Stopped.")


@app.command("import")
def import_(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="signals.csv, observations/<slug>.csv and so on.")],
    db: Database = "",
) -> None:
    """Replace the service's data by a directory's; keys and their counts stay.

    All of it or nothing: a bad row is refused with its file and line. A running service goes on answering, with the
    old data until the new are complete.

    \b
    Examples:
      dataservice import team-data
      dataservice import team-data --db team.db
    """
    with _store(db) as store:
        _import(store, directory)


@app.command()
def sample(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Made when it is not there.")],
    as_of: Annotated[
        str | None, typer.Option(metavar="DATE", help="The last day, such as 2026-08-31.", show_default="today in UTC")
    ] = None,
) -> None:
    """Write a small made-up data set to import: the same for the same day.

    \b
    Examples:
      dataservice sample made-up
      dataservice sample made-up --as-of 2026-08-31
    """
    from dataservice.server import write_sample
    from dataservice.server.timestamps import parse_date

    try:
        write_sample(directory, as_of=None if as_of is None else parse_date(as_of))
    except ValueError as error:
        raise typer.BadParameter(f"{error}, not {as_of!r}", param_hint="--as-of") from error
    except OSError as error:
        raise _failure(f"{directory} cannot be written: {error.strerror}") from error
    typer.echo(f"Made-up data are in {directory}. Serve them: dataservice serve --data {directory}")


@key_app.command("create")
def create_key(
    tier: Annotated[str, typer.Option(help="free (1,000 requests a month), pro (50,000) or enterprise.")] = "free",
    cap: Annotated[int | None, typer.Option(min=1, help="Another number of requests a month.")] = None,
    label: Annotated[str, typer.Option(help="Whom or what it is for; shown by `key list`.")] = "",
    db: Database = "",
) -> None:
    """Print a new key, and nothing else. It is shown this once: the database keeps a hash of it.

    \b
    Examples:
      dataservice key create
      dataservice key create --tier pro --label "Anna's workbook"
      export DATA_SERVICE_API_KEY=$(dataservice key create --tier pro)
    """
    from dataservice.server import Tier

    if tier not in set(Tier):
        raise typer.BadParameter(f"must be free, pro or enterprise, not {tier!r}", param_hint="--tier")
    with _store(db) as store:
        typer.echo(store.create_key(tier, cap=cap, label=label))


@key_app.command("list")
def list_keys(db: Database = "") -> None:
    """List the keys by their ids, with tier, requests of this month and cap. Keys themselves are never shown.

    \b
    Example:
      dataservice key list --db team.db
    """
    with _store(db) as store:
        records = store.keys.records()
    if not records:
        typer.echo("There is no key yet. Create one: dataservice key create")
        return
    rows = [("ID", "TIER", "USED", "CAP", "CREATED", "STATE", "LABEL"), *map(_row, records)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@key_app.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="An id as `key list` shows it, or its beginning.")],
    db: Database = "",
) -> None:
    """Let a key open nothing from now on.

    \b
    Example:
      dataservice key revoke 3f0c9a61
    """
    with _store(db) as store:
        found = [record for record in store.keys.records() if key_id and record.id.startswith(key_id)]
        if len(found) != 1:
            raise _failure(f"{len(found) or 'no'} keys have an id that begins with {key_id!r}: dataservice key list")
        store.keys.revoke(found[0])
    typer.echo(f"Key {found[0].id} opens nothing any more.")


@contextmanager
def _store(db: str) -> "Iterator[Store]":
    """The store of `--db`; what goes wrong with it ends the command with a sentence and exit code 1."""
    from sqlalchemy.exc import DBAPIError

    from dataservice.server import ServiceError, Store

    try:
        with Store(db or _default_database()) as store:
            yield store
    except DBAPIError as error:
        raise _failure(f"the database failed: {error.orig}") from error
    except ServiceError as error:
        raise _failure(str(error)) from error


def _default_database() -> Path:
    import platformdirs

    return platformdirs.user_data_path("dataservice", appauthor=False) / "dataservice.db"


def _failure(problem: str) -> typer.Exit:
    typer.echo(f"dataservice: {problem}", err=True)
    return typer.Exit(1)


def _import_when_new(store: "Store", directory: Path) -> None:
    if store.is_empty():
        _import(store, directory)
    else:
        typer.echo(f"{store.database} has data already; to replace them: dataservice import {directory}", err=True)


def _import(store: "Store", directory: Path) -> None:
    from rich.console import Console
    from rich.progress import Progress

    from dataservice.server import import_directory

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        steps = {"reading": progress.add_task("Reading"), "writing": progress.add_task("Writing", start=False)}

        def show(step: str, done: int, total: int) -> None:
            progress.start_task(steps[step])
            progress.update(steps[step], completed=done, total=total)

        summary = import_directory(store, directory, on_progress=show)
    typer.echo(_told(summary), err=True)


def _told(summary: "ImportSummary") -> str:
    counts = {
        "signals": summary.signals,
        "observations": summary.observations,
        "indices": summary.indices,
        "currents": summary.currents,
        "posts": summary.posts,
        "wire items": summary.wire_items,
    }
    told = "Imported " + ", ".join(f"{count:,} {name}" for name, count in counts.items()) + "."
    if summary.ignored:
        told += f"\nLeft out, not part of the layout: {', '.join(summary.ignored)}."
    return told


def _greeting(store: "Store", url: str) -> str:
    lines = [f"Data Service at {url}, on {store.database}"]
    if store.is_empty():
        lines.append("There are no data yet: dataservice import DIR, or dataservice sample DIR for made-up ones.")
    if not store.keys.records():
        lines.append(f"Callers need a key: dataservice key create --tier pro --db {store.database}")
    return "\n".join([*lines, "Ctrl-C ends it."])


def _row(record: "KeyRecord") -> tuple[str, ...]:
    state = "active" if record.revoked_at is None else f"revoked {record.revoked_at:%Y-%m-%d}"
    used, cap, created = f"{record.used:,}", f"{record.cap:,}", f"{record.created_at:%Y-%m-%d}"
    return record.id, record.tier.value, used, cap, created, state, record.label


def main() -> None:
    """Run the command line."""
    app(prog_name="dataservice")


if __name__ == "__main__":
    main()
